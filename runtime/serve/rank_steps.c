/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1. All ranks leave an order at the same step: a rank that finds wrong bytes says so at the next
 *    meeting.
 * 2. Only the step itself is timed, neither operands nor comparison.
 */
#include "runtime/serve/rank_steps.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "runtime/session/session_private.h"

/*
 * The ranks make operands of all ranks on shared CPUs; who is stopped is noticed by the supervisor
 * sooner.
 */
#define MEET_TIMEOUTS 10

const int64_t tf_step_bucket_ns[TF_STEP_BUCKETS] = {10000, 25000, 50000, 100000, 250000, 500000,
	1000000, 2500000, 5000000, 10000000, 25000000, 50000000, 100000000, 250000000, 500000000,
	1000000000};

static int compare_times(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static unsigned bucket_of(int64_t ns)
{
	unsigned bucket = 0;

	while (bucket < TF_STEP_BUCKETS && ns > tf_step_bucket_ns[bucket])
		bucket++;
	return bucket;
}

void tf_step_report_times(int64_t *times, uint64_t count, struct tf_step_report *report)
{
	uint64_t shown = count < TF_STEP_TIMES_MAX ? count : TF_STEP_TIMES_MAX;

	memcpy(report->times_ns, times, shown * sizeof(times[0]));
	for (uint64_t i = 0; i < count; i++) {
		report->total_ns += times[i];
		report->buckets[bucket_of(times[i])]++;
	}
	qsort(times, count, sizeof(times[0]), compare_times);
	report->count = count;
	report->min_ns = times[0];
	report->median_ns = times[(count - 1) / 2];
	report->max_ns = times[count - 1];
}

void tf_rank_counters_read(const struct tf_session *session, struct tf_rank_counters *out)
{
	const struct tf_control *control = tf_session_control(session);

	out->steps = tf_session_steps(session);
	memcpy(out->writer_calls, control->writer_calls, sizeof(out->writer_calls));
	memcpy(out->writer_bytes, control->writer_bytes, sizeof(out->writer_bytes));
	out->barriers = control->barriers;
}

static int is_checked(const struct tf_step_order *order, uint64_t i)
{
	return order->check == TF_STEP_CHECK_EVERY ||
		(order->check == TF_STEP_CHECK_LAST && i == order->count - 1);
}

/* Operands and poisoned outputs, all of it done when the ranks meet. */
static enum tf_status make_ready(
	struct tf_session *session, const struct tf_step_order *order, uint64_t i, struct tf_error *err)
{
	if (!order->kept && (i == 0 || order->check == TF_STEP_CHECK_EVERY))
		TF_TRY(tf_session_fill(session, order->rows, order->seed + i, err));
	if (!is_checked(order, i))
		return TF_OK;
	tf_session_poison(session, order->rows);
	return session->ops->stream_wait(
		session->stream, tf_deadline_after(MEET_TIMEOUTS * session->timeout_ns), err);
}

static enum tf_status meet(
	struct tf_session *session, const struct tf_error *mine, struct tf_error *err)
{
	return tf_link_agree_ok(
		session->link, mine, tf_deadline_after(MEET_TIMEOUTS * session->timeout_ns), err);
}

static enum tf_status run_one(struct tf_session *session, const struct tf_step_order *order,
	uint64_t i, int64_t *out_ns, struct tf_error *mine, struct tf_error *err)
{
	int checked = is_checked(order, i);
	int64_t begin;

	if (mine->status == TF_OK)
		(void)!make_ready(session, order, i, mine);
	if (checked || i == 0)
		TF_TRY(meet(session, mine, err));
	begin = tf_now_ns();
	TF_TRY(tf_session_step(session, order->rows, err));
	*out_ns = tf_now_ns() - begin;
	if (checked)
		(void)!tf_session_compare(session, order->rows, mine);
	return TF_OK;
}

enum tf_status tf_rank_steps_run(struct tf_session *session, const struct tf_step_order *order,
	struct tf_rank_voice *voice, struct tf_step_report *out, struct tf_error *err)
{
	int64_t *times = tf_calloc(order->count, sizeof(times[0]));
	struct tf_error mine = {0};
	struct tf_step_report report;
	enum tf_status status = TF_OK;

	memset(&report, 0, sizeof(report));
	if (!times)
		(void)!TF_FAIL(&mine, TF_E_NO_MEMORY, "no memory for the times of %llu steps",
			(unsigned long long)order->count);
	for (uint64_t i = 0; status == TF_OK && times && i < order->count; i++) {
		status = run_one(session, order, i, &times[i], &mine, err);
		report.checked += (uint64_t)is_checked(order, i);
		tf_rank_voice_done(voice, i + 1);
	}
	if (status == TF_OK)
		status = meet(session, &mine, err);
	if (status == TF_OK)
		status = tf_session_capacity_for(session, order->rows, &report.capacity, err);
	if (status == TF_OK) {
		tf_step_report_times(times, order->count, &report);
		tf_rank_counters_read(session, &report.counters);
		*out = report;
	}
	tf_rank_voice_done(voice, 0);
	tf_free(times);
	return status;
}
