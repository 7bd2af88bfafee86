/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1. A family's samples stand together, after one HELP and one TYPE. 2. Every label value is a
 *    plain word.
 */
#include "runtime/serve/serve_metrics.h"

#include "base/deadline.h"

/* The first failure stays, so that lines need no check of their own. */
struct page {
	struct tf_bytes *out;
	struct tf_error *err;
	enum tf_status status;
};

#define PUT(page, ...)                                                                             \
	do {                                                                                           \
		if ((page)->status == TF_OK)                                                               \
			(page)->status = tf_bytes_printf((page)->out, (page)->err, __VA_ARGS__);               \
	} while (0)

static void put_family(struct page *page, const char *name, const char *type, const char *help)
{
	PUT(page, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_uint(
	struct page *page, const char *name, const char *type, const char *help, uint64_t value)
{
	put_family(page, name, type, help);
	PUT(page, "%s %llu\n", name, (unsigned long long)value);
}

static double seconds(int64_t ns)
{
	return (double)ns / (double)TF_NS_PER_S;
}

static void put_group(struct page *page, const struct tf_serve_metrics *metrics)
{
	put_family(page, "tfrun_info", "gauge", "The build and the package that is served.");
	PUT(page, "tfrun_info{version=\"%s\",package_sha256=\"%s\"} 1\n", metrics->version,
		metrics->package_sha256);
	put_uint(page, "tfrun_ready", "gauge", "1 while steps are accepted.", (uint64_t)metrics->ready);
	put_uint(page, "tfrun_world", "gauge", "Ranks of the group.", metrics->world);
	put_uint(page, "tfrun_relocated", "gauge", "1 where the window lies at no preferred base.",
		metrics->relocated);
	put_family(page, "tfrun_rank_up", "gauge", "1 while the rank's process runs.");
	for (uint32_t rank = 0; rank < metrics->world; rank++)
		PUT(page, "tfrun_rank_up{rank=\"%u\"} %u\n", rank, (metrics->ranks_up >> rank) & 1);
	put_uint(page, "tfrun_tunings_total", "counter", "Collectives tuned; never any.", 0);
	put_uint(page, "tfrun_captures_total", "counter", "Graphs captured; never any.", 0);
}

static void put_load(struct page *page, const struct tf_serve_metrics *metrics)
{
	put_family(page, "tfrun_load_seconds", "gauge",
		"Time of each loading phase, the slowest rank's; all: from process start to ready.");
	for (int phase = 0; phase < TF_PHASE_COUNT; phase++)
		PUT(page, "tfrun_load_seconds{phase=\"%s\"} %.9g\n",
			tf_session_phase_name((enum tf_session_phase)phase), seconds(metrics->phase_ns[phase]));
	PUT(page, "tfrun_load_seconds{phase=\"all\"} %.9g\n", seconds(metrics->load_ns));
}

static void put_requests(struct page *page, const struct tf_serve_metrics *metrics)
{
	put_family(page, "tfrun_requests_total", "counter", "Requests to the ranks by outcome.");
	PUT(page, "tfrun_requests_total{outcome=\"done\"} %llu\n",
		(unsigned long long)metrics->requests_done);
	PUT(page, "tfrun_requests_total{outcome=\"refused\"} %llu\n",
		(unsigned long long)metrics->requests_refused);
	PUT(page, "tfrun_requests_total{outcome=\"failed\"} %llu\n",
		(unsigned long long)metrics->requests_failed);
	put_uint(page, "tfrun_requests_waiting", "gauge", "Requests that wait for their turn.",
		metrics->requests_waiting);
}

static void put_histogram(struct page *page, const struct tf_capacity_metrics *metrics)
{
	uint64_t below = 0;

	for (unsigned i = 0; i < TF_STEP_BUCKETS; i++) {
		below += metrics->buckets[i];
		PUT(page, "tfrun_step_seconds_bucket{capacity=\"%u\",le=\"%.9g\"} %llu\n",
			metrics->capacity, seconds(tf_step_bucket_ns[i]), (unsigned long long)below);
	}
	PUT(page, "tfrun_step_seconds_bucket{capacity=\"%u\",le=\"+Inf\"} %llu\n", metrics->capacity,
		(unsigned long long)metrics->steps);
	PUT(page, "tfrun_step_seconds_sum{capacity=\"%u\"} %.9g\n", metrics->capacity,
		seconds(metrics->total_ns));
	PUT(page, "tfrun_step_seconds_count{capacity=\"%u\"} %llu\n", metrics->capacity,
		(unsigned long long)metrics->steps);
}

static void put_steps(struct page *page, const struct tf_serve_metrics *metrics)
{
	put_family(page, "tfrun_steps_total", "counter", "Steps finished, by capacity.");
	for (uint32_t i = 0; i < metrics->capacity_count; i++)
		PUT(page, "tfrun_steps_total{capacity=\"%u\"} %llu\n", metrics->capacities[i].capacity,
			(unsigned long long)metrics->capacities[i].steps);
	put_family(page, "tfrun_step_seconds", "histogram", "Time of a step on rank 0, by capacity.");
	for (uint32_t i = 0; i < metrics->capacity_count; i++)
		put_histogram(page, &metrics->capacities[i]);
}

static void put_writer_family(struct page *page, const struct tf_serve_metrics *metrics,
	const char *name, const char *help, int bytes)
{
	put_family(page, name, "counter", help);
	for (uint32_t rank = 0; rank < metrics->world; rank++) {
		const struct tf_rank_counters *counters = &metrics->counters[rank];
		const uint64_t *values = bytes ? counters->writer_bytes : counters->writer_calls;

		for (int writer = 0; writer < TF_WRITER_COUNT; writer++)
			PUT(page, "%s{rank=\"%u\",writer=\"%s\"} %llu\n", name, rank,
				tf_writer_name((enum tf_writer)writer), (unsigned long long)values[writer]);
	}
}

static void put_writers(struct page *page, const struct tf_serve_metrics *metrics)
{
	put_writer_family(page, metrics, "tfrun_writer_calls_total",
		"Collectives by the writer that ran, counted by the kernels.", 0);
	put_writer_family(page, metrics, "tfrun_writer_bytes_total",
		"Bytes moved to or from peers by each writer, counted by the kernels.", 1);
	put_family(page, "tfrun_barriers_total", "counter", "Barriers inside graphs.");
	for (uint32_t rank = 0; rank < metrics->world; rank++)
		PUT(page, "tfrun_barriers_total{rank=\"%u\"} %llu\n", rank,
			(unsigned long long)metrics->counters[rank].barriers);
}

void tf_serve_metrics_add(struct tf_serve_metrics *metrics, const struct tf_step_report *report)
{
	for (uint32_t i = 0; i < metrics->capacity_count; i++) {
		struct tf_capacity_metrics *capacity = &metrics->capacities[i];

		if (capacity->capacity != report->capacity)
			continue;
		capacity->steps += report->count;
		capacity->total_ns += report->total_ns;
		for (unsigned b = 0; b <= TF_STEP_BUCKETS; b++)
			capacity->buckets[b] += report->buckets[b];
	}
}

enum tf_status tf_serve_metrics_write(
	const struct tf_serve_metrics *metrics, struct tf_bytes *out, struct tf_error *err)
{
	struct page page = {.out = out, .err = err, .status = TF_OK};

	put_group(&page, metrics);
	put_load(&page, metrics);
	put_requests(&page, metrics);
	put_steps(&page, metrics);
	put_writers(&page, metrics);
	return page.status;
}
