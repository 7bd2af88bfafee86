/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packages for ranks without peer access: they are opened with and without the option, in
 * processes whose peers' own memory is not mapped, and step bytewise; others are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/session/peer_access.h"
#include "tests/session/session_rig.h"

static enum tf_status plain(struct rig *rig, struct rig_report *report, struct tf_link *link,
	void *user, struct tf_error *err)
{
	struct tf_session_options options = rig_options(rig);

	options.no_peer_access = *(const int *)user;
	return rig_open_and_check(rig, report, link, &options, err);
}

static void parted_packages_step_everywhere(void **state)
{
	(void)state;
	for (uint32_t world = 2; world <= TF_WORLD_MAX; world += 3) {
		struct rig rig;

		rig_init_with(&rig, world, NULL, 1);
		for (uint32_t i = 0; i < rig.bench.programs[0].candidate_count; i++)
			assert_int_equal(
				rig.bench.programs[0].candidates[i].candidate.writer, TF_WRITER_STAGED);
		for (int off = 0; off < 2; off++) {
			rig_threads(&rig, world, plain, &off);
			assert_true(rig_is_ok(&rig, world));
			assert_true(rig_processes(&rig, world, TF_PROGRAM_NONE, plain, &off));
			assert_true(rig_is_ok(&rig, world));
		}
		rig_fini(&rig);
	}
}

static void packages_that_need_peers_are_refused(void **state)
{
	int off = 1;
	struct rig rig;

	(void)state;
	rig_init(&rig, 2);
	assert_false(tf_peer_access_is_off(&rig.bench.programs[0]));
	rig_threads(&rig, 2, plain, &off);
	for (uint32_t r = 0; r < 2; r++) {
		assert_int_equal(rig.reports[r].status, TF_E_MISFIT);
		assert_non_null(strstr(rig.reports[r].text, "peer.access: package 'on', machine 'off'"));
	}
	rig_fini(&rig);
}

/* A layout that is not divided where the identity says it is. */
static void a_layout_without_the_parts_is_refused(void **state)
{
	const char *const identity[] = {TF_PEER_ACCESS_KEY, TF_PEER_ACCESS_OFF, NULL};
	char path[160];
	struct rig rig;
	int off = 0;

	(void)state;
	rig_init(&rig, 2);
	rig_altered(&rig, "parted.tfp", identity, NULL, path, sizeof(path));
	memcpy(rig.path, path, sizeof(rig.path));
	rig_threads(&rig, 2, plain, &off);
	assert_int_equal(rig.reports[0].status, TF_E_INVALID);
	assert_non_null(strstr(rig.reports[0].text, "without peer access exchange_off must be"));
	rig_fini(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parted_packages_step_everywhere),
		cmocka_unit_test(packages_that_need_peers_are_refused),
		cmocka_unit_test(a_layout_without_the_parts_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
