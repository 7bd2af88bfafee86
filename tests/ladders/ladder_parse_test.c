/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading ladders: what comes out of a good one, files, and memory that runs out. What bad ones are
 * told is in ladder_parse_refusals.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "ladders/ladder.h"
#include "ladders/yaml_tree.h"
#include "tests/ladders/ladder_parse_cases.h"

static enum tf_status parse(
	const char *text, size_t size, struct tf_ladder *out, struct tf_error *err)
{
	return tf_ladder_parse(text, size, "x.yaml", out, err);
}

static void reads_every_field(void **state)
{
	static const char text[] = "topology: host-bridge\nsummary: a word\nrungs:\n"
							   "  - algorithm: two_shot\n"
							   "    writer: queued\n"
							   "    threads: 1024\n"
							   "    ctas: 128\n"
							   "    chunk: 64KiB\n"
							   "    ops: [all_reduce]\n"
							   "    dtypes: [bf16, f32]\n"
							   "    world: [3, 5]\n"
							   "    bytes: [128, 2MiB]\n"
							   "    align: 16\n"
							   "    needs: [peer_write, peer_atomic]\n"
							   "    reason: \"why: because\"\n";
	struct tf_ladder ladder = {0};
	struct tf_error err = {0};
	const struct tf_rung *rung;

	(void)state;
	assert_int_equal(tf_ladder_parse(text, strlen(text), "/a b/mine.yaml", &ladder, &err), TF_OK);
	assert_string_equal(ladder.name, "mine");
	assert_string_equal(ladder.topology, "host-bridge");
	assert_string_equal(ladder.summary, "a word");
	assert_int_equal(ladder.rung_count, 1);
	rung = &ladder.rungs[0];
	assert_int_equal(rung->candidate.algorithm, TF_ALGORITHM_TWO_SHOT);
	assert_int_equal(rung->candidate.writer, TF_WRITER_QUEUED);
	assert_int_equal(rung->candidate.threads, 1024);
	assert_int_equal(rung->candidate.ctas, 128);
	assert_int_equal(rung->candidate.chunk_bytes, 65536);
	assert_int_equal(rung->ops, 1 << TF_OP_ALL_REDUCE);
	assert_int_equal(rung->dtypes, 1 << TF_DTYPE_BF16 | 1 << TF_DTYPE_F32);
	assert_int_equal(rung->world_min, 3);
	assert_int_equal(rung->world_max, 5);
	assert_int_equal(rung->bytes_min, 128);
	assert_int_equal(rung->bytes_max, 2 << 20);
	assert_int_equal(rung->align_bytes, 16);
	assert_int_equal(rung->needs, TF_LINK_PEER_WRITE | TF_LINK_PEER_ATOMIC);
	assert_string_equal(rung->reason, "why: because");
	tf_ladder_fini(&ladder);
	assert_null(ladder.rungs);
	tf_ladder_fini(NULL);
}

static void fills_in_defaults(void **state)
{
	static const char text[] =
		HEAD GOOD RUNG("one_shot", "pull", "", "[all_gather]", "[2, 2]", "[8, 8]");
	struct tf_ladder ladder = {0};

	(void)state;
	assert_int_equal(parse(text, strlen(text), &ladder, NULL), TF_OK);
	assert_string_equal(ladder.name, "x");
	assert_int_equal(ladder.rung_count, 2);
	assert_int_equal(ladder.rungs[0].dtypes, (1 << TF_DTYPE_COUNT) - 1);
	assert_int_equal(ladder.rungs[0].align_bytes, 1);
	assert_int_equal(ladder.rungs[0].candidate.chunk_bytes, 0);
	assert_int_equal(ladder.rungs[0].needs, TF_LINK_PEER_WRITE);
	assert_int_equal(ladder.rungs[1].needs, TF_LINK_PEER_READ | TF_LINK_PEER_WRITE);
	tf_ladder_fini(&ladder);
}

