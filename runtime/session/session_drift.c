/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drift: the packaged startup graph, replayed on this machine. The first launch samples every
 * candidate that was not struck out at export; the mask that it leaves and the selectors of the
 * program stay unused.
 */
#include "runtime/session/session_private.h"

#include <string.h>

#include "base/deadline.h"
#include "runtime/collective/collective.h"
#include "runtime/collective/startup.h"

/* One launch holds tens of thousands of bounded waits. */
#define DRIFT_TIMEOUTS 150

static uint32_t startup_graph(const struct tf_session *session)
{
	for (uint32_t i = 0; i < session->package.program.graph_count; i++) {
		if (session->package.program.graphs[i].kind == TF_GRAPH_STARTUP && session->execs[i])
			return i;
	}
	return TF_PROGRAM_NONE;
}

enum tf_status tf_session_drift(
	struct tf_session *session, uint64_t *out_samples, struct tf_error *err)
{
	const struct tf_program *program = &session->package.program;
	uint8_t *storage = tf_rank_window_at(&session->window, 0, program->layout.startup_off);
	size_t bytes = (size_t)program->candidate_count * TF_PASSES * sizeof(out_samples[0]);
	int64_t bound = DRIFT_TIMEOUTS * session->timeout_ns;
	uint32_t graph = startup_graph(session);
	const char *clock = tf_program_identity(program, "samples.clock");
	const char *links = tf_program_identity(program, "links");
	uint64_t maximum;

	if (clock && !strcmp(clock, "virtual"))
		return TF_FAIL(err, TF_E_UNSUPPORTED,
			"the package's samples are of emulated links '%s'; no machine's own can be held "
			"against them",
			links ? links : "");
	if (graph == TF_PROGRAM_NONE)
		return TF_FAIL(err, TF_E_NOT_FOUND, "the package's startup graph is not loaded");
	TF_TRY(tf_rank_memory_prepare_startup(&session->memory, program, err));
	TF_TRY(tf_session_reset_protocol(session, tf_deadline_after(session->timeout_ns), err));
	TF_TRY(tf_session_run(session, session->execs[graph], tf_deadline_after(bound), err));
	tf_startup_places(
		program->group_count, program->candidate_count, NULL, NULL, &maximum, NULL, NULL);
	TF_TRY(session->ops->read(session->device, out_samples, storage + maximum, bytes, err));
	return tf_session_reset_protocol(session, tf_deadline_after(session->timeout_ns), err);
}
