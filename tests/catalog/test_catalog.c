/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing and reading: every field, the same bytes, the views that people rely on, parts, and a
 * catalog of full size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "catalog/catalog_read.h"
#include "catalog/catalog_write.h"
#include "tests/catalog/catalog_image.h"
#include "tests/catalog/sample_program.h"

#define ALL (TF_CATALOG_STARTUP | TF_CATALOG_SAMPLES)

static void must_read(const struct tf_bytes *image, unsigned parts, struct tf_program *out)
{
	struct tf_error err = {0};

	if (tf_catalog_read(image->data, image->size, parts, out, &err) != TF_OK)
		fail_msg("%s", err.text);
}

static void must_write(const struct tf_program *program, struct tf_bytes *out)
{
	struct tf_error err = {0};

	memset(out, 0, sizeof(*out));
	if (tf_catalog_write(program, out, &err) != TF_OK)
		fail_msg("%s", err.text);
}

static void assert_same(const struct tf_program *a, const struct tf_program *b)
{
	const char *field = sample_program_difference(a, b);

	if (field)
		fail_msg("programs differ in %s", field);
}

static void assert_answer(const struct tf_bytes *image, const char *sql, const char *expected)
{
	struct tf_bytes answer;

	catalog_image_ask(image, sql, &answer);
	assert_string_equal((const char *)answer.data, expected);
	tf_bytes_fini(&answer);
}

static void every_field_survives(void **state)
{
	struct tf_program program, read = {0};
	struct tf_bytes image;

	(void)state;
	sample_program_make(&program);
	must_write(&program, &image);
	must_read(&image, ALL, &read);
	assert_same(&program, &read);
	print_message("small catalog: %zu bytes\n", image.size);
	tf_program_fini(&read);
	tf_program_fini(&program);
	tf_bytes_fini(&image);
}

/* The smallest program that there is: no groups, no graphs. */
static void emptiness_survives(void **state)
{
	struct tf_program program = {.world = 8}, read = {0};
	struct tf_bytes image;

	(void)state;
	program.layout.segment_bytes = program.layout.stride_bytes = 1;
	must_write(&program, &image);
	must_read(&image, ALL, &read);
	assert_same(&program, &read);
	tf_program_fini(&read);
	tf_bytes_fini(&image);
}

/* What malloc leaves in fresh memory must not reach the file. */
static void same_program_same_bytes(void **state)
{
	struct tf_program program, read = {0};
	struct tf_bytes first, second, third;

	(void)state;
	sample_program_make(&program);
	mallopt(M_PERTURB, 0x5a);
	must_write(&program, &first);
	mallopt(M_PERTURB, 0xc3);
	must_write(&program, &second);
	mallopt(M_PERTURB, 0);
	assert_int_equal(first.size, second.size);
	assert_memory_equal(first.data, second.data, first.size);
	must_read(&first, ALL, &read);
	must_write(&read, &third);
	assert_int_equal(first.size, third.size);
	assert_memory_equal(first.data, third.data, first.size);
	tf_program_fini(&read);
	tf_program_fini(&program);
	tf_bytes_fini(&first);
	tf_bytes_fini(&second);
	tf_bytes_fini(&third);
}

/* The order of samples and edges in the struct means nothing, so it must not show. */
static void order_of_samples_and_edges_is_free(void **state)
{
	struct tf_program program;
	struct tf_bytes first, second;
	struct tf_edge *edges;

	(void)state;
	sample_program_make(&program);
	must_write(&program, &first);
	for (uint32_t i = 0; i < program.sample_count / 2; i++) {
		struct tf_sample sample = program.samples[i];

		program.samples[i] = program.samples[program.sample_count - 1 - i];
		program.samples[program.sample_count - 1 - i] = sample;
	}
	edges = program.graphs[0].edges;
	for (uint32_t i = 0; i < program.graphs[0].edge_count / 2; i++) {
		struct tf_edge edge = edges[i];

		edges[i] = edges[program.graphs[0].edge_count - 1 - i];
		edges[program.graphs[0].edge_count - 1 - i] = edge;
	}
	must_write(&program, &second);
	assert_int_equal(first.size, second.size);
	assert_memory_equal(first.data, second.data, first.size);
	tf_program_fini(&program);
	tf_bytes_fini(&first);
	tf_bytes_fini(&second);
}

static void writing_appends(void **state)
{
	struct tf_program program;
	struct tf_bytes plain, behind = {0};

	(void)state;
	sample_program_make(&program);
	must_write(&program, &plain);
	assert_int_equal(tf_bytes_append(&behind, "abc", 3, NULL), TF_OK);
	assert_int_equal(tf_catalog_write(&program, &behind, NULL), TF_OK);
	assert_int_equal(behind.size, plain.size + 3);
	assert_memory_equal(behind.data, "abc", 3);
	assert_memory_equal(behind.data + 3, plain.data, plain.size);
	tf_program_fini(&program);
	tf_bytes_fini(&plain);
	tf_bytes_fini(&behind);
}

