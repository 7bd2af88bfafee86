/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The n-th allocation fails, for every n of an opening by two ranks: no rank comes out with a
 * session alone, nothing hangs, and no descriptor or mapping stays behind. Leaks on the heap show
 * under AddressSanitizer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "tests/session/session_rig.h"

/* A rank that fails before it can say so lets the other wait this long. */
#define SWEEP_TIMEOUT_NS (100 * TF_NS_PER_MS)
#define SWEEP_MAX        100000

static enum tf_status open_and_close(struct rig *rig, struct rig_report *report,
	struct tf_link *link, void *user, struct tf_error *err)
{
	struct tf_session_options options = rig_options(rig);
	struct tf_session *session = NULL;

	(void)report;
	options.timeout_ns = *(const int64_t *)user;
	TF_TRY(tf_session_open(&options, link, &session, err));
	tf_session_close(session);
	return TF_OK;
}

static unsigned count_windows(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned count = 0;
	char line[512];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		uint64_t at = strtoull(line, NULL, 16);

		for (size_t i = 0; i + 1 < TF_WINDOW_BASE_COUNT; i++)
			count += at == tf_window_bases[i];
	}
	fclose(maps);
	return count;
}

static void test_every_allocation_of_an_opening(void **state)
{
	int64_t long_timeout = BENCH_TIMEOUT_NS, short_timeout = SWEEP_TIMEOUT_NS;
	unsigned failures = 0, fds, windows, ended = 0;
	uint64_t total, n;
	struct rig rig;

	(void)state;
	rig_init(&rig, 2);
	rig_threads(&rig, 2, open_and_close, &long_timeout);
	assert_true(rig_is_ok(&rig, 2));
	total = tf_alloc_count();
	rig_threads(&rig, 2, open_and_close, &long_timeout);
	assert_true(rig_is_ok(&rig, 2));
	total = tf_alloc_count() - total;
	fds = count_fds();
	windows = count_windows(); /* a sanitizer's own may begin at one of the bases */
	for (n = 1; n <= total && n < SWEEP_MAX; n++) {
		tf_alloc_fail_at(n);
		rig_threads(&rig, 2, open_and_close, &short_timeout);
		tf_alloc_fail_at(0);
		assert_int_equal(count_fds(), fds);
		assert_int_equal(count_windows(), windows);
		if ((rig.reports[0].status == TF_OK) != (rig.reports[1].status == TF_OK))
			ended++;
		failures += rig.reports[0].status != TF_OK || rig.reports[1].status != TF_OK;
	}
	printf("%llu allocations, %u openings failed, %u on one rank alone\n",
		(unsigned long long)total, failures, ended);
	assert_true(failures > total / 2);
	assert_int_equal(ended, 0);
	rig_threads(&rig, 2, open_and_close, &long_timeout);
	assert_true(rig_is_ok(&rig, 2));
	rig_fini(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation_of_an_opening)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
