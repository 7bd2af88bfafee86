/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The startup graph of a loaded package: replayed with all capacities or few, before and after
 * steps. It samples every candidate of every group and changes no selector.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "catalog/catalog_read.h"
#include "catalog/catalog_write.h"
#include "runtime/collective/startup.h"
#include "tests/session/session_rig.h"

struct load {
	const char *path;
	uint32_t capacity_max;
	int startup;
};

/* Every candidate that was not struck out has all its samples, whatever its group's capacity. */
static enum tf_status check_samples(
	const struct tf_program *program, const uint64_t *samples, struct tf_error *err)
{
	for (uint32_t i = 0; i < program->candidate_count; i++) {
		int whole = tf_select_competes(samples + (size_t)i * TF_PASSES);

		if (whole != (program->candidates[i].state != TF_CANDIDATE_STRUCK))
			return TF_FAIL(err, TF_E_INTERNAL, "candidate %u: whole is %d", i, whole);
		if (whole && !samples[(size_t)i * TF_PASSES])
			return TF_FAIL(err, TF_E_INTERNAL, "candidate %u took no time", i);
	}
	return TF_OK;
}

static enum tf_status drift_and_step(
	struct tf_session *session, uint64_t *samples, uint32_t *selectors, struct tf_error *err)
{
	const struct tf_program *program = tf_session_program(session);
	size_t bytes = program->group_count * sizeof(selectors[0]);
	uint32_t count, largest;

	memcpy(selectors, program->selectors, bytes);
	tf_session_capacities(session, &count, &largest);
	for (int turn = 0; turn < 2; turn++) {
		memset(samples, 0, (size_t)program->candidate_count * TF_PASSES * sizeof(samples[0]));
		TF_TRY(tf_session_drift(session, samples, err));
		TF_TRY(check_samples(program, samples, err));
		TF_TRY(tf_session_check(session, largest, err));
		if (memcmp(selectors, program->selectors, bytes) != 0)
			return TF_FAIL(err, TF_E_INTERNAL, "a selector changed");
	}
	return TF_OK;
}

static enum tf_status drift(struct rig *rig, struct rig_report *report, struct tf_link *link,
	void *user, struct tf_error *err)
{
	const struct load *load = user;
	struct tf_session_options options = rig_options(rig);
	const struct tf_program *program;
	struct tf_session *session = NULL;
	uint64_t *samples = NULL;
	uint32_t *selectors = NULL, count, largest;
	enum tf_status status;

	if (load->path)
		options.path = load->path;
	options.capacity_max = load->capacity_max;
	options.startup = load->startup;
	TF_TRY(tf_session_open(&options, link, &session, err));
	tf_session_capacities(session, &count, &largest);
	report->reached = (int)(100 * count + largest);
	program = tf_session_program(session);
	samples = calloc((size_t)program->candidate_count * TF_PASSES, sizeof(samples[0]));
	selectors = calloc(program->group_count, sizeof(selectors[0]));
	status = samples && selectors ? drift_and_step(session, samples, selectors, err)
								  : TF_FAIL(err, TF_E_NO_MEMORY, "no memory");
	free(samples);
	free(selectors);
	tf_session_close(session);
	return status;
}

static void run(struct rig *rig, const struct load *load)
{
	struct load copy = *load;

	rig_threads(rig, 2, drift, &copy);
}

static void test_replays_with_all_and_with_few_capacities(void **state)
{
	struct rig *rig = *state;

	run(rig, &(struct load){.startup = 1});
	assert_true(rig_is_ok(rig, 2));
	assert_int_equal(rig->reports[0].reached, 308);
	run(rig, &(struct load){.startup = 1, .capacity_max = 1});
	assert_true(rig_is_ok(rig, 2));
	assert_int_equal(rig->reports[0].reached, 101);
}

static void test_needs_the_startup_graph(void **state)
{
	struct rig *rig = *state;

	run(rig, &(struct load){.startup = 0});
	for (uint32_t r = 0; r < 2; r++) {
		assert_int_equal(rig->reports[r].status, TF_E_NOT_FOUND);
		assert_non_null(strstr(rig->reports[r].text, "startup graph is not loaded"));
	}
}

/* A file whose layout leaves less room than its candidates' samples take. */
static void test_refuses_storage_that_is_too_small(void **state)
{
	struct rig *rig = *state;
	const struct tf_bytes *catalog = &rig->bench.catalogs[0];
	struct tf_program program = {0};
	struct tf_bytes altered = {0};
	struct tf_error err = {0};
	char path[256];

	snprintf(path, sizeof(path), "%s/small.tfp", rig->folder);
	assert_int_equal(tf_catalog_read(catalog->data, catalog->size,
						 TF_CATALOG_STARTUP | TF_CATALOG_SAMPLES, &program, &err),
		TF_OK);
	program.layout.startup_bytes -= 128;
	assert_int_equal(tf_catalog_write(&program, &altered, &err), TF_OK);
	bench_write_package(path, &altered);
	tf_bytes_fini(&altered);
	tf_program_fini(&program);
	run(rig, &(struct load){.startup = 1, .path = path});
	for (uint32_t r = 0; r < 2; r++) {
		assert_int_equal(rig->reports[r].status, TF_E_INVALID);
		assert_non_null(strstr(rig->reports[r].text, "the startup storage has "));
	}
}

static int set_up(void **state)
{
	static struct rig rig;

	rig_init(&rig, 2);
	*state = &rig;
	return 0;
}

static int tear_down(void **state)
{
	rig_fini(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replays_with_all_and_with_few_capacities),
		cmocka_unit_test(test_needs_the_startup_graph),
		cmocka_unit_test(test_refuses_storage_that_is_too_small),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
