/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   loading --become_ready--> ready <--jobs (job.c)--> busy
 *   loading --on_signal--> ended
 *   ready, busy --tf_supervisor_drain--> draining --on_ended--> ended
 *   any of them --tf_supervisor_fail--> failed
 *
 * 1. A package that cannot be read, a port that is taken, starts no process.
 * 2. Ended and failed: every rank, and who looked at the machine, was reaped and every request
 *    answered before the loop ends.
 * 3. The first cause is told, once, in one line; what follows from it is not. Where the machine is
 *    refused while it is looked at beside the ranks, that is the cause, whatever a rank met before.
 */
#include "runtime/serve/supervisor.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "catalog/catalog_read.h"
#include "runtime/serve/http_server.h"
#include "runtime/serve/loading.h"
#include "runtime/serve/ready_report.h"

/*
 * A job under way may finish within these; then the ranks close; then answers that are still on
 * their way leave within these. Where nothing drained there is little patience for them.
 */
#define DRAIN_TIMEOUTS 5
#define LEAVE_TIMEOUTS 1
#define FLUSH_NS       (TF_NS_PER_S / 4)

static const char *const state_names[] = {
	"loading", "ready", "busy", "draining", "ended", "failed"};

const char *tf_serve_state_name(enum tf_serve_state state)
{
	return state_names[state];
}

int tf_supervisor_takes_jobs(const struct tf_supervisor *supervisor)
{
	return supervisor->state == TF_STATE_READY || supervisor->state == TF_STATE_BUSY;
}

/* A session bounds its loading; a rank that is a timeout late beyond that has lost its way. */
static int64_t load_bound(const struct tf_supervisor *supervisor)
{
	int64_t timeout_ns = supervisor->options->timeout_ns;

	return tf_session_load_bound(&supervisor->view.loaded.program, timeout_ns) + timeout_ns;
}

static int64_t close_bound(const struct tf_supervisor *supervisor)
{
	return tf_session_close_bound(
		&supervisor->view.loaded.program, supervisor->options->timeout_ns);
}

static struct timeval interval(int64_t ns)
{
	return (struct timeval){.tv_sec = ns / TF_NS_PER_S, .tv_usec = ns % TF_NS_PER_S / 1000};
}

static void set_bound(struct tf_supervisor *supervisor, int64_t ns)
{
	struct timeval tv = interval(ns);

	event_add(supervisor->bound, &tv);
}

/*
 * Answers whoever still waits with `cause`, lets answers leave within `leave_ns`, then ends the
 * loop. Meanwhile no word of the machine's may come and make it ready.
 */
static void end_loop(
	struct tf_supervisor *supervisor, int exit_code, const struct tf_error *cause, int64_t leave_ns)
{
	struct timeval tv = interval(leave_ns);

	supervisor->exit_code = exit_code;
	event_del(supervisor->bound);
	tf_machine_look_fini(&supervisor->look);
	tf_http_begin_end(supervisor->http);
	tf_jobs_end_all(supervisor, cause);
	if (tf_http_leaving(supervisor->http))
		event_base_loopexit(supervisor->base, &tv);
	else
		event_base_loopbreak(supervisor->base);
}

void tf_supervisor_fail(struct tf_supervisor *supervisor, const struct tf_error *cause)
{
	struct tf_error told = *cause, err;

	if (supervisor->state == TF_STATE_FAILED || supervisor->state == TF_STATE_ENDED)
		return;
	if (supervisor->state == TF_STATE_LOADING && told.status == TF_E_MISFIT)
		tf_error_prefix(&told, "cannot load '%s'", supervisor->options->path);
	supervisor->state = TF_STATE_FAILED;
	supervisor->crew.over = 1;
	fflush(stdout);
	fprintf(stderr, "tfrun: %s\n", told.text);
	if (tf_ranks_kill(supervisor->ranks, &err) != TF_OK)
		fprintf(stderr, "tfrun: %s\n", err.text);
	end_loop(supervisor, (int)tf_status_exit(told.status), &told, FLUSH_NS);
}