/* The bytes are not changed, may lie anywhere, and reading the step parts leaves the rest out. */
static void parts_are_left_out(void **state)
{
	struct tf_program program, read = {0};
	struct tf_bytes image, odd = {0};

	(void)state;
	sample_program_make(&program);
	must_write(&program, &image);
	assert_int_equal(tf_bytes_append(&odd, "x", 1, NULL), TF_OK);
	assert_int_equal(tf_bytes_append(&odd, image.data, image.size, NULL), TF_OK);
	assert_int_equal(
		tf_catalog_read(odd.data + 1, image.size, TF_CATALOG_STEP, &read, NULL), TF_OK);
	assert_memory_equal(odd.data + 1, image.data, image.size);
	assert_int_equal(read.graph_count, 2);
	assert_int_equal(read.launch_count, 3);
	assert_int_equal(read.launch_word_count, 7);
	assert_int_equal(read.sample_count, 0);
	assert_int_equal(read.candidate_count, program.candidate_count);
	tf_program_fini(&read);
	must_read(&image, TF_CATALOG_SAMPLES, &read);
	assert_int_equal(read.graph_count, 2);
	assert_int_equal(read.sample_count, program.sample_count);
	tf_program_fini(&read);
	must_read(&image, TF_CATALOG_STARTUP, &read);
	assert_int_equal(read.graph_count, 3);
	assert_int_equal(read.launch_count, program.launch_count);
	assert_int_equal(read.sample_count, 0);
	tf_program_fini(&read);
	tf_program_fini(&program);
	tf_bytes_fini(&image);
	tf_bytes_fini(&odd);
}

static void database_is_sound(void **state)
{
	struct tf_bytes image;
	char version[32];

	(void)state;
	catalog_image_make(&image);
	assert_answer(&image, "PRAGMA integrity_check", "ok\n");
	assert_answer(&image, "PRAGMA foreign_key_check", "");
	snprintf(version, sizeof(version), "%d\n", TF_CATALOG_APPLICATION_ID);
	assert_answer(&image, "PRAGMA application_id", version);
	snprintf(
		version, sizeof(version), "%d\n", TF_CATALOG_SCHEMA_MAJOR * 1000 + TF_CATALOG_SCHEMA_MINOR);
	assert_answer(&image, "PRAGMA user_version", version);
	assert_answer(&image,
		"SELECT count(*) FROM pragma_table_list WHERE type = 'table' AND strict = 0 AND"
		" name NOT LIKE 'sqlite%'",
		"0\n");
	tf_bytes_fini(&image);
}

static void views_have_their_columns(void **state)
{
	static const char columns[] = "SELECT group_concat(name, ', ') FROM pragma_table_xinfo(";
	static const char *const views[][2] = {
		{"'identity')", "key, value\n"},
		{"'picks')",
			"group_name, op, dtype, bytes, world, capacity, algorithm, writer, threads, ctas,"
			" chunk_bytes, median_ns, low_ns, high_ns, reason\n"},
		{"'samples')", "group_name, candidate, pass, stage, ns, capacity\n"},
		{"'members')", "name, bytes, sha256\n"},
	};
	struct tf_bytes image;

	(void)state;
	catalog_image_make(&image);
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		char sql[128];

		snprintf(sql, sizeof(sql), "%s%s", columns, views[i][0]);
		assert_answer(&image, sql, views[i][1]);
	}
	tf_bytes_fini(&image);
}

static const char picks[] =
	"attn.out|all_reduce|bf16|128|3|1|one_shot|ll|256|4|0|5010|4910|5110|earliest rung within 2 %\n"
	"logits|all_gather|f32|132|3|1|one_shot|copy_engine|0|0|0||||the only one\n"
	"attn.out|all_reduce|bf16|1024|3|8|two_shot|pull|128|8|0|0|0|0|fastest\n"
	"moe-combine_2|reduce_scatter|f16|800|3|8|two_shot|queued|256|16|65536|7001|7000|"
	"9223372036854775807|fastest\n";

