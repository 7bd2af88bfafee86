/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rank's side of its command socket: it speaks, and a thread of its own says BEAT at equal
 * intervals, so that a rank inside a long step is told from one that is stopped.
 */
#ifndef TF_RUNTIME_SERVE_RANK_VOICE_H
#define TF_RUNTIME_SERVE_RANK_VOICE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_rank_voice {
	int fd; /* borrowed */
	int64_t every_ns;
	uint64_t done;        /* atomic: steps finished in the present order */
	pthread_mutex_t lock; /* one word at a time; guards `stop` */
	pthread_cond_t wake;
	pthread_t thread;
	int stop;
};

/* `voice` must stay where it is until tf_rank_voice_stop. TF_E_SYSTEM: no thread. */
TF_WARN_UNUSED enum tf_status tf_rank_voice_start(
	struct tf_rank_voice *voice, int fd, int64_t every_ns, struct tf_error *err);
void tf_rank_voice_stop(struct tf_rank_voice *voice);

/* Says a word (channel.h); blocks until it is out, at most `bound_ns`. */
TF_WARN_UNUSED enum tf_status tf_rank_voice_say(struct tf_rank_voice *voice, uint16_t type,
	const void *data, size_t bytes, int64_t bound_ns, struct tf_error *err);

/* What the next BEAT will say; no lock, for the step path. */
static inline void tf_rank_voice_done(struct tf_rank_voice *voice, uint64_t done)
{
	__atomic_store_n(&voice->done, done, __ATOMIC_RELAXED);
}

#ifdef __cplusplus
}
#endif
#endif
