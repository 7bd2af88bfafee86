/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capture: what is enqueued on a stream between begin and end becomes a graph of the program
 * instead of running. On the host the stream's tap hands over each operation; every address
 * becomes (peer, offset), and equal launches are stored once.
 *
 *   idle --tf_capture_begin--> capturing --tf_capture_end--> idle
 *
 * A failed operation makes the end fail.
 */
#ifndef TF_PREPARE_CAPTURE_CAPTURE_H
#define TF_PREPARE_CAPTURE_CAPTURE_H

#include "catalog/program.h"
#include "runtime/graph/rebuild.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_capture;

/*
 * Captures from `stream` into `program`, whose kernels `target` has loaded (target->kernels[i] is
 * program->kernels[i]). Both borrowed until the end.
 * TF_E_USAGE without package storage (program NULL): nothing captured could be shipped.
 */
TF_WARN_UNUSED enum tf_status tf_capture_begin(struct tf_program *program,
	const struct tf_rebuild_target *target, struct tf_stream *stream, enum tf_graph_kind kind,
	uint32_t capacity, struct tf_capture **out, struct tf_error *err);

/*
 * Ends the capture and appends the graph: nodes in stream order, each depending on the one
 * before. TF_E_INVALID: an operation was refused; names node, kernel, argument and value ("node
 * 3: all_reduce_one_shot_ll: output: 0x1234 lies outside the window"). Takes the capture in any
 * case.
 */
TF_WARN_UNUSED enum tf_status tf_capture_end(struct tf_capture *capture, struct tf_error *err);

/* Gives up without appending; takes NULL. */
void tf_capture_cancel(struct tf_capture *capture);

#ifdef __cplusplus
}
#endif
#endif