static void views_answer(void **state)
{
	struct tf_bytes image;

	(void)state;
	catalog_image_make(&image);
	assert_answer(&image, "SELECT * FROM picks", picks);
	assert_answer(&image, "SELECT value FROM identity WHERE key = 'device.model'", "host\n");
	assert_answer(&image,
		"SELECT * FROM samples WHERE group_name = 'attn.out' AND pass = 20 AND capacity = 1",
		"attn.out|one_shot/ll/t256/c4|20|1|5020|1\n"
		"attn.out|one_shot/ll/t256/c4|20|2|5030|1\n"
		"attn.out|one_shot/sentinel/t512/c2|20|1|5070|1\n"
		"attn.out|one_shot/sentinel/t512/c2|20|2|5220|1\n");
	assert_answer(&image, "SELECT count(*) FROM samples", "168\n");
	assert_answer(&image, "SELECT * FROM members WHERE name LIKE '%r0'",
		"constants/weights.r0|64|00010409101924314051647990a9c4e1"
		"0021446990b9e4114071a4d9104984c1\n");
	assert_answer(&image,
		"SELECT group_name, capacity, rung, candidate, state, stage1_median_ns, stage2_high_ns FROM"
		" candidates WHERE state IN ('struck', 'survived') OR candidate LIKE '%/k%'",
		"attn.out|1|1|one_shot/sentinel/t512/c2|survived|5050|5300\n"
		"attn.out|1|3|two_shot/direct/t256/c4|struck||\n"
		"moe-combine_2|8|0|two_shot/queued/t256/c16/k65536|picked|7000|9223372036854775807\n");
	tf_bytes_fini(&image);
}

/* The name in the views is the name in the program. */
static void candidate_names_agree(void **state)
{
	struct tf_program program;
	struct tf_bytes image, answer, expected = {0};

	(void)state;
	sample_program_make(&program);
	catalog_image_make(&image);
	for (uint32_t i = 0; i < program.candidate_count; i++) {
		char name[TF_CANDIDATE_NAME_BYTES];

		assert_int_equal(tf_bytes_printf(&expected, NULL, "%s\n",
							 tf_candidate_name(&program.candidates[i].candidate, name)),
			TF_OK);
	}
	catalog_image_ask(&image, "SELECT candidate FROM candidates", &answer);
	assert_string_equal((const char *)answer.data, (const char *)expected.data);
	tf_bytes_fini(&answer);
	tf_bytes_fini(&expected);
	tf_bytes_fini(&image);
	tf_program_fini(&program);
}

static void save(const char *path, const struct tf_bytes *image)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(image->data, 1, image->size, file), image->size);
	assert_int_equal(fclose(file), 0);
}

static void sqlite_tool_answers(void **state)
{
	char folder[] = "/tmp/tf-catalog-XXXXXX", path[64], command[128],
		 found[sizeof(picks) + 16] = "";
	struct tf_bytes image;
	FILE *pipe;

	(void)state;
	if (system("command -v sqlite3 >/dev/null 2>&1"))
		skip();
	catalog_image_make(&image);
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/catalog.sqlite", folder);
	save(path, &image);
	snprintf(command, sizeof(command), "sqlite3 -batch %s 'select * from picks'", path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	assert_true(fread(found, 1, sizeof(found) - 1, pipe) > 0);
	assert_int_equal(pclose(pipe), 0);
	unlink(path);
	rmdir(folder);
	assert_string_equal(found, picks);
	tf_bytes_fini(&image);
}

/* Times are printed, never asserted. */
static void full_size_survives(void **state)
{
	struct tf_program program, read = {0};
	struct tf_bytes image;
	int64_t start, written, all, step;

	(void)state;
	sample_program_make_large(&program);
	assert_int_equal(program.graphs[1].node_count, 61257);
	start = tf_now_ns();
	must_write(&program, &image);
	written = tf_now_ns();
	must_read(&image, ALL, &read);
	all = tf_now_ns();
	assert_same(&program, &read);
	tf_program_fini(&read);
	step = tf_now_ns();
	must_read(&image, TF_CATALOG_STEP, &read);
	print_message("%zu bytes; write %.1f ms, read all %.1f ms, step parts %.2f ms\n", image.size,
		(double)(written - start) / 1e6, (double)(all - written) / 1e6,
		(double)(tf_now_ns() - step) / 1e6);
	assert_int_equal(read.launch_count, 81 * 4);
	assert_true(image.size < 6u << 20);
	tf_program_fini(&read);
	tf_program_fini(&program);
	tf_bytes_fini(&image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_survives),
		cmocka_unit_test(emptiness_survives),
		cmocka_unit_test(same_program_same_bytes),
		cmocka_unit_test(order_of_samples_and_edges_is_free),
		cmocka_unit_test(writing_appends),
		cmocka_unit_test(parts_are_left_out),
		cmocka_unit_test(database_is_sound),
		cmocka_unit_test(views_have_their_columns),
		cmocka_unit_test(views_answer),
		cmocka_unit_test(candidate_names_agree),
		cmocka_unit_test(sqlite_tool_answers),
		cmocka_unit_test(full_size_survives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
