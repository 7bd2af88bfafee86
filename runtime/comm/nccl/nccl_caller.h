/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NCCL as the caller of a program's COMM nodes (device/comm_caller.h): a communicator of this rank
 * and, for each group of the program, the collective that it stands for.
 *
 *   open --calls are enqueued, captured, waited for--> close
 *
 * Calls are captured on the blocking split, so all ranks must be on one host. A captured call waits
 * for its peers without a bound of its own: who launches a graph that holds one waits for it with
 * tf_nccl_caller_wait, which ends the communicator, and with it the call, where it is late.
 */
#ifndef TF_RUNTIME_COMM_NCCL_NCCL_CALLER_H
#define TF_RUNTIME_COMM_NCCL_NCCL_CALLER_H

#include "catalog/program.h"
#include "runtime/comm/nccl/nccl_communicator.h"
#include "runtime/device/comm_caller.h"
#include "runtime/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Everything is borrowed until close. */
struct tf_nccl_caller_options {
	struct tf_link *link;
	int64_t timeout_ns;
	const struct tf_program *program; /* its groups; may get more rows elsewhere meanwhile */
	const struct tf_device_ops *ops;
	struct tf_device *device;
	/* As in the communicator's options; with `user`. Not NULL where ranks rely on each other. */
	void (*ending)(void *user);
	void *user;
};

struct tf_nccl_caller;

/*
 * Collective, bounded by four times the timeout (twice for whether every rank's NCCL will do, twice
 * for its start-up), and where it fails by TF_NCCL_END_NS more. TF_E_UNAVAILABLE: no NCCL, one that
 * cannot use this device's memory, or ranks that are not on one host, and why; else as
 * tf_nccl_communicator_open.
 */
TF_WARN_UNUSED enum tf_status tf_nccl_caller_open(const struct tf_nccl_caller_options *options,
	struct tf_nccl_caller **out, struct tf_error *err);

/* What streams and graphs call; ends with the caller. */
struct tf_comm_caller *tf_nccl_caller_of(struct tf_nccl_caller *caller);
const struct tf_nccl_facts *tf_nccl_caller_facts(const struct tf_nccl_caller *caller);

/*
 * Waits for what is on `stream`, at most `bound_ns`. Late, failed, or a peer gone: the communicator
 * has ended, the stream's calls are sent back, and every later call returns the same error. On the
 * host a call bounds itself.
 */
TF_WARN_UNUSED enum tf_status tf_nccl_caller_wait(struct tf_nccl_caller *caller,
	struct tf_stream *stream, int64_t bound_ns, struct tf_error *err);

/* Ends it for `why`; takes NULL. Calls that run are sent back. */
void tf_nccl_caller_abort(struct tf_nccl_caller *caller, const struct tf_error *why);

/*
 * Behind the last graph that holds a call. Takes NULL. Statuses as tf_nccl_communicator_close;
 * TF_E_TIMEOUT: the device, the memory that calls were given and `user` stay until the process
 * ends.
 */
TF_WARN_UNUSED enum tf_status tf_nccl_caller_close(
	struct tf_nccl_caller *caller, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