static void tell_ranks_to_close(struct tf_supervisor *supervisor)
{
	supervisor->crew.may_end = 1;
	supervisor->crew.doing = "while closing";
	tf_crew_order_all(&supervisor->crew, TF_COMMAND_DRAIN, NULL, 0);
	set_bound(supervisor, close_bound(supervisor));
}

void tf_supervisor_drain(struct tf_supervisor *supervisor, int exit_code)
{
	struct tf_error cause;

	if (!tf_supervisor_takes_jobs(supervisor))
		return;
	supervisor->state = TF_STATE_DRAINING;
	supervisor->exit_code = exit_code;
	(void)!TF_FAIL(&cause, TF_E_ABORTED, "the server is draining");
	tf_jobs_refuse_waiting(supervisor, &cause);
	if (supervisor->jobs.running)
		set_bound(supervisor, DRAIN_TIMEOUTS * supervisor->options->timeout_ns);
	else
		tell_ranks_to_close(supervisor);
}

static void on_ended(void *user)
{
	struct tf_supervisor *supervisor = user;
	int64_t leave_ns = LEAVE_TIMEOUTS * supervisor->options->timeout_ns;

	supervisor->state = TF_STATE_ENDED;
	end_loop(supervisor, supervisor->exit_code, NULL, leave_ns > FLUSH_NS ? leave_ns : FLUSH_NS);
}

static void on_fault(void *user, const struct tf_error *cause)
{
	tf_loading_fault(user, cause);
}

static void on_bound(evutil_socket_t fd, short what, void *user)
{
	struct tf_supervisor *supervisor = user;
	const struct tf_serve_options *options = supervisor->options;
	struct tf_error cause = {0};

	(void)fd;
	(void)what;
	if (supervisor->state == TF_STATE_LOADING)
		tf_loading_late(supervisor, load_bound(supervisor), &cause);
	else if (supervisor->jobs.running)
		(void)!TF_FAIL(&cause, TF_E_TIMEOUT,
			"draining: the request under way did not finish within %lld ms and was cut",
			(long long)(DRAIN_TIMEOUTS * options->timeout_ns / TF_NS_PER_MS));
	else
		(void)!TF_FAIL(&cause, TF_E_TIMEOUT, "draining: the ranks did not close within %lld ms",
			(long long)(close_bound(supervisor) / TF_NS_PER_MS));
	tf_supervisor_fail(supervisor, &cause);
}

/* Ends at once, without an error: there is nothing to drain, or no more patience. */
static void end_now(struct tf_supervisor *supervisor, int exit_code)
{
	struct tf_error cause, err;

	supervisor->state = TF_STATE_ENDED;
	supervisor->crew.over = 1;
	(void)!TF_FAIL(&cause, TF_E_ABORTED, "the server was told to end");
	if (tf_ranks_kill(supervisor->ranks, &err) != TF_OK)
		fprintf(stderr, "tfrun: %s\n", err.text);
	end_loop(supervisor, exit_code, &cause, FLUSH_NS);
}

/* Who asked for a result must not take an end without one for it. */
static void end_without_result(struct tf_supervisor *supervisor)
{
	fflush(stdout);
	fputs("tfrun: interrupted before there was a result\n", stderr);
	end_now(supervisor, TF_EXIT_INTERRUPTED);
}

static void on_signal(evutil_socket_t number, short what, void *user)
{
	struct tf_supervisor *supervisor = user;
	int exit_code = number == SIGINT ? TF_EXIT_INTERRUPTED : TF_EXIT_DONE;

	(void)what;
	if (supervisor->state == TF_STATE_FAILED)
		return;
	if (supervisor->state == TF_STATE_ENDED) {
		if (supervisor->signal) /* answers that still leave are no longer waited for */
			event_base_loopbreak(supervisor->base);
		return;
	}
	if (supervisor->signal)
		end_now(supervisor, number == SIGINT ? TF_EXIT_INTERRUPTED : TF_EXIT_FAILED);
	else if (supervisor->state == TF_STATE_LOADING && supervisor->held.status != TF_OK)
		tf_supervisor_fail(supervisor, &supervisor->held); /* it was first */
	else if (supervisor->options->mode != TF_SERVE_HTTP && supervisor->state != TF_STATE_DRAINING)
		end_without_result(supervisor);
	else if (supervisor->state == TF_STATE_LOADING)
		end_now(supervisor, exit_code);
	else
		tf_supervisor_drain(supervisor, exit_code);
	supervisor->signal = (int)number;
}

