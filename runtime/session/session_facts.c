/* SPDX-License-Identifier: Apache-2.0 */
/* What an open session says of itself; nothing here changes it. */
#include <string.h>

#include "runtime/session/session_private.h"

const struct tf_program *tf_session_program(const struct tf_session *session)
{
	return &session->package.program;
}

uint32_t tf_session_rank(const struct tf_session *session)
{
	return session->rank;
}

uint64_t tf_session_base(const struct tf_session *session)
{
	return session->window.base;
}

int tf_session_relocated(const struct tf_session *session)
{
	return session->window.relocated;
}

uint64_t tf_session_steps(const struct tf_session *session)
{
	return session->steps;
}

int64_t tf_session_phase_ns(const struct tf_session *session, enum tf_session_phase phase)
{
	return (unsigned)phase < TF_PHASE_COUNT ? session->phase_ns[phase] : 0;
}

const struct tf_control *tf_session_control(const struct tf_session *session)
{
	return tf_rank_memory_control(&session->memory, 0, session->control_copy);
}

uint32_t tf_session_idle_members(const struct tf_session *session, const char **out_names)
{
	*out_names = session->package.idle_text;
	return session->package.idle_members;
}

const uint8_t *tf_session_digest(const struct tf_session *session)
{
	return session->package.digest;
}

void *tf_session_buffer_data(const struct tf_session *session, uint32_t buffer)
{
	return tf_rank_window_at(
		&session->window, 0, session->package.program.buffers[buffer].segment_off);
}

int32_t tf_session_cuda_device(const struct tf_session *session)
{
	return strcmp(session->properties.kind, "cuda") ? -1 : (int32_t)session->properties.ordinal;
}
