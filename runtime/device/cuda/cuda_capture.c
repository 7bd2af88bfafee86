/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver's description of a captured graph ends with the capture; what is kept is executable.
 */
#include "runtime/device/cuda/cuda_capture.h"

#include "runtime/device/cuda/cuda_graph.h"
#include "runtime/device/cuda/cuda_stream.h"

enum tf_status tf_cuda_capture_stream(
	struct tf_stream *stream, void **out_native, struct tf_error *err)
{
	TF_TRY(tf_cuda_context_enter(tf_cuda_stream_context(stream), err));
	*out_native = tf_cuda_stream_native(stream);
	return TF_OK;
}

enum tf_status tf_cuda_capture_begin(struct tf_stream *stream, struct tf_error *err)
{
	const struct tf_cuda_context *context = tf_cuda_stream_context(stream);
	CUstream native = tf_cuda_stream_native(stream);

	TF_TRY(tf_cuda_context_enter(context, err));
	return TF_CU(
		context->api, err, cuStreamBeginCapture(native, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
}

enum tf_status tf_cuda_capture_end(
	struct tf_stream *stream, struct tf_exec **out, struct tf_error *err)
{
	struct tf_cuda_context *context = tf_cuda_stream_context(stream);
	CUgraph graph = NULL;
	enum tf_status status;

	TF_TRY(tf_cuda_context_enter(context, err));
	TF_TRY(tf_cuda_context_end_capture(context, tf_cuda_stream_native(stream), &graph, err));
	status = tf_cuda_exec_of_capture(context, graph, out, err);
	(void)context->api->cuGraphDestroy(graph);
	return status;
}

void tf_cuda_capture_cancel(struct tf_stream *stream)
{
	const struct tf_cuda_context *context = tf_cuda_stream_context(stream);
	CUgraph graph = NULL;

	if (tf_cuda_context_enter(context, NULL) == TF_OK &&
		tf_cuda_context_end_capture(context, tf_cuda_stream_native(stream), &graph, NULL) == TF_OK)
		(void)context->api->cuGraphDestroy(graph);
}