static void on_word(void *user, uint32_t rank, uint16_t type, const void *data, size_t bytes)
{
	struct tf_supervisor *supervisor = user;

	if (type == TF_COMMAND_READY) {
		tf_loading_take_ready(supervisor, rank, data, bytes);
		return;
	}
	tf_jobs_hear(supervisor, rank, type, data, bytes);
	if (supervisor->state == TF_STATE_DRAINING && !supervisor->jobs.running &&
		!supervisor->crew.may_end)
		tell_ranks_to_close(supervisor);
}

void tf_supervisor_refresh_metrics(struct tf_supervisor *supervisor)
{
	struct tf_serve_metrics *metrics = &supervisor->metrics;

	metrics->ready = tf_supervisor_takes_jobs(supervisor);
	metrics->ranks_up = tf_crew_running(&supervisor->crew);
	metrics->requests_waiting = supervisor->jobs.waiting;
	if (!supervisor->ready_ns)
		return;
	metrics->load_ns = supervisor->ready_ns - supervisor->options->begin_ns;
	for (int phase = 0; phase < TF_PHASE_COUNT; phase++)
		metrics->phase_ns[phase] = tf_ready_phase_ns(supervisor, (enum tf_session_phase)phase);
	metrics->relocated = supervisor->readies[0].relocated;
}

static enum tf_status prepare_metrics(struct tf_supervisor *supervisor, struct tf_error *err)
{
	struct tf_serve_metrics *metrics = &supervisor->metrics;
	const struct tf_served_package *view = &supervisor->view;

	metrics->version = supervisor->options->version;
	metrics->package_sha256 = supervisor->digest_hex;
	metrics->world = view->loaded.program.world;
	metrics->capacities = tf_calloc(view->capacity_count, sizeof(metrics->capacities[0]));
	if (!metrics->capacities)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for the metrics");
	metrics->capacity_count = view->capacity_count;
	for (uint32_t i = 0; i < view->capacity_count; i++)
		metrics->capacities[i].capacity = view->capacities[i];
	return TF_OK;
}

/* Everything that needs no rank: a failure here costs nothing. */
static enum tf_status prepare(struct tf_supervisor *supervisor, struct tf_error *err)
{
	const struct tf_serve_options *options = supervisor->options;
	int is_drift = options->mode == TF_SERVE_DRIFT;
	unsigned parts = is_drift ? TF_CATALOG_STARTUP | TF_CATALOG_SAMPLES : TF_CATALOG_STEP;

	TF_TRY(tf_served_package_open(
		options->path, parts, options->strict, options->capacity_max, &supervisor->view, err));
	tf_hex(supervisor->view.loaded.digest, TF_DIGEST_BYTES, supervisor->digest_hex);
	TF_TRY(prepare_metrics(supervisor, err));
	if (options->mode == TF_SERVE_HTTP)
		TF_TRY(tf_listen_open(
			options->listen, &supervisor->plan.listen_fd, supervisor->listen_text, err));
	supervisor->plan.session = (struct tf_session_options){
		.spread = 1,
		.path = options->path,
		.loaded = &supervisor->view.loaded,
		.device = options->device,
		.timeout_ns = options->timeout_ns,
		.capacity_max = tf_served_package_largest(&supervisor->view),
		.strict = options->strict,
		.no_peer_access = options->no_peer_access,
		.startup = is_drift,
		.probe = 1,
	};
	return TF_OK;
}

/* The ranks, and who looks at the machine meanwhile. */
static enum tf_status start_processes(struct tf_supervisor *supervisor, struct tf_error *err)
{
	const struct tf_machine_question question = {
		.program = &supervisor->view.loaded.program,
		.device = supervisor->options->device,
		.strict = supervisor->options->strict,
		.listen_fd = supervisor->plan.listen_fd,
	};

