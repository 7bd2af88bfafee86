/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL in a session: whether a loaded graph calls it, which version it must be, and its opening. */
#include "runtime/session/session_private.h"

#include <string.h>

#include "base/alloc.h"

#define START_TIMEOUTS 4 /* the agreement before NCCL's start-up, and the start-up: two each */

enum tf_status tf_session_library_find(
	struct tf_session *session, const struct tf_session_options *options, struct tf_error *err)
{
	const struct tf_program *program = &session->package.program;

	session->calls_nccl = tf_calloc(program->graph_count, sizeof(session->calls_nccl[0]));
	if (!session->calls_nccl)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %u graphs", program->graph_count);
	for (uint32_t i = 0; i < program->graph_count; i++) {
		session->calls_nccl[i] =
			tf_session_wants(session, options, i) && tf_graph_calls_library(&program->graphs[i]);
		session->needs_nccl |= session->calls_nccl[i];
	}
	return TF_OK;
}

/* Its bytes were proven equal to ours with one version; another may sum in another order. */
enum tf_status tf_session_library_check(const struct tf_session *session, struct tf_error *err)
{
	const char *wanted = tf_program_identity(&session->package.program, TF_NCCL_KEY);
	const struct tf_nccl_api *api = NULL;
	char found[TF_NCCL_VERSION_BYTES];

	if (!session->needs_nccl)
		return TF_OK;
	if (!wanted)
		return TF_FAIL(err, TF_E_INVALID,
			"the package's graphs call NCCL, and its identity names no " TF_NCCL_KEY);
	if (tf_nccl_api_open(&api, err) != TF_OK) {
		tf_error_prefix(err, "the package's graphs call NCCL %s", wanted);
		return TF_E_UNAVAILABLE;
	}
	if (strcmp(tf_nccl_version_text(api->version, found), wanted) != 0)
		return TF_FAIL(err, TF_E_MISFIT,
			"the package does not fit this machine: " TF_NCCL_KEY ": package '%s', machine '%s'",
			wanted, found);
	return TF_OK;
}

int64_t tf_session_library_bound(int64_t timeout_ns)
{
	return START_TIMEOUTS * timeout_ns;
}

enum tf_status tf_session_library_open(struct tf_session *session, struct tf_error *err)
{
	struct tf_nccl_caller_options wanted = {
		.link = session->link,
		.timeout_ns = session->timeout_ns,
		.program = &session->package.program,
		.ops = session->ops,
		.device = session->device,
		.ending = tf_rank_memory_ending,
		.user = &session->memory,
	};

	if (!session->needs_nccl)
		return TF_OK;
	return tf_nccl_caller_open(&wanted, &session->nccl, err);
}