/* The reader's words are those of base/dtype.h, each with its own value. */
static void knows_every_word(void **state)
{
	(void)state;
	for (int writer = 0; writer < TF_WRITER_COUNT; writer++) {
		for (int op = 0; op < TF_OP_COUNT; op++) {
			for (int dtype = 0; dtype < TF_DTYPE_COUNT; dtype++) {
				struct tf_ladder ladder = {0};
				int gathers = writer == TF_WRITER_WIRE || writer == TF_WRITER_COPY_ENGINE;
				char text[512];

				if (gathers && op != TF_OP_ALL_GATHER)
					continue;
				snprintf(text, sizeof(text),
					HEAD "  - {algorithm: %s, writer: %s, %sops: [%s], dtypes: [%s], "
						 "world: [2, 2], bytes: [1, 8], reason: r%s}\n",
					writer == TF_WRITER_NCCL ? "library" : "one_shot",
					tf_writer_name((enum tf_writer)writer),
					writer == TF_WRITER_NCCL ? "" : "threads: 32, ctas: 1, ",
					tf_op_name((enum tf_op)op), tf_dtype_name((enum tf_dtype)dtype),
					writer == TF_WRITER_QUEUED ? ", chunk: 256" : "");
				assert_int_equal(parse(text, strlen(text), &ladder, NULL), TF_OK);
				assert_int_equal(ladder.rungs[0].candidate.writer, writer);
				assert_int_equal(ladder.rungs[0].ops, 1 << op);
				assert_int_equal(ladder.rungs[0].dtypes, 1 << dtype);
				tf_ladder_fini(&ladder);
			}
		}
	}
}

/* The same candidate twice is fine where no group can meet both. */
static void accepts_disjoint_repeats(void **state)
{
	static const char text[] = HEAD GOOD //
		RUNG("one_shot", "ll", "", "[all_gather]", "[2, 8]", "[1, 8KiB]")
			RUNG("one_shot", "ll", "", "[all_reduce]", "[2, 8]", "[8193, 16KiB]");
	struct tf_ladder ladder = {0};

	(void)state;
	assert_int_equal(parse(text, strlen(text), &ladder, NULL), TF_OK);
	assert_int_equal(ladder.rung_count, 3);
	tf_ladder_fini(&ladder);
}

static void refuse_file(const char *path, enum tf_status status, const char *why)
{
	struct tf_ladder ladder = {0};
	struct tf_error err = {0};
	char message[512];

	snprintf(message, sizeof(message), "cannot read '%s': %s", path, why);
	assert_int_equal(tf_ladder_load_file(path, &ladder, &err), status);
	assert_string_equal(err.text, message);
}

static void reads_files(void **state)
{
	struct tf_ladder ladder = {0};
	char folder[] = "/tmp/tf ladder XXXXXX";
	char path[128], pipe_path[128];
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/my ladder.yaml", folder);
	snprintf(pipe_path, sizeof(pipe_path), "%s/pipe", folder);
	refuse_file(path, TF_E_NOT_FOUND, "there is no such file");
	refuse_file(folder, TF_E_INVALID, "it is a directory");
	assert_int_equal(mkfifo(pipe_path, 0600), 0);
	refuse_file(pipe_path, TF_E_INVALID, "it is not a regular file");

	file = fopen(path, "w");
	assert_non_null(file);
	fputs(HEAD GOOD, file);
	fclose(file);
	assert_int_equal(tf_ladder_load_file(path, &ladder, NULL), TF_OK);
	assert_string_equal(ladder.name, "my ladder");
	tf_ladder_fini(&ladder);
	assert_int_equal(truncate(path, TF_YAML_BYTES_MAX + 1), 0);
	refuse_file(path, TF_E_INVALID, "longer than 1048576 bytes, the most allowed");

	unlink(path);
	unlink(pipe_path);
	rmdir(folder);
}

static void survives_every_failed_allocation(void **state)
{
	static const char good[] = HEAD GOOD //
		RUNG("one_shot", "queued", ", chunk: 1KiB, align: 2, dtypes: [bf16], needs: [peer_write]",
			"[all_reduce]", "[2, 8]", "[1, 8KiB]");
	struct tf_ladder ladder = {0};
	struct tf_error err = {0};
	enum tf_status status = TF_E_NO_MEMORY;
	unsigned nth = 1;

	(void)state;
	for (; status != TF_OK && nth < 1000; nth++) {
		tf_alloc_fail_at(nth);
		status = parse(good, strlen(good), &ladder, &err);
		tf_alloc_fail_at(0);
		if (status != TF_OK) {
			assert_int_equal(status, TF_E_NO_MEMORY);
			assert_null(ladder.rungs);
			assert_non_null(strstr(err.text, "no memory"));
		}
	}
	assert_int_equal(status, TF_OK);
	assert_true(nth > 20);
	tf_ladder_fini(&ladder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_field),
		cmocka_unit_test(fills_in_defaults),
		cmocka_unit_test(knows_every_word),
		cmocka_unit_test(refuses_keys),
		cmocka_unit_test(refuses_words_and_types),
		cmocka_unit_test(refuses_numbers_and_sizes),
		cmocka_unit_test(refuses_contradictions),
		cmocka_unit_test(accepts_disjoint_repeats),
		cmocka_unit_test(refuses_what_is_no_plain_yaml),
		cmocka_unit_test(refuses_what_is_too_much),
		cmocka_unit_test(reads_files),
		cmocka_unit_test(survives_every_failed_allocation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
