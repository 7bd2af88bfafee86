/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The example on the CUDA device and the fake driver, ranks on threads: planned from the parameters
 * that the driver tells, tuned, captured at three bases, proven, written, and loaded again at
 * another base, where every row is a norm. argv: the example's folder; its host module stands in
 * for the cubin.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "catalog/catalog_write.h"
#include "ladders/text_file.h"
#include "packages/container_write.h"
#include "prepare/capture/foreign_capture.h"
#include "prepare/tune/plan.h"
#include "prepare/tune/plan_foreign.h"
#include "prepare/tune/prove.h"
#include "runtime/device/builtin_module.h"
#include "runtime/session/session.h"
#include "tests/prepare/bench_rig.h"
#include "tests/link/rank_threads.h"

#define WORLD 2
#define ROWS  4
#define WIDTH 1024

static const char *folder;
static char package[] = "foreign-fake-XXXXXX";

struct run {
	struct bench bench;
	uint32_t nodes[WORLD];
};

/* The workload with the host's module for compute capability 9.0. */
static void make_bench(struct bench *bench)
{
	char path[512], *text;
	struct tf_bytes yaml = {0};
	struct tf_error err = {0};
	char *cubin;

	snprintf(path, sizeof(path), "%s/rmsnorm.yaml", folder);
	if (tf_text_file_read(path, 1 << 16, &yaml, &err) != TF_OK)
		fail_msg("%s", err.text);
	text = tf_strndup((const char *)yaml.data, yaml.size);
	cubin = strstr(text, "rmsnorm-sm_90.cubin");
	assert_non_null(cubin);
	memcpy(cubin, "rmsnorm.so         ", 19);
	bench_init(bench, WORLD, text, NULL);
	tf_workload_fini(&bench->workload);
	if (tf_workload_parse(text, strlen(text), path, &bench->workload, &err) != TF_OK ||
		tf_foreign_load(bench->workload.foreign, "cuda", &err) != TF_OK)
		fail_msg("%s", err.text);
	tf_free(text);
	tf_bytes_fini(&yaml);
}

static enum tf_status prepare(
	struct run *run, struct tf_link *link, struct tf_bench_rank *rank, struct tf_error *err)
{
	struct bench *bench = &run->bench;
	struct tf_program *program = &bench->programs[tf_link_rank(link)];
	struct tf_device_properties properties;
	struct tf_tune_times times = {0};
	uint32_t aggregate;

	rank->link = link;
	rank->timeout_ns = bench->timeout_ns;
	rank->program = program;
	rank->foreign = bench->workload.foreign;
	TF_TRY(tf_device_ops_find("cuda", &rank->ops, err));
	TF_TRY(rank->ops->open(tf_link_rank(link), &rank->device, err));
	rank->ops->properties(rank->device, &properties);
	TF_TRY(tf_plan(&bench->workload, &bench->ladder, &properties, WORLD, program, err));
	TF_TRY(tf_plan_foreign(rank->foreign, rank->ops, rank->device, program, err));
	TF_TRY(tf_bench_rank_open(rank, err));
	TF_TRY(tf_tune(rank, &aggregate, &times, err));
	TF_TRY(tf_foreign_capture(rank, err));
	TF_TRY(tf_capture_step_graphs(rank, err));
	TF_TRY(tf_prove_steps(rank, err));
	return tf_catalog_write(program, &bench->catalogs[tf_link_rank(link)], err);
}

static enum tf_status prepare_body(void *user, struct tf_link *link, struct tf_error *err)
{
	struct tf_bench_rank rank = {0};
	enum tf_status status = prepare(user, link, &rank, err);

	tf_bench_rank_close(&rank);
	return status;
}

static void write_package(const struct bench *bench)
{
	const struct tf_program *program = &bench->programs[0];
	struct tf_device_properties properties = {.kind = "cuda", .compute_capability = 90};
	struct tf_package_writer *writer = NULL;
	struct tf_builtin_module builtin;
	struct tf_error err = {0};

	assert_int_equal(tf_builtin_module_for(&properties, &builtin, &err), TF_OK);
	assert_int_equal(tf_package_writer_create(package, &writer, &err), TF_OK);
	assert_int_equal(tf_package_writer_add(writer, "catalog.sqlite", bench->catalogs[0].data,
						 bench->catalogs[0].size, &err),
		TF_OK);
	for (uint32_t i = 0; i < program->member_count; i++) {
		const struct tf_bytes *bytes =
			tf_plan_foreign_member(bench->workload.foreign, program->members[i].digest);

		assert_int_equal(
			tf_package_writer_add(writer, program->members[i].name,
				bytes ? bytes->data : builtin.bytes, bytes ? bytes->size : builtin.size, &err),
			TF_OK);
	}
	assert_int_equal(tf_package_writer_seal(writer, &err), TF_OK);
	assert_int_equal(tf_package_writer_publish(writer, NULL, NULL, &err), TF_OK);
	tf_package_writer_destroy(writer);
}

