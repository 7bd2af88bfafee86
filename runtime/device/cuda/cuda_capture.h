/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures by the driver: what another library enqueues on a stream of ours becomes a graph that is
 * launched as ours are. No type of CUDA's stands here, so that callers need no header of it.
 *
 *   idle --begin--> capturing --end--> idle
 *
 * While it lasts, launches, copies and sets of the device's own table on the same stream become
 * nodes too, in the order of their calls. No tap may be set.
 */
#ifndef TF_RUNTIME_DEVICE_CUDA_CUDA_CAPTURE_H
#define TF_RUNTIME_DEVICE_CUDA_CUDA_CAPTURE_H

#include "runtime/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The stream's CUstream (also a cudaStream_t), for another library's calls on this thread, and
 * makes the stream's context current on it, which is the device's primary one. Borrowed.
 */
TF_WARN_UNUSED enum tf_status tf_cuda_capture_stream(
	struct tf_stream *stream, void **out_native, struct tf_error *err);

/*
 * Captures in the mode of this thread: calls that must not happen in a capture fail on this thread
 * and stay allowed on others. TF_E_SYSTEM: the stream is capturing already.
 */
TF_WARN_UNUSED enum tf_status tf_cuda_capture_begin(struct tf_stream *stream, struct tf_error *err);

/*
 * Ends the capture in any case. *out is built, uploaded, and destroyed with graph_destroy of the
 * table, before whatever it calls into is. TF_E_SYSTEM: a call broke the capture, or the driver
 * refuses the graph; TF_E_NO_MEMORY.
 */
TF_WARN_UNUSED enum tf_status tf_cuda_capture_end(
	struct tf_stream *stream, struct tf_exec **out, struct tf_error *err);
/* Ends a capture of which nothing is wanted. */
void tf_cuda_capture_cancel(struct tf_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
