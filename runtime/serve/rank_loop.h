/* SPDX-License-Identifier: Apache-2.0 */
/* A rank process of tfrun: opens the session, then does what its supervisor orders (command.h). */
#ifndef TF_RUNTIME_SERVE_RANK_LOOP_H
#define TF_RUNTIME_SERVE_RANK_LOOP_H

#include "runtime/link/link.h"
#include "runtime/session/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a rank is told at its birth. */
struct tf_rank_plan {
	struct tf_session_options session;
	int listen_fd; /* the supervisor's, closed by the rank; -1: none */
};

/*
 * A tf_rank_fn; `user` is a struct tf_rank_plan. Ends when told to, when it failed, or with its
 * supervisor.
 */
int tf_rank_loop(void *user, uint32_t rank, struct tf_link *link, int command_fd);

#ifdef __cplusplus
}
#endif
#endif