static float widen(uint16_t bits)
{
	uint32_t wide = (uint32_t)bits << 16;
	float value;

	memcpy(&value, &wide, sizeof(value));
	return value;
}

/* Whatever the operands were: without the gain, the squares of a row's norm are 1 on average. */
static enum tf_status check_norms(const struct tf_session *session, struct tf_error *err)
{
	static const float gains[4] = {1.0f, 0.5f, 1.5f, 2.0f};
	const struct tf_program *program = tf_session_program(session);
	const uint16_t *normed; /* (rows, WIDTH) */
	uint32_t buffer = 0;

	while (buffer < program->buffer_count && strcmp(program->buffers[buffer].name, "normed.c4"))
		buffer++;
	if (buffer == program->buffer_count)
		return TF_FAIL(err, TF_E_NOT_FOUND, "no buffer 'normed.c4'");
	normed = tf_session_buffer_data(session, buffer);
	for (uint32_t row = 0; row < ROWS; row++) {
		float squares = 0;

		for (uint32_t i = 0; i < WIDTH; i++) {
			float plain = widen(normed[row * WIDTH + i]) / gains[i % 4];

			squares += plain * plain;
		}
		if (!(squares > 0.99f * WIDTH && squares < 1.01f * WIDTH))
			return TF_FAIL(err, TF_E_MISMATCH, "row %u: squares of %g, wanted %d", row,
				(double)squares, WIDTH);
	}
	return TF_OK;
}

static enum tf_status load_body(void *user, struct tf_link *link, struct tf_error *err)
{
	struct tf_session_options options = {.path = package,
		.device = "cuda",
		.spread = 1,
		.timeout_ns = BENCH_TIMEOUT_NS,
		.base_first = 1,
		.strict = 1,
		.probe = 1};
	struct tf_session *session = NULL;
	enum tf_status status;

	(void)user;
	TF_TRY(tf_session_open(&options, link, &session, err));
	status = tf_session_check(session, ROWS, err);
	if (status == TF_OK)
		status = check_norms(session, err);
	if (status == TF_OK)
		status = tf_session_check(session, 1, err);
	tf_session_close(session);
	return status;
}

/* Edges at a kernel that does not say that it waits itself are full, between collectives not. */
static void check_edges(const struct tf_program *program)
{
	static const uint8_t wanted[] = {0, 0, 1, 0, 0};
	const struct tf_graph *graph = &program->graphs[0];

	assert_int_equal(graph->node_count, 6);
	assert_int_equal(graph->edge_count, 5);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(graph->edges[i].type, wanted[i]);
}

static void test_cuda(void **state)
{
	static struct run run;
	struct tf_error errs[WORLD] = {{0}};

	(void)state;
	make_bench(&run.bench);
	run_ranks(WORLD, prepare_body, &run, run.bench.errors);
	assert_true(bench_is_ok(&run.bench));
	assert_int_equal(run.bench.catalogs[0].size, run.bench.catalogs[1].size);
	assert_memory_equal(
		run.bench.catalogs[0].data, run.bench.catalogs[1].data, run.bench.catalogs[0].size);
	check_edges(&run.bench.programs[0]);
	assert_int_equal(run.bench.programs[0].module_count, 2);
	assert_int_equal(run.bench.programs[0].modules[1].kind, TF_MODULE_CUBIN);
	assert_int_equal(run.bench.programs[0].modules[1].compute_capability, 90);
	write_package(&run.bench);
	run_ranks(WORLD, load_body, &run, errs);
	for (uint32_t r = 0; r < WORLD; r++) {
		if (errs[r].status != TF_OK)
			fail_msg("rank %u: %s", r, errs[r].text);
	}
	bench_fini(&run.bench);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_cuda)};
	const struct tf_device_ops *ops = NULL;
	int failed, fd;

	if (argc != 2)
		return 2;
	folder = argv[1];
	if (tf_device_ops_find("cuda", &ops, NULL) != TF_OK)
		return 77;
	fd = mkstemp(package);
	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(package);
	return failed;
}
