/* SPDX-License-Identifier: Apache-2.0 */
/* Packages that are refused: by all ranks, with one text that says everything at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "catalog/catalog_read.h"
#include "catalog/catalog_write.h"
#include "tests/session/session_rig.h"

struct paths {
	const char *of[TF_WORLD_MAX];
	int strict;
	uint32_t capacity_max;
};

static enum tf_status open_own(struct rig *rig, struct rig_report *report, struct tf_link *link,
	void *user, struct tf_error *err)
{
	const struct paths *paths = user;
	struct tf_session_options options = rig_options(rig);

	options.path = paths->of[tf_link_rank(link)];
	options.capacity_max = paths->capacity_max;
	return rig_open_and_check(rig, report, link, &options, err);
}

static void open_paths(
	struct rig *rig, uint32_t world, const char *path, const char *odd, uint32_t odd_rank)
{
	struct paths paths = {.strict = 0};

	for (uint32_t r = 0; r < world; r++)
		paths.of[r] = r == odd_rank ? odd : path;
	rig_threads(rig, world, open_own, &paths);
}

/* All ranks refuse with the same status and text. */
static const char *refused(const struct rig *rig, uint32_t world, enum tf_status status)
{
	for (uint32_t r = 0; r < world; r++) {
		if (rig->reports[r].status != status)
			fail_msg(
				"rank %u: %s: %s", r, tf_status_name(rig->reports[r].status), rig->reports[r].text);
		assert_string_equal(rig->reports[r].text, rig->reports[0].text);
	}
	return rig->reports[0].text;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' lacks '%s'", text, part);
}

static void test_a_misfit_lists_every_cause(void **state)
{
	static const char *const identity[] = {"device.model", "NVIDIA H200",
		"device.compute_capability", "90", "device.sm_count", "132", "device.memory_bytes",
		"150754820096", "numerics", "bf16-tree", "topology.signature", "switched:x", NULL};
	const char *text;
	char path[256];
	struct rig rig;

	(void)state;
	rig_init(&rig, 3);
	rig_altered(&rig, "misfit.tfp", identity, NULL, path, sizeof(path));
	open_paths(&rig, 3, path, path, 0);
	text = refused(&rig, 3, TF_E_MISFIT);
	for (size_t i = 0; identity[i]; i++)
		assert_has(text, identity[i]);
	/* both values, and nothing that fits */
	assert_has(text, "device.sm_count: package '132', machine '0'");
	assert_has(text, "numerics: package 'bf16-tree', machine 'fp32-rank-order-round-once'");
	assert_null(strstr(text, "world"));
	if (strstr(text, "abi:"))
		fail_msg("%s", text);
	rig_fini(&rig);
}

/* What was made for GPUs is not for the host, however its signature tells of them. */
static void test_links_of_gpus(void **state)
{
	static const char *const identity[] = {"topology.signature",
		"gpu;class=switched;world=2;models=10de:2335,10de:2335;links=self pix/pix self", NULL};
	char path[256];
	struct rig rig;

	(void)state;
	rig_init(&rig, 2);
	rig_altered(&rig, "gpus.tfp", identity, NULL, path, sizeof(path));
	open_paths(&rig, 2, path, path, 0);
	assert_has(refused(&rig, 2, TF_E_MISFIT), "links=self pix/pix self', machine 'host:");
	rig_fini(&rig);
}

/* Keys that describe nothing a machine has are information: another one is no misfit. */
static void test_information_is_no_misfit(void **state)
{
	static const char *const identity[] = {"workload", "another", "note", "made on a Monday", NULL};
	char path[256];
	struct rig rig;

	(void)state;
	rig_init(&rig, 2);
	rig_altered(&rig, "note.tfp", identity, NULL, path, sizeof(path));
	open_paths(&rig, 2, path, path, 0);
	assert_true(rig_is_ok(&rig, 2));
	rig_fini(&rig);
}

static void test_another_world(void **state)
{
	const char *text;
	struct rig rig;

	(void)state;
	rig_init(&rig, 2);
	open_paths(&rig, 3, rig.path, rig.path, 0);
	text = refused(&rig, 3, TF_E_MISFIT);
	assert_has(text, "world: package '2', machine '3'");
	rig_fini(&rig);
}

static void test_one_rank_has_another_package(void **state)
{
	static const char *const identity[] = {"note", "another build", NULL};
	char path[256];
	struct rig rig;

	(void)state;
	rig_init(&rig, 4);
	rig_altered(&rig, "other.tfp", identity, NULL, path, sizeof(path));
	for (uint32_t odd = 0; odd < 4; odd += 3) {
		char name[16];
		const char *text;

		open_paths(&rig, 4, rig.path, path, odd);
		text = refused(&rig, 4, TF_E_MISMATCH);
		snprintf(name, sizeof(name), "rank %u", odd);
		assert_has(text, name);
		assert_has(text, "the package's digest");
	}
	rig_fini(&rig);
}

