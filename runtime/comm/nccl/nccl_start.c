/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   one host? - settings - the library, the same on all ranks - id - parent - split - all are there
 *
 * The ranks agree after every step that may fail on one of them, so that nobody enters the next
 * collective call of NCCL's alone; all of it under one deadline.
 */
#include "runtime/comm/nccl/nccl_start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/deadline.h"
#include "runtime/comm/nccl/host_agreement.h"

#define POLL_US 200 /* start-ups take tens of milliseconds */

/* Sets a variable where the environment has none; says what NCCL will find. */
static void settle_variable(const char *name, const char *value, int may_set, char *out)
{
	const char *found = getenv(name);

	if (found)
		snprintf(out, TF_NCCL_SETTING_BYTES, "%.40s (environment)", found);
	else if (may_set && setenv(name, value, 0) == 0)
		snprintf(out, TF_NCCL_SETTING_BYTES, "%s (set here)", value);
	else
		snprintf(out, TF_NCCL_SETTING_BYTES, "unset");
}

static void settle_settings(struct tf_nccl_facts *facts)
{
	settle_variable("NCCL_RUNTIME_CONNECT", "0", facts->one_host, facts->runtime_connect);
	settle_variable("NCCL_GRAPH_REGISTER", "0", facts->one_host, facts->graph_register);
}

static enum tf_status open_library(
	struct tf_nccl_communicator *comm, int64_t deadline_ns, struct tf_error *err)
{
	struct tf_error local = {0};

	(void)!tf_nccl_api_open(&comm->api, &local);
	TF_TRY(tf_link_agree_ok(comm->options.link, &local, deadline_ns, err));
	comm->facts.version = comm->api->version;
	return tf_link_agree_equal(comm->options.link, "the version of NCCL", &comm->facts.version,
		sizeof(comm->facts.version), deadline_ns, err);
}

static enum tf_status make_id(struct tf_nccl_communicator *comm, struct tf_error *err)
{
	return TF_NCCL(comm->api, err, ncclGetUniqueId(&comm->id));
}

/* Until the parent is through with what it began. */
static enum tf_status poll_parent(
	struct tf_nccl_communicator *comm, int result, struct tf_error *err)
{
	struct tf_nccl_comm *parent = __atomic_load_n(&comm->parent, __ATOMIC_ACQUIRE);

	while (result == TF_NCCL_IN_PROGRESS) {
		TF_TRY(tf_nccl_ending_poll(comm, parent, &result, err));
		if (result == TF_NCCL_IN_PROGRESS)
			usleep(POLL_US);
	}
	return TF_OK;
}

static enum tf_status make_parent(struct tf_nccl_communicator *comm, struct tf_error *err)
{
	struct tf_nccl_config config = TF_NCCL_CONFIG_DEFAULT;
	int world = comm->world, rank = comm->rank, result;

	config.blocking = 0;
	config.split_share = 1; /* of its splits: NCCL asks the parent's configuration, not theirs */
	result = comm->api->ncclCommInitRankConfig(&comm->parent, world, comm->id, rank, &config);
	TF_TRY(tf_nccl_check(comm->api, result, "ncclCommInitRankConfig", err, __FILE__, __LINE__));
	if (!__atomic_load_n(&comm->parent, __ATOMIC_ACQUIRE))
		return TF_FAIL(err, TF_E_SYSTEM, "ncclCommInitRankConfig left no communicator");
	return poll_parent(comm, result, err);
}

/*
 * The child of a non-blocking parent is made behind the call, which returns ncclSuccess once it
 * has begun (2.28: what its group answers, ncclInProgress, stops there). The parent's state says
 * that it is made, or why it is not, and only then the child counts. A parent that is aborted at
 * the deadline ends this, too.
 */
static enum tf_status poll_split(
	struct tf_nccl_communicator *comm, struct tf_nccl_comm *parent, struct tf_error *err)
{
	int result;

	do {
		usleep(POLL_US);
		TF_TRY(tf_nccl_ending_poll(comm, parent, &result, err));
	} while (result == TF_NCCL_IN_PROGRESS || !__atomic_load_n(&comm->split, __ATOMIC_ACQUIRE));
	return TF_OK;
}

