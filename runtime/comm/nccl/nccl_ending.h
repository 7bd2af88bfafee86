/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of a communicator: its state, the calls that run on threads of their own, and its end.
 *
 * 1. `fault` is set once, under `lock`; `has_ended` follows it and is what the fast path reads.
 * 2. Whoever touches the parent outside a call does so under `lock` and only without a fault: the
 *    watcher aborts, and frees, after it has set the fault under the same lock.
 * 3. `call_deadline_ns` is armed around every call on the user's thread. The split is freed only
 *    while it is not armed and no call runs on a thread of its own.
 */
#ifndef TF_RUNTIME_COMM_NCCL_NCCL_ENDING_H
#define TF_RUNTIME_COMM_NCCL_NCCL_ENDING_H

#include <pthread.h>

#include "runtime/comm/nccl/nccl_communicator.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_nccl_communicator;
typedef enum tf_status (*tf_nccl_call_fn)(struct tf_nccl_communicator *comm, struct tf_error *err);

struct tf_nccl_communicator {
	struct tf_nccl_communicator_options options;
	int rank, world; /* the link's: a thread that is left behind must not ask the link */
	const struct tf_nccl_api *api;
	struct tf_nccl_facts facts;
	struct tf_nccl_unique_id id;
	struct tf_nccl_comm *parent, *split; /* NCCL writes here, also later: __atomic access */
	uint32_t graphs;
	int is_open; /* collectives may run; under the lock */
	int is_left; /* whoever closed it left it behind, and options.user may be gone; so too */

	pthread_mutex_t lock;
	pthread_cond_t changed;   /* CLOCK_MONOTONIC */
	struct tf_error fault;    /* status TF_OK: none */
	int has_ended;            /* __atomic */
	int64_t call_deadline_ns; /* __atomic; TF_DEADLINE_NEVER: no call runs */

	pthread_t watcher, caller;
	int watcher_runs, caller_runs; /* to be joined */
	int watcher_ends;              /* it is to go without an abort */
	int watcher_gone;              /* it is through, and with it the abort */
	tf_nccl_call_fn call;
	int call_runs;
	struct tf_error call_error;
};

/* Lock, condition and watcher. TF_E_SYSTEM. */
TF_WARN_UNUSED enum tf_status tf_nccl_ending_init(
	struct tf_nccl_communicator *comm, struct tf_error *err);

/*
 * Joins what is through and frees. 0: something inside NCCL is not, and all is left behind.
 */
int tf_nccl_ending_fini(struct tf_nccl_communicator *comm, int64_t deadline_ns);

/* No collective runs any more: an end from now on is told to no peer. One that has begun is. */
void tf_nccl_ending_quiet(struct tf_nccl_communicator *comm);

/* Sets the fault if there is none and starts the abort. */
void tf_nccl_ending_begin(struct tf_nccl_communicator *comm, const struct tf_error *why);

/* Starts it, waits for it at most TF_NCCL_END_NS where no graph holds it up. Returns the fault. */
enum tf_status tf_nccl_ending_give_up(
	struct tf_nccl_communicator *comm, const struct tf_error *why, struct tf_error *err);

/* TF_OK, or the fault. */
enum tf_status tf_nccl_ending_check(struct tf_nccl_communicator *comm, struct tf_error *err);

/* The state of a communicator of NCCL's, TF_NCCL_IN_PROGRESS among them; or the fault. */
TF_WARN_UNUSED enum tf_status tf_nccl_ending_poll(struct tf_nccl_communicator *comm,
	struct tf_nccl_comm *which, int *out_result, struct tf_error *err);

/*
 * Runs `call` on a thread of its own and waits until the deadline, if `minds_link` looking at the
 * link meanwhile. `late` is what it says then. When it fails, the communicator has begun to end.
 */
TF_WARN_UNUSED enum tf_status tf_nccl_ending_call(struct tf_nccl_communicator *comm,
	tf_nccl_call_fn call, const char *late, int minds_link, int64_t deadline_ns,
	struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
