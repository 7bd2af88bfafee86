/* SPDX-License-Identifier: Apache-2.0 */
/* The watcher of a communicator, the calls on threads of their own, the abort. */
#include "runtime/comm/nccl/nccl_ending.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/deadline.h"

#define LOOK_MAX_NS                                                                                \
	(100 * TF_NS_PER_MS)            /* the watcher is idle between; nothing feels ten a second */
#define LOOK_NS (10 * TF_NS_PER_MS) /* at the link, while a call of the start-up runs */

/* Under the lock; returns after a change, the deadline, or for no reason. */
static void wait_for_change(struct tf_nccl_communicator *comm, int64_t deadline_ns)
{
	struct timespec until = {.tv_sec = (time_t)(deadline_ns / TF_NS_PER_S),
		.tv_nsec = (long)(deadline_ns % TF_NS_PER_S)};

	pthread_cond_timedwait(&comm->changed, &comm->lock, &until);
}

static int is_inside_call(const struct tf_nccl_communicator *comm)
{
	return comm->call_runs ||
		__atomic_load_n(&comm->call_deadline_ns, __ATOMIC_ACQUIRE) != TF_DEADLINE_NEVER;
}

/* Nobody wakes the watcher when a call of the user's ends, so it looks. */
static int wait_until_outside(struct tf_nccl_communicator *comm)
{
	int64_t deadline = tf_deadline_after(TF_NCCL_END_NS);
	int inside;

	pthread_mutex_lock(&comm->lock);
	while ((inside = is_inside_call(comm)) && !tf_deadline_passed(deadline))
		wait_for_change(comm, tf_deadline_after(TF_NS_PER_MS));
	pthread_mutex_unlock(&comm->lock);
	return !inside;
}

static struct tf_nccl_comm *take(struct tf_nccl_comm **from)
{
	return __atomic_exchange_n(from, NULL, __ATOMIC_ACQ_REL);
}

/*
 * The parent first: it sends back whoever is inside a call. A start-up may leave its communicator
 * behind only then, so the parent is looked for again.
 */
static void abort_family(struct tf_nccl_communicator *comm)
{
	struct tf_nccl_comm *parent = take(&comm->parent), *split;
	int is_left;

	pthread_mutex_lock(&comm->lock);
	is_left = comm->is_left;
	pthread_mutex_unlock(&comm->lock);
	/* Outside the lock: a driver that hangs must not hold up whoever waits for this end. */
	if (comm->options.enter && !is_left)
		(void)!comm->options.enter(comm->options.user, NULL);
	if (parent)
		(void)comm->api->ncclCommAbort(parent);
	if (!wait_until_outside(comm))
		return;
	parent = take(&comm->parent);
	if (parent)
		(void)comm->api->ncclCommAbort(parent);
	split = take(&comm->split);
	if (split)
		(void)comm->api->ncclCommAbort(split);
}

/* Under the lock. */
static void set_fault(struct tf_nccl_communicator *comm, const struct tf_error *why)
{
	if (comm->fault.status == TF_OK)
		comm->fault = *why;
	__atomic_store_n(&comm->has_ended, 1, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&comm->changed);
}

static int64_t look_ns(const struct tf_nccl_communicator *comm)
{
	int64_t ns = comm->options.timeout_ns / 16;

	return ns < LOOK_MAX_NS ? ns : LOOK_MAX_NS;
}

static void *watch(void *user)
{
	struct tf_nccl_communicator *comm = user;
	struct tf_error late = {0};
	int ended, is_open;

	pthread_mutex_lock(&comm->lock);
	while (comm->fault.status == TF_OK && !comm->watcher_ends) {
		if (tf_deadline_passed(__atomic_load_n(&comm->call_deadline_ns, __ATOMIC_ACQUIRE))) {
			(void)!TF_FAIL(&late, TF_E_TIMEOUT,
				"NCCL's call timed out: it did not return within %" PRId64 " ms",
				comm->options.timeout_ns / TF_NS_PER_MS);
			set_fault(comm, &late);
			break;
		}
		wait_for_change(comm, tf_deadline_after(look_ns(comm)));
	}
	ended = comm->fault.status != TF_OK;
	is_open = comm->is_open;
	pthread_mutex_unlock(&comm->lock);
	if (ended && is_open && comm->options.ending)
		comm->options.ending(comm->options.user);
	if (ended)
		abort_family(comm);
	pthread_mutex_lock(&comm->lock);
	comm->watcher_gone = 1;
	pthread_cond_broadcast(&comm->changed);
	pthread_mutex_unlock(&comm->lock);
	return NULL;
}

static int start_thread(pthread_t *out, void *(*run)(void *), struct tf_nccl_communicator *comm)
{
	return pthread_create(out, NULL, run, comm);
}

enum tf_status tf_nccl_ending_init(struct tf_nccl_communicator *comm, struct tf_error *err)
{
	pthread_condattr_t attributes;
	int code;

