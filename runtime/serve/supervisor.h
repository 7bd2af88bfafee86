/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor: the parent of the ranks. It reads the package, starts one process a rank, gives
 * them one job at a time, serves HTTP, and ends the group when a rank is lost or a signal asks for
 * it. It is single-threaded; everything runs from one event loop.
 */
#ifndef TF_RUNTIME_SERVE_SUPERVISOR_H
#define TF_RUNTIME_SERVE_SUPERVISOR_H

#include "runtime/serve/job.h"
#include "runtime/serve/listen_socket.h"
#include "runtime/serve/served_machine.h"
#include "runtime/serve/served_package.h"
#include "runtime/serve/rank_crew.h"
#include "runtime/serve/rank_loop.h"
#include "runtime/serve/serve_metrics.h"

#ifdef __cplusplus
extern "C" {
#endif

enum tf_serve_mode {
	TF_SERVE_HTTP = 0,
	TF_SERVE_CHECK, /* loads, proves, says so, ends */
	TF_SERVE_DRIFT,
	TF_SERVE_BENCH
};

struct tf_serve_options {
	const char *path, *listen, *device, *version; /* borrowed */
	uint64_t capacity_max;                        /* 0: all */
	int64_t timeout_ns;
	int64_t begin_ns; /* when the process began */
	int strict, json;
	int no_peer_access; /* ranks may not use each other's memory */
	enum tf_serve_mode mode;
};

enum tf_serve_state {
	TF_STATE_LOADING = 0,
	TF_STATE_READY,
	TF_STATE_BUSY,
	TF_STATE_DRAINING,
	TF_STATE_ENDED,
	TF_STATE_FAILED
};

struct tf_http;

struct tf_supervisor {
	const struct tf_serve_options *options;
	struct tf_served_package view;
	struct tf_served_machine machine;
	struct tf_machine_look look;
	/* a rank's fault while the look at the machine runs; status TF_OK: none */
	struct tf_error held;
	struct tf_rank_plan plan;
	struct tf_ranks *ranks;
	struct event_base *base;
	struct event *signals[2]; /* SIGTERM, SIGINT */
	struct event *bound;      /* of loading, then of draining */
	struct tf_crew crew;
	struct tf_http *http; /* NULL in the other modes */
	struct tf_jobs jobs;
	struct tf_serve_metrics metrics;
	struct tf_rank_ready readies[TF_WORLD_MAX];
	uint32_t ready_ranks;                   /* bits */
	int64_t forked_ns, looked_ns, ready_ns; /* looked_ns 0: nothing was looked at */
	char listen_text[TF_LISTEN_TEXT_BYTES];
	char digest_hex[TF_DIGEST_HEX_BYTES];
	enum tf_serve_state state;
	int signal;    /* the first that came */
	int exit_code; /* of the process, once the loop ended */
};

/* Does it all; returns the process's exit code. Errors were told on stderr, in one line. */
int tf_serve(const struct tf_serve_options *options);

/* "loading", "ready", "busy", "draining", "ended", "failed". */
const char *tf_serve_state_name(enum tf_serve_state state);

/* Whether new jobs are taken. */
int tf_supervisor_takes_jobs(const struct tf_supervisor *supervisor);

/*
 * Begins to drain, as SIGTERM does: jobs under way finish, ranks close, the loop ends with
 * `exit_code`.
 */
void tf_supervisor_drain(struct tf_supervisor *supervisor, int exit_code);

/* Ends everything at once because of `cause`. */
void tf_supervisor_fail(struct tf_supervisor *supervisor, const struct tf_error *cause);

/* The metrics as they are now. */
void tf_supervisor_refresh_metrics(struct tf_supervisor *supervisor);

#ifdef __cplusplus
}
#endif
#endif