static enum tf_status make_split(struct tf_nccl_communicator *comm, struct tf_error *err)
{
	struct tf_nccl_config config = TF_NCCL_CONFIG_DEFAULT;
	struct tf_nccl_comm *parent = __atomic_load_n(&comm->parent, __ATOMIC_ACQUIRE);
	int rank = comm->rank, result;

	config.blocking = 1;
	result = comm->api->ncclCommSplit(parent, 0, rank, &comm->split, &config);
	TF_TRY(tf_nccl_check(comm->api, result, "ncclCommSplit", err, __FILE__, __LINE__));
	return poll_split(comm, parent, err);
}

/* Causes before consequences: a peer's failure is why a rank here waited in vain. */
static enum tf_status agree(struct tf_nccl_communicator *comm, const struct tf_error *local,
	int64_t deadline_ns, struct tf_error *err)
{
	int is_late = local->status == TF_E_TIMEOUT;

	TF_TRY(tf_link_agree_ok(comm->options.link, is_late ? NULL : local, deadline_ns, err));
	return tf_link_agree_ok(comm->options.link, is_late ? local : NULL, deadline_ns, err);
}

/* One step that every rank makes, and the agreement behind it. */
static enum tf_status take_step(struct tf_nccl_communicator *comm, enum tf_nccl_step step,
	tf_nccl_call_fn call, const char *late, int64_t deadline_ns, struct tf_error *err)
{
	/* The others' word must reach this rank, and this rank's the others, before the end. */
	int64_t call_deadline = tf_now_ns() + tf_deadline_left_ns(deadline_ns) * 8 / 10;
	struct tf_error local = {0};

	if (comm->options.before)
		comm->options.before(comm->options.user, step);
	if (call)
		(void)!tf_nccl_ending_call(comm, call, late, 1, call_deadline, &local);
	return agree(comm, &local, deadline_ns, err);
}

static enum tf_status share_id(
	struct tf_nccl_communicator *comm, int64_t deadline_ns, struct tf_error *err)
{
	struct tf_link *link = comm->options.link;
	int is_root = comm->rank == 0;
	struct tf_bytes bytes = {0};
	enum tf_status status;

	TF_TRY(take_step(comm, TF_NCCL_STEP_ID, is_root ? make_id : NULL,
		"NCCL's id timed out: ncclGetUniqueId did not return", deadline_ns, err));
	status = tf_link_broadcast(link, is_root ? &comm->id : NULL, is_root ? sizeof(comm->id) : 0,
		is_root ? NULL : &bytes, deadline_ns, err);
	if (status == TF_OK && !is_root) {
		if (bytes.size == sizeof(comm->id))
			memcpy(&comm->id, bytes.data, sizeof(comm->id));
		else
			status = TF_FAIL(err, TF_E_INVALID, "rank 0's id of NCCL has %zu bytes, not %zu",
				bytes.size, sizeof(comm->id));
	}
	tf_bytes_fini(&bytes);
	return status;
}

enum tf_status tf_nccl_start(
	struct tf_nccl_communicator *comm, int64_t deadline_ns, struct tf_error *err)
{
	struct tf_nccl_facts *facts = &comm->facts;

	TF_TRY(tf_host_agreement(comm->options.link, comm->options.keep_apart, deadline_ns,
		&facts->one_host, facts->why_apart, sizeof(facts->why_apart), err));
	settle_settings(facts);
	TF_TRY(open_library(comm, deadline_ns, err));
	TF_TRY(share_id(comm, deadline_ns, err));
	TF_TRY(take_step(comm, TF_NCCL_STEP_PARENT, make_parent,
		"NCCL's start-up timed out: no answer of a peer's", deadline_ns, err));
	if (!facts->one_host)
		return TF_OK;
	return take_step(comm, TF_NCCL_STEP_SPLIT, make_split,
		"NCCL's split timed out: no answer of a peer's", deadline_ns, err);
}