	comm->call_deadline_ns = TF_DEADLINE_NEVER;
	pthread_mutex_init(&comm->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&comm->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	code = start_thread(&comm->watcher, watch, comm);
	if (code)
		return tf_error_set(err, TF_E_SYSTEM, "system", code, __FILE__, __LINE__,
			"cannot start a thread for NCCL: %s", strerror(code));
	comm->watcher_runs = 1;
	return TF_OK;
}

int tf_nccl_ending_fini(struct tf_nccl_communicator *comm, int64_t deadline_ns)
{
	int through;

	pthread_mutex_lock(&comm->lock);
	comm->watcher_ends = 1;
	pthread_cond_broadcast(&comm->changed);
	while (!(through = (comm->watcher_gone || !comm->watcher_runs) && !is_inside_call(comm)) &&
		!tf_deadline_passed(deadline_ns))
		wait_for_change(comm, tf_deadline_after(LOOK_NS));
	comm->is_left = !through;
	pthread_mutex_unlock(&comm->lock);
	if (!through) {
		/* They end whenever NCCL lets them, and read what is left behind until then. */
		if (comm->watcher_runs)
			pthread_detach(comm->watcher);
		if (comm->caller_runs)
			pthread_detach(comm->caller);
		return 0;
	}
	if (comm->watcher_runs)
		pthread_join(comm->watcher, NULL);
	if (comm->caller_runs)
		pthread_join(comm->caller, NULL);
	pthread_cond_destroy(&comm->changed);
	pthread_mutex_destroy(&comm->lock);
	tf_free(comm);
	return 1;
}

void tf_nccl_ending_quiet(struct tf_nccl_communicator *comm)
{
	pthread_mutex_lock(&comm->lock);
	if (comm->fault.status == TF_OK)
		comm->is_open = 0;
	pthread_mutex_unlock(&comm->lock);
}

void tf_nccl_ending_begin(struct tf_nccl_communicator *comm, const struct tf_error *why)
{
	pthread_mutex_lock(&comm->lock);
	set_fault(comm, why);
	pthread_mutex_unlock(&comm->lock);
}

enum tf_status tf_nccl_ending_check(struct tf_nccl_communicator *comm, struct tf_error *err)
{
	enum tf_status status;

	if (!__atomic_load_n(&comm->has_ended, __ATOMIC_ACQUIRE))
		return TF_OK;
	pthread_mutex_lock(&comm->lock);
	status = comm->fault.status;
	if (err)
		*err = comm->fault;
	pthread_mutex_unlock(&comm->lock);
	return status;
}

enum tf_status tf_nccl_ending_give_up(
	struct tf_nccl_communicator *comm, const struct tf_error *why, struct tf_error *err)
{
	int64_t deadline = tf_deadline_after(TF_NCCL_END_NS);

	tf_nccl_ending_begin(comm, why);
	pthread_mutex_lock(&comm->lock);
	while (!comm->watcher_gone && !comm->graphs && !tf_deadline_passed(deadline))
		wait_for_change(comm, deadline);
	pthread_mutex_unlock(&comm->lock);
	return tf_nccl_ending_check(comm, err);
}

enum tf_status tf_nccl_ending_poll(struct tf_nccl_communicator *comm, struct tf_nccl_comm *which,
	int *out_result, struct tf_error *err)
{
	enum tf_status status;
	int result = TF_NCCL_SUCCESS;

	pthread_mutex_lock(&comm->lock);
	status = comm->fault.status;
	if (status != TF_OK && err)
		*err = comm->fault;
	if (status == TF_OK)
		status = TF_NCCL(comm->api, err, ncclCommGetAsyncError(which, &result));
	if (status == TF_OK)
		status =
			tf_nccl_check(comm->api, result, "an operation of NCCL's", err, __FILE__, __LINE__);
	pthread_mutex_unlock(&comm->lock);
	if (status == TF_OK)
		*out_result = result;
	return status;
}

static void *run_call(void *user)
{
	struct tf_nccl_communicator *comm = user;
	struct tf_error local = {0};
	enum tf_status status = TF_OK;

	if (comm->options.enter)
		status = comm->options.enter(comm->options.user, &local);
	if (status == TF_OK)
		(void)!comm->call(comm, &local);
	pthread_mutex_lock(&comm->lock);
	comm->call_error = local;
	comm->call_runs = 0;
	pthread_cond_broadcast(&comm->changed);
	pthread_mutex_unlock(&comm->lock);
	return NULL;
}

/* Until the call is through, or the link or the clock says that it must not be waited for. */
static enum tf_status await_call(struct tf_nccl_communicator *comm, const char *late,
	int minds_link, int64_t deadline_ns, struct tf_error *err)
{
	enum tf_status status = TF_OK;
	int runs = 1;

	while (runs && status == TF_OK) {
		pthread_mutex_lock(&comm->lock);
		if (comm->call_runs)
			wait_for_change(comm, tf_deadline_after(LOOK_NS));
		runs = comm->call_runs;
		if (!runs && comm->call_error.status != TF_OK) {
			status = comm->call_error.status;
			if (err)
				*err = comm->call_error;
		}
		pthread_mutex_unlock(&comm->lock);
		if (runs && minds_link)
			status = tf_link_poll_departed(comm->options.link, err);
		if (runs && status == TF_OK && tf_deadline_passed(deadline_ns))
			status = TF_FAIL(err, TF_E_TIMEOUT, "%s", late);
	}
	return status;
}

enum tf_status tf_nccl_ending_call(struct tf_nccl_communicator *comm, tf_nccl_call_fn call,
	const char *late, int minds_link, int64_t deadline_ns, struct tf_error *err)
{
	struct tf_error local = {0};
	enum tf_status status;
	int code;

	if (comm->caller_runs)
		pthread_join(comm->caller, NULL); /* it is through: a call that is not ends all */
	comm->caller_runs = 0;
	memset(&comm->call_error, 0, sizeof(comm->call_error));
	comm->call = call;
	comm->call_runs = 1;
	code = start_thread(&comm->caller, run_call, comm);
	if (code) {
		comm->call_runs = 0;
		status = tf_error_set(&local, TF_E_SYSTEM, "system", code, __FILE__, __LINE__,
			"cannot start a thread for NCCL: %s", strerror(code));
	} else {
		comm->caller_runs = 1;
		status = await_call(comm, late, minds_link, deadline_ns, &local);
	}
	if (status == TF_OK)
		return TF_OK;
	tf_nccl_ending_begin(comm, &local);
	if (err)
		*err = local;
	return status;
}
