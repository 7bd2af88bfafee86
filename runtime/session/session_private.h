/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a session, shared by the files of this folder. */
#ifndef TF_RUNTIME_SESSION_SESSION_PRIVATE_H
#define TF_RUNTIME_SESSION_SESSION_PRIVATE_H

#include "runtime/comm/nccl/nccl_caller.h"
#include "runtime/graph/rebuild.h"
#include "runtime/graph/rebuild_modules.h"
#include "runtime/session/loaded_package.h"
#include "runtime/session/rank_memory.h"
#include "runtime/session/rank_window.h"
#include "runtime/session/session.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_session {
	struct tf_link *link; /* borrowed */
	int64_t timeout_ns;
	uint32_t rank, world;
	uint32_t capacity_max;
	struct tf_loaded_package package;
	int startup_loaded;
	int package_borrowed; /* its arrays belong to whoever loaded it */
	const struct tf_device_ops *ops;
	struct tf_device *device;
	struct tf_stream *stream;
	struct tf_device_properties properties;
	uint32_t context_ranks; /* of the group, in this process and its device's context: 1 or more */
	struct tf_rank_window window;
	struct tf_rank_memory memory;
	struct tf_control *control_copy; /* for devices whose control words must be copied to be read */
	struct tf_rebuild_modules modules;
	uint8_t *calls_nccl;         /* (program.graph_count): this load builds it, and it does */
	int needs_nccl;              /* one of them */
	struct tf_nccl_caller *nccl; /* open where it is needed */
	struct tf_exec **execs;      /* (program.graph_count); NULL where not loaded */
	uint64_t steps;
	int64_t phase_ns[TF_PHASE_COUNT];
	uint32_t enqueued;      /* on the host device: steps that wait for tf_session_status */
	struct tf_error failed; /* once set, every call returns it */

	/*
	 * what the outputs of `expected_capacity` must be, in the order of the program's output
	 * buffers
	 */
	uint8_t *expected;
	uint64_t expected_bytes;
	uint8_t *streams[TF_DTYPE_COUNT]; /* (world, stream_count) operands of stream_seed */
	uint64_t stream_count, stream_seed;
	uint32_t expected_capacity;
	uint64_t expected_seed;
	uint8_t *found; /* outputs copied from a device that the CPU cannot address */
	uint64_t found_bytes;
};

/* Opens options->device, and the stream on it. */
TF_WARN_UNUSED enum tf_status tf_session_open_device(
	struct tf_session *session, const struct tf_session_options *options, struct tf_error *err);

/* Sets context_ranks. Collective. */
TF_WARN_UNUSED enum tf_status tf_session_count_neighbours(
	struct tf_session *session, int64_t deadline, struct tf_error *err);

/* Whether this load builds the graph. */
int tf_session_wants(
	const struct tf_session *session, const struct tf_session_options *options, uint32_t graph);

/*
 * NCCL, where a graph that is loaded calls it; else each is nothing.
 * find: which do, once the package is read; TF_E_NO_MEMORY. check: TF_E_UNAVAILABLE, or TF_E_MISFIT
 * where its version is not the package's. bound: what opening may take on top of a timeout. open:
 * collective; statuses as tf_nccl_caller_open.
 */
TF_WARN_UNUSED enum tf_status tf_session_library_find(
	struct tf_session *session, const struct tf_session_options *options, struct tf_error *err);
TF_WARN_UNUSED enum tf_status tf_session_library_check(
	const struct tf_session *session, struct tf_error *err);
int64_t tf_session_library_bound(int64_t timeout_ns);
TF_WARN_UNUSED enum tf_status tf_session_library_open(
	struct tf_session *session, struct tf_error *err);

/* The graph of a capacity, or TF_PROGRAM_NONE. */
uint32_t tf_session_graph_of(const struct tf_session *session, uint32_t capacity);

/*
 * Launches one graph and waits; turns a kernel's fault into an error that names rank, group and
 * peer.
 */
enum tf_status tf_session_run(
	struct tf_session *session, struct tf_exec *exec, int64_t deadline_ns, struct tf_error *err);

/*
 * The lanes that this session's graphs use: all of them with the startup graph, else those of the
 * picks.
 */
struct tf_layout tf_session_layout_in_use(const struct tf_session *session);

/* Resets control words and protocol memory and fences all ranks. Collective. */
enum tf_status tf_session_reset_protocol(
	struct tf_session *session, int64_t deadline_ns, struct tf_error *err);

/*
 * One step of every loaded capacity, bytewise, all ranks agreeing on the outcome. Collective: a
 * rank where it is not wanted takes part in the agreements alone.
 */
TF_WARN_UNUSED enum tf_status tf_session_probe(
	struct tf_session *session, int is_wanted, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
