/* SPDX-License-Identifier: Apache-2.0 */
/* A rank process of tfrun: opens the session, then does what its supervisor orders (command.h). */
#ifndef TF_RUNTIME_SERVE_RANK_LOOP_H
#define TF_RUNTIME_SERVE_RANK_LOOP_H

#include "runtime/link/link.h"
#include "runtime/link/spawn.h"
#include "runtime/session/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a rank is told at its birth. */
struct tf_rank_plan {
	struct tf_session_options session;
	int listen_fd;           /* the supervisor's, closed by the rank; -1: none */
	struct tf_ranks *beside; /* a process of the supervisor's that the rank lets go; NULL: none */
};

/*
 * What a terminal or a service manager sends to all processes of the server is the supervisor's to
 * act on: any other process ignores it, and ends when the supervisor says so, or with it.
 */
void tf_rank_leave_signals(void);

/*
 * A tf_rank_fn; `user` is a struct tf_rank_plan. Ends when told to, when it failed, or with its
 * supervisor.
 */
int tf_rank_loop(void *user, uint32_t rank, struct tf_link *link, int command_fd);

#ifdef __cplusplus
}
#endif
#endif
