/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics' text, the statistics of steps, and joining the ranks' reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "runtime/serve/rank_steps.h"
#include "runtime/serve/serve_metrics.h"
#include "runtime/serve/step_reports.h"

static struct tf_step_report report_of(int64_t *times, uint64_t count, uint32_t capacity)
{
	struct tf_step_report report;

	memset(&report, 0, sizeof(report));
	report.capacity = capacity;
	tf_step_report_times(times, count, &report);
	return report;
}

static void statistics_of_times(void **state)
{
	int64_t times[] = {30000, 10000, 20000, 2000000000, 10001};
	struct tf_step_report report = report_of(times, 5, 4);

	(void)state;
	assert_int_equal(report.count, 5);
	assert_int_equal(report.min_ns, 10000);
	assert_int_equal(report.median_ns, 20000);
	assert_int_equal(report.max_ns, 2000000000);
	assert_int_equal(report.total_ns, 2000070001);
	assert_int_equal(report.times_ns[0], 30000); /* in the order of the steps */
	assert_int_equal(report.times_ns[3], 2000000000);
	assert_int_equal(report.buckets[0], 1); /* 10000 is within the bucket that ends with it */
	assert_int_equal(report.buckets[1], 2);
	assert_int_equal(report.buckets[2], 1);
	assert_int_equal(report.buckets[TF_STEP_BUCKETS], 1);
}

static void many_times_are_cut(void **state)
{
	int64_t times[TF_STEP_TIMES_MAX + 3];
	struct tf_step_report report;

	(void)state;
	for (int i = 0; i < TF_STEP_TIMES_MAX + 3; i++)
		times[i] = 1000 - i;
	report = report_of(times, TF_STEP_TIMES_MAX + 3, 1);
	assert_int_equal(report.count, TF_STEP_TIMES_MAX + 3);
	assert_int_equal(report.times_ns[TF_STEP_TIMES_MAX - 1], 1000 - TF_STEP_TIMES_MAX + 1);
}

static void joining_takes_the_slowest(void **state)
{
	int64_t first[] = {10, 50}, second[] = {40, 20};
	struct tf_step_report reports[2], joined;

	(void)state;
	reports[0] = report_of(first, 2, 8);
	reports[1] = report_of(second, 2, 8);
	tf_step_reports_join(reports, 2, &joined);
	assert_int_equal(joined.min_ns, 20);
	assert_int_equal(joined.median_ns, 20);
	assert_int_equal(joined.max_ns, 50);
	assert_int_equal(joined.total_ns, 60);
	assert_int_equal(joined.times_ns[0], 40);
	assert_int_equal(joined.times_ns[1], 50);
	assert_int_equal(joined.capacity, 8);
}

static void expect_line(const char *text, const char *line)
{
	char framed[256];

	snprintf(framed, sizeof(framed), "\n%s\n", line);
	if (!strstr(text, framed))
		fail_msg("no line '%s' in:\n%s", line, text);
}

static void text_of_metrics(void **state)
{
	struct tf_capacity_metrics capacities[2] = {{.capacity = 1}, {.capacity = 4}};
	struct tf_serve_metrics metrics = {
		.version = "1.2.3",
		.package_sha256 = "abc",
		.world = 2,
		.ready = 1,
		.ranks_up = 1,
		.load_ns = 1500000,
		.requests_done = 6,
		.capacities = capacities,
		.capacity_count = 2,
	};
	int64_t times[] = {30000, 10000, 2000000000};
	struct tf_step_report report = report_of(times, 3, 4);
	struct tf_bytes text = {0};

	(void)state;
	metrics.phase_ns[TF_PHASE_PROBE] = 250000000;
	metrics.counters[1].writer_calls[TF_WRITER_LL] = 86;
	metrics.counters[0].writer_bytes[TF_WRITER_PULL] = UINT64_MAX;
	tf_serve_metrics_add(&metrics, &report);
	tf_serve_metrics_add(&metrics, &report);
	assert_int_equal(tf_serve_metrics_write(&metrics, &text, NULL), TF_OK);
	expect_line((char *)text.data, "tfrun_info{version=\"1.2.3\",package_sha256=\"abc\"} 1");
	expect_line((char *)text.data, "tfrun_rank_up{rank=\"0\"} 1");
	expect_line((char *)text.data, "tfrun_rank_up{rank=\"1\"} 0");
	expect_line((char *)text.data, "tfrun_load_seconds{phase=\"probe\"} 0.25");
	expect_line((char *)text.data, "tfrun_load_seconds{phase=\"all\"} 0.0015");
	expect_line((char *)text.data, "tfrun_requests_total{outcome=\"done\"} 6");
	expect_line((char *)text.data, "tfrun_steps_total{capacity=\"1\"} 0");
	expect_line((char *)text.data, "tfrun_steps_total{capacity=\"4\"} 6");
	expect_line((char *)text.data, "tfrun_step_seconds_bucket{capacity=\"4\",le=\"1e-05\"} 2");
	expect_line((char *)text.data, "tfrun_step_seconds_bucket{capacity=\"4\",le=\"5e-05\"} 4");
	expect_line((char *)text.data, "tfrun_step_seconds_bucket{capacity=\"4\",le=\"1\"} 4");
	expect_line((char *)text.data, "tfrun_step_seconds_bucket{capacity=\"4\",le=\"+Inf\"} 6");
	expect_line((char *)text.data, "tfrun_step_seconds_sum{capacity=\"4\"} 4.00008");
	expect_line((char *)text.data, "tfrun_writer_calls_total{rank=\"1\",writer=\"ll\"} 86");
	expect_line((char *)text.data,
		"tfrun_writer_bytes_total{rank=\"0\",writer=\"pull\"} 18446744073709551615");
	tf_bytes_fini(&text);
}

static void want_of_memory_is_told(void **state)
{
	struct tf_capacity_metrics capacity = {.capacity = 1};
	struct tf_serve_metrics metrics = {.version = "1",
		.package_sha256 = "a",
		.world = 2,
		.capacities = &capacity,
		.capacity_count = 1};
	enum tf_status status = TF_E_NO_MEMORY;
	int failures = 0;

	(void)state;
	for (uint64_t nth = 1; status == TF_E_NO_MEMORY && nth < 1000; nth++) {
		struct tf_bytes text = {0};

		tf_alloc_fail_at(nth);
		status = tf_serve_metrics_write(&metrics, &text, NULL);
		tf_alloc_fail_at(0);
		tf_bytes_fini(&text);
		failures += status == TF_E_NO_MEMORY;
	}
	assert_int_equal(status, TF_OK);
	assert_true(failures > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statistics_of_times),
		cmocka_unit_test(many_times_are_cut),
		cmocka_unit_test(joining_takes_the_slowest),
		cmocka_unit_test(text_of_metrics),
		cmocka_unit_test(want_of_memory_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
