/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rank at preparation: its device, window, stream and loaded kernels, and the program in the
 * making. What tuning, capture and export share; the memory in it is released before export ends.
 */
#ifndef TF_PREPARE_TUNE_BENCH_RANK_H
#define TF_PREPARE_TUNE_BENCH_RANK_H

#include "catalog/program.h"
#include "prepare/workload/foreign.h"
#include "runtime/collective/control.h"
#include "runtime/comm/nccl/nccl_caller.h"
#include "runtime/graph/rebuild.h"
#include "runtime/graph/rebuild_modules.h"
#include "runtime/link/link.h"
#include "runtime/session/rank_memory.h"
#include "runtime/session/rank_window.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Called on rank 0 only: `done` of `total` units of `what` ("verify", "sample") are finished. */
typedef void (*tf_progress_fn)(void *user, const char *what, uint64_t done, uint64_t total);

struct tf_bench_rank {
	struct tf_link *link; /* borrowed */
	int64_t timeout_ns;
	struct tf_program *program; /* borrowed, planned */
	/* of the workload, loaded (tf_foreign_load) and planned (tf_plan_foreign); borrowed; or NULL */
	const struct tf_foreign *foreign;
	const struct tf_device_ops *ops;
	struct tf_device *device;
	struct tf_stream *stream;
	struct tf_rank_window window;
	struct tf_rank_memory memory;
	struct tf_rebuild_modules modules;
	struct tf_rebuild_target target;
	struct tf_nccl_caller *nccl; /* where a candidate is NCCL's; else NULL */
	uint32_t launch_flags;       /* of collectives: TF_LAUNCH_PROGRAMMATIC or 0 */
	int unbelieved;          /* why opening failed: the proof of peer access, on all ranks alike */
	tf_progress_fn progress; /* or NULL */
	void *progress_user;
};

/*
 * Opens the window for program->layout on an opened device, loads the kernels, and opens NCCL where
 * a candidate is its (identity TF_NCCL_SAMPLES_KEY says which). `rank` holds
 * link, timeout_ns, program, ops and device already (device is taken). Collective; all ranks
 * succeed or fail together.
 */
TF_WARN_UNUSED enum tf_status tf_bench_rank_open(struct tf_bench_rank *rank, struct tf_error *err);
void tf_bench_rank_close(struct tf_bench_rank *rank);

/* TF_OK unless a kernel of this rank has recorded a fault; the text names group and peer. */
TF_WARN_UNUSED enum tf_status tf_bench_rank_fault(
	const struct tf_bench_rank *rank, struct tf_error *err);

/*
 * Waits for the stream, at most `bound_ns`. `calls_library`: what runs may hold calls of NCCL's,
 * which have no bound of their own; if they are late, the communicator ends, and every later call
 * fails.
 */
TF_WARN_UNUSED enum tf_status tf_bench_rank_wait(
	struct tf_bench_rank *rank, int calls_library, int64_t bound_ns, struct tf_error *err);

/* Protocol memory back to its first state, then a fence across ranks. Collective. */
TF_WARN_UNUSED enum tf_status tf_bench_rank_reset(struct tf_bench_rank *rank, struct tf_error *err);

/* Enqueues one call of a group by candidate `slot` on operand pair `pair`. `mask` may be NULL. */
TF_WARN_UNUSED enum tf_status tf_bench_rank_launch(struct tf_bench_rank *rank, uint32_t slot,
	uint32_t pair, const uint32_t *mask, struct tf_error *err);

/*
 * Enqueues a kernel of the startup graph by name with its argument struct. `input` (a buffer's
 * index, or TF_PROGRAM_NONE) is what "sample_begin" dirties.
 */
TF_WARN_UNUSED enum tf_status tf_bench_rank_launch_startup(struct tf_bench_rank *rank,
	const char *kernel, uint32_t slot, uint32_t pass, uint32_t input, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