static void write_file(const char *path, const void *data, size_t bytes)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, bytes, file), bytes);
	assert_int_equal(fclose(file), 0);
}

static void test_one_rank_has_none(void **state)
{
	const char *text;
	char path[256];
	struct rig rig;

	(void)state;
	rig_init(&rig, 3);
	snprintf(path, sizeof(path), "%s/absent.tfp", rig.folder);
	open_paths(&rig, 3, rig.path, path, 1);
	text = refused(&rig, 3, TF_E_NOT_FOUND);
	assert_has(text, "rank 1: ");
	assert_has(text, path);
	write_file(path, "", 0);
	open_paths(&rig, 3, rig.path, path, 2);
	assert_int_not_equal(rig.reports[0].status, TF_OK);
	text = refused(&rig, 3, rig.reports[0].status);
	assert_has(text, "rank 2: ");
	assert_has(text, path);
	rig_fini(&rig);
}

/* Bytes cut off or turned over anywhere: refused by all, never loaded. */
static void test_damage(void **state)
{
	static uint8_t bytes[1 << 20];
	char path[256];
	struct rig rig;
	size_t size;
	FILE *file;

	(void)state;
	rig_init(&rig, 2);
	file = fopen(rig.path, "rb");
	assert_non_null(file);
	size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	assert_true(size > 1000 && size < sizeof(bytes));
	snprintf(path, sizeof(path), "%s/damaged.tfp", rig.folder);
	for (size_t i = 0; i < 8; i++) {
		size_t at = i * (size - 1) / 7;
		const char *text;

		bytes[at] ^= 0x55;
		write_file(path, bytes, size);
		bytes[at] ^= 0x55;
		open_paths(&rig, 2, path, path, 0);
		assert_true(rig.reports[0].status == TF_E_INVALID ||
			rig.reports[0].status == TF_E_DAMAGED || rig.reports[0].status == TF_E_VERSION);
		text = refused(&rig, 2, rig.reports[0].status);
		assert_has(text, path);
		write_file(path, bytes, at);
		open_paths(&rig, 2, path, rig.path, 0);
		assert_int_not_equal(rig.reports[1].status, TF_OK);
		refused(&rig, 2, rig.reports[1].status);
	}
	rig_fini(&rig);
}

static void test_a_capacity_below_all(void **state)
{
	static const char workload[] =
		"name: wide\nsummary: No small one.\ncapacities: [4, 8]\ngroups:\n"
		"  - {name: sum, op: all_reduce, dtype: bf16, row_elements: 64}\n";
	struct paths paths = {.capacity_max = 3};
	struct bench bench;
	struct rig rig;
	char path[256];

	(void)state;
	rig_init(&rig, 2);
	bench_init(&bench, 2, workload, NULL);
	bench_tune(&bench);
	assert_true(bench_is_ok(&bench));
	snprintf(path, sizeof(path), "%s/wide.tfp", rig.folder);
	bench_write_package(path, &bench.catalogs[0]);
	paths.of[0] = paths.of[1] = path;
	rig_threads(&rig, 2, open_own, &paths);
	assert_has(refused(&rig, 2, TF_E_USAGE), "capacity 3");
	bench_fini(&bench);
	rig_fini(&rig);
}

/*
 * The control words and flags are cleared by this build's sizes, whatever the file says: a layout
 * that has less room for them, or has them elsewhere, would be overwritten.
 */
static void test_a_layout_that_is_not_ours(void **state)
{
	struct tf_layout layout;
	char path[256], text[64];
	struct rig rig;

	(void)state;
	rig_init(&rig, 2);
	layout = rig.bench.programs[0].layout;
	snprintf(text, sizeof(text), "layout: control_bytes is 4096, this build's kernels take %llu",
		(unsigned long long)layout.control_bytes);
	layout.control_bytes = 4096;
	rig_altered(&rig, "layout.tfp", NULL, &layout, path, sizeof(path));
	open_paths(&rig, 2, path, path, 0);
	assert_has(refused(&rig, 2, TF_E_INVALID), text);
	layout = rig.bench.programs[0].layout;
	layout.flag_bytes -= 4096;
	rig_altered(&rig, "layout.tfp", NULL, &layout, path, sizeof(path));
	open_paths(&rig, 2, path, path, 0);
	assert_has(refused(&rig, 2, TF_E_INVALID), "layout: flag_bytes is ");
	rig_fini(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_misfit_lists_every_cause),
		cmocka_unit_test(test_links_of_gpus),
		cmocka_unit_test(test_information_is_no_misfit),
		cmocka_unit_test(test_another_world),
		cmocka_unit_test(test_one_rank_has_another_package),
		cmocka_unit_test(test_one_rank_has_none),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_a_capacity_below_all),
		cmocka_unit_test(test_a_layout_that_is_not_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
