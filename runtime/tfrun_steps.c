/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public calls that run steps. On success nothing is written but what the step does, so that
 * the error, a kilobyte of text, costs nothing.
 */
#include "runtime/tfrun_private.h"

#include "runtime/device/caller_context.h"

enum tfrun_status tfrun_capacity_for(const struct tfrun_session *session, uint64_t rows,
	uint32_t *out_capacity, struct tfrun_error *error)
{
	struct tf_error err = {0};
	enum tf_status status = tf_session_capacity_for(session->inner, rows, out_capacity, &err);

	return tf_tfrun_hand_over(status, &err, error);
}

static enum tfrun_status told(
	enum tf_status status, const struct tf_error *err, struct tfrun_error *error)
{
	return status == TF_OK ? TFRUN_OK : tf_tfrun_hand_over(status, err, error);
}

enum tfrun_status tfrun_step(
	struct tfrun_session *session, uint64_t rows, struct tfrun_error *error)
{
	struct tf_caller_context caller;
	enum tf_status status;
	struct tf_error err;

	err.status = TF_OK;
	tf_caller_context_note(&caller);
	status = tf_session_step(session->inner, rows, &err);
	tf_caller_context_put_back(&caller);
	return told(status, &err, error);
}

enum tfrun_status tfrun_step_enqueue(
	struct tfrun_session *session, uint64_t rows, void *stream, struct tfrun_error *error)
{
	struct tf_caller_context caller;
	enum tf_status status;
	struct tf_error err;

	err.status = TF_OK;
	tf_caller_context_note(&caller);
	status = tf_session_enqueue(session->inner, rows, stream, &err);
	tf_caller_context_put_back(&caller);
	return told(status, &err, error);
}

enum tfrun_status tfrun_step_status(struct tfrun_session *session, struct tfrun_error *error)
{
	struct tf_caller_context caller;
	enum tf_status status;
	struct tf_error err;

	err.status = TF_OK;
	tf_caller_context_note(&caller);
	status = tf_session_status(session->inner, &err);
	tf_caller_context_put_back(&caller);
	return told(status, &err, error);
}

enum tfrun_status tfrun_check(
	struct tfrun_session *session, uint64_t rows, struct tfrun_error *error)
{
	struct tf_caller_context caller;
	struct tf_error err = {0};
	enum tf_status status;

	tf_caller_context_note(&caller);
	status = tf_session_check(session->inner, rows, &err);
	tf_caller_context_put_back(&caller);
	return tf_tfrun_hand_over(status, &err, error);
}