	supervisor->forked_ns = tf_now_ns();
	/* First: it must not hold the ends of the ranks' sockets. */
	TF_TRY(tf_machine_look_start(&question, &supervisor->look, err));
	supervisor->plan.beside = supervisor->look.process;
	return tf_ranks_spawn(supervisor->view.loaded.program.world, tf_rank_loop, &supervisor->plan,
		&supervisor->ranks, err);
}

static enum tf_status start_loop(struct tf_supervisor *supervisor, struct tf_error *err)
{
	static const int numbers[2] = {SIGTERM, SIGINT};
	struct tf_crew_handlers handlers = {
		.word = on_word, .fault = on_fault, .ended = on_ended, .user = supervisor};

	supervisor->base = event_base_new();
	if (!supervisor->base)
		return TF_FAIL(err, TF_E_SYSTEM, "libevent cannot make an event loop");
	for (int i = 0; i < 2; i++) {
		supervisor->signals[i] = evsignal_new(supervisor->base, numbers[i], on_signal, supervisor);
		if (!supervisor->signals[i] || event_add(supervisor->signals[i], NULL))
			return TF_FAIL(err, TF_E_SYSTEM, "libevent cannot watch signal %d", numbers[i]);
	}
	supervisor->bound = evtimer_new(supervisor->base, on_bound, supervisor);
	if (!supervisor->bound)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a timer");
	TF_TRY(tf_crew_init(&supervisor->crew, supervisor->ranks, supervisor->view.loaded.program.world,
		supervisor->base, supervisor->options->timeout_ns, &handlers, err));
	TF_TRY(tf_machine_look_watch(
		&supervisor->look, supervisor->base, tf_loading_take_machine, supervisor, err));
	if (supervisor->options->mode == TF_SERVE_HTTP)
		TF_TRY(tf_http_create(supervisor, supervisor->plan.listen_fd, &supervisor->http, err));
	supervisor->plan.listen_fd = -1; /* the server's now */
	set_bound(supervisor, load_bound(supervisor));
	return TF_OK;
}

static void supervisor_fini(struct tf_supervisor *supervisor)
{
	tf_http_destroy(supervisor->http);
	tf_crew_fini(&supervisor->crew);
	tf_machine_look_fini(&supervisor->look);
	tf_ranks_destroy(supervisor->ranks);
	for (int i = 0; i < 2; i++) {
		if (supervisor->signals[i])
			event_free(supervisor->signals[i]);
	}
	if (supervisor->bound)
		event_free(supervisor->bound);
	if (supervisor->base)
		event_base_free(supervisor->base);
	if (supervisor->plan.listen_fd >= 0)
		close(supervisor->plan.listen_fd);
	tf_free(supervisor->metrics.capacities);
	tf_served_package_close(&supervisor->view);
}

/* A signal that comes before the loop listens waits for it; else it would leave no word. */
static enum tf_status start(struct tf_supervisor *supervisor, struct tf_error *err)
{
	sigset_t ours, before;
	enum tf_status status;

	sigemptyset(&ours);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGINT);
	sigprocmask(SIG_BLOCK, &ours, &before);
	status = start_processes(supervisor, err);
	if (status == TF_OK)
		status = start_loop(supervisor, err);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return status;
}

int tf_serve(const struct tf_serve_options *options)
{
	struct tf_supervisor supervisor;
	struct tf_error err = {0};
	enum tf_status status;

	memset(&supervisor, 0, sizeof(supervisor));
	supervisor.options = options;
	supervisor.plan.listen_fd = -1;
	(void)signal(SIGPIPE, SIG_IGN);
	status = prepare(&supervisor, &err);
	if (status == TF_OK)
		status = start(&supervisor, &err);
	if (status == TF_OK) {
		event_base_dispatch(supervisor.base);
	} else {
		fprintf(stderr, "tfrun: %s\n", err.text);
		supervisor.exit_code = (int)tf_status_exit(status);
	}
	supervisor_fini(&supervisor);
	return supervisor.exit_code;
}
