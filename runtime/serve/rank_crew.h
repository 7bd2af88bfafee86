/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rank processes as the supervisor's event loop sees them: their words, their silence, their
 * ends. The crew finds out that the group is over and why; what follows from it is the
 * supervisor's.
 */
#ifndef TF_RUNTIME_SERVE_RANK_CREW_H
#define TF_RUNTIME_SERVE_RANK_CREW_H

#include <event2/event.h>

#include "base/error.h"
#include "runtime/link/spawn.h"
#include "runtime/link/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a crew without an order does. */
extern const char tf_crew_idle[];

/* All borrowed and called from the event loop. After `fault` or `ended` no further call follows. */
struct tf_crew_handlers {
	/* A word that is neither BEAT nor FAILED; `data` is valid for the call. */
	void (*word)(void *user, uint32_t rank, uint16_t type, const void *data, size_t bytes);
	void (*fault)(void *user, const struct tf_error *cause);
	/* Every rank ended as it was told to. */
	void (*ended)(void *user);
	void *user;
};

struct tf_crew_member {
	struct event *socket, *pidfd; /* NULL once closed or ended */
	struct tf_frame_reader reader;
	int64_t heard_ns;    /* when its last word came */
	int64_t progress_ns; /* when `done` last changed, or its order began */
	uint64_t done;       /* steps finished in its present order */
	int ended;
	struct tf_rank_exit how;
	struct tf_error failure; /* its FAILED, or a bad word */
	struct tf_crew *crew;
	uint32_t rank;
};

struct tf_crew {
	struct tf_ranks *ranks;
	struct event_base *base;
	struct event *tick;
	struct tf_crew_member members[TF_WORLD_MAX];
	struct tf_crew_handlers handlers;
	int64_t timeout_ns;
	int64_t ticked_ns;
	int64_t verdict_ns; /* when other ranks' words are no longer waited for; 0: nothing failed */
	/* "while loading", "during a step", tf_crew_idle: where a fault falls */
	const char *doing;
	uint32_t world;
	int may_end; /* ranks were told to end: exit code 0 is no fault */
	int over;    /* a handler was told of the end */
};

/*
 * Watches `ranks` (borrowed until tf_crew_fini). `crew` is zeroed by this and must stay where it
 * is.
 * TF_E_NO_MEMORY, TF_E_SYSTEM: libevent refused.
 */
TF_WARN_UNUSED enum tf_status tf_crew_init(struct tf_crew *crew, struct tf_ranks *ranks,
	uint32_t world, struct event_base *base, int64_t timeout_ns,
	const struct tf_crew_handlers *handlers, struct tf_error *err);
void tf_crew_fini(struct tf_crew *crew);

/*
 * Gives an order to one rank. A rank that does not take it is a fault, told through the handler
 * from the event loop; there is no second way to learn of it.
 */
void tf_crew_order(
	struct tf_crew *crew, uint32_t rank, uint16_t type, const void *data, size_t bytes);
void tf_crew_order_all(struct tf_crew *crew, uint16_t type, const void *data, size_t bytes);

/* Bits of the ranks that run. */
uint32_t tf_crew_running(const struct tf_crew *crew);

#ifdef __cplusplus
}
#endif
#endif
