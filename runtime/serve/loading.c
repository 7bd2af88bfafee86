/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/serve/loading.h"

#include <string.h>

#include "base/deadline.h"
#include "runtime/serve/bench_job.h"
#include "runtime/serve/drift_job.h"
#include "runtime/serve/ready_report.h"

static uint32_t all_ranks(const struct tf_supervisor *supervisor)
{
	return (UINT32_C(1) << supervisor->crew.world) - 1;
}

static void become_ready(struct tf_supervisor *supervisor)
{
	struct tf_error err = {0};
	enum tf_status status = TF_OK;

	supervisor->ready_ns = tf_now_ns();
	supervisor->state = TF_STATE_READY;
	supervisor->crew.doing = tf_crew_idle;
	event_del(supervisor->bound);
	switch (supervisor->options->mode) {
	case TF_SERVE_HTTP:
		status = tf_ready_report_print(stdout, supervisor, &err);
		break;
	case TF_SERVE_CHECK:
		status = tf_check_report_print(stdout, supervisor, &err);
		break;
	case TF_SERVE_DRIFT:
		status = tf_drift_job_add(supervisor, &err);
		break;
	case TF_SERVE_BENCH:
		status = tf_bench_job_add(supervisor, &err);
		break;
	}
	if (status != TF_OK)
		tf_supervisor_fail(supervisor, &err);
	else if (supervisor->options->mode == TF_SERVE_CHECK)
		tf_supervisor_drain(supervisor, TF_EXIT_DONE);
}

static void look_for_ready(struct tf_supervisor *supervisor)
{
	if (supervisor->ready_ranks == all_ranks(supervisor) &&
		!tf_machine_look_runs(&supervisor->look))
		become_ready(supervisor);
}

void tf_loading_take_machine(
	void *user, const struct tf_served_machine *found, const struct tf_error *why)
{
	struct tf_supervisor *supervisor = user;
	struct tf_error told;

	supervisor->looked_ns = tf_now_ns();
	supervisor->machine = *found;
	if (why) {
		told = *why;
		if (told.status != TF_E_MISFIT)
			tf_error_prefix(&told, "cannot load '%s'", supervisor->options->path);
		tf_supervisor_fail(supervisor, &told);
	} else if (supervisor->held.status != TF_OK) {
		tf_supervisor_fail(supervisor, &supervisor->held);
	} else {
		look_for_ready(supervisor);
	}
}

void tf_loading_take_ready(
	struct tf_supervisor *supervisor, uint32_t rank, const void *data, size_t bytes)
{
	struct tf_rank_ready *ready = &supervisor->readies[rank];
	struct tf_error err;

	if (bytes != sizeof(*ready))
		return;
	memcpy(ready, data, sizeof(*ready));
	if (memcmp(ready->digest, supervisor->view.loaded.digest, sizeof(ready->digest)) != 0) {
		(void)!TF_FAIL(&err, TF_E_MISMATCH,
			"'%s' was replaced while it was loaded: its digest is not the one read first",
			supervisor->options->path);
		tf_supervisor_fail(supervisor, &err);
		return;
	}
	supervisor->metrics.counters[rank] = ready->counters;
	supervisor->ready_ranks |= UINT32_C(1) << rank;
	look_for_ready(supervisor);
}

void tf_loading_fault(struct tf_supervisor *supervisor, const struct tf_error *cause)
{
	if (tf_machine_look_runs(&supervisor->look))
		supervisor->held = *cause;
	else
		tf_supervisor_fail(supervisor, cause);
}

void tf_loading_late(
	const struct tf_supervisor *supervisor, int64_t bound_ns, struct tf_error *out_cause)
{
	long long bound_ms = (long long)(bound_ns / TF_NS_PER_MS);

	if (supervisor->held.status != TF_OK)
		*out_cause = supervisor->held;
	else if (supervisor->ready_ranks == all_ranks(supervisor))
		(void)!TF_FAIL(out_cause, TF_E_TIMEOUT,
			"the links between GPUs could not be read within %lld ms: NVML or the driver does not "
			"answer",
			bound_ms);
	else
		(void)!TF_FAIL(
			out_cause, TF_E_TIMEOUT, "the ranks were not ready within %lld ms", bound_ms);
}
