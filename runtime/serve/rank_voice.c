/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1. One word is sent at a time: both threads send under the lock.
 * 2. A BEAT is left out rather than waited for: a supervisor that does not read must not stop the
 *    rank.
 */
#include "runtime/serve/rank_voice.h"

#include <poll.h>
#include <string.h>
#include <time.h>

#include "base/deadline.h"
#include "runtime/link/channel.h"
#include "runtime/serve/command.h"

#define BEAT_BOUND_NS (TF_NS_PER_S / 10)

static int can_send(int fd)
{
	struct pollfd poller = {.fd = fd, .events = POLLOUT};

	return poll(&poller, 1, 0) == 1 && (poller.revents & POLLOUT);
}

/* Under the lock. */
static void beat(struct tf_rank_voice *voice)
{
	struct tf_rank_beat word = {.done = __atomic_load_n(&voice->done, __ATOMIC_RELAXED)};

	if (can_send(voice->fd))
		(void)!tf_channel_send(voice->fd, TF_COMMAND_BEAT, 0, &word, sizeof(word),
			tf_deadline_after(BEAT_BOUND_NS), NULL);
}

static struct timespec time_of(int64_t ns)
{
	return (struct timespec){
		.tv_sec = (time_t)(ns / TF_NS_PER_S),
		.tv_nsec = (long)(ns % TF_NS_PER_S),
	};
}

static void *beat_on(void *user)
{
	struct tf_rank_voice *voice = user;

	pthread_mutex_lock(&voice->lock);
	while (!voice->stop) {
		struct timespec until;

		beat(voice);
		until = time_of(tf_deadline_after(voice->every_ns));
		while (!voice->stop && pthread_cond_timedwait(&voice->wake, &voice->lock, &until) == 0)
			;
	}
	pthread_mutex_unlock(&voice->lock);
	return NULL;
}

enum tf_status tf_rank_voice_start(
	struct tf_rank_voice *voice, int fd, int64_t every_ns, struct tf_error *err)
{
	pthread_condattr_t attr;
	int code;

	memset(voice, 0, sizeof(*voice));
	voice->fd = fd;
	voice->every_ns = every_ns;
	pthread_mutex_init(&voice->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&voice->wake, &attr);
	pthread_condattr_destroy(&attr);
	code = pthread_create(&voice->thread, NULL, beat_on, voice);
	if (code) {
		pthread_cond_destroy(&voice->wake);
		pthread_mutex_destroy(&voice->lock);
		return TF_FAIL(err, TF_E_SYSTEM, "cannot start a thread: %s", strerror(code));
	}
	return TF_OK;
}

void tf_rank_voice_stop(struct tf_rank_voice *voice)
{
	pthread_mutex_lock(&voice->lock);
	voice->stop = 1;
	pthread_cond_signal(&voice->wake);
	pthread_mutex_unlock(&voice->lock);
	pthread_join(voice->thread, NULL);
	pthread_cond_destroy(&voice->wake);
	pthread_mutex_destroy(&voice->lock);
}

enum tf_status tf_rank_voice_say(struct tf_rank_voice *voice, uint16_t type, const void *data,
	size_t bytes, int64_t bound_ns, struct tf_error *err)
{
	enum tf_status status;

	pthread_mutex_lock(&voice->lock);
	status = tf_channel_send(voice->fd, type, 0, data, bytes, tf_deadline_after(bound_ns), err);
	pthread_mutex_unlock(&voice->lock);
	return status;
}
