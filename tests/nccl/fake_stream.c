/* SPDX-License-Identifier: Apache-2.0 */
/* One thread a stream; what is queued runs in order. */
#include "tests/nccl/fake_stream.h"

#include <pthread.h>
#include <stdlib.h>

struct item {
	struct item *next;
	fake_work_fn run;
	void *work;
};

struct CUstream_st {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct item *first, **last;
	int runs, ends;
};

#define EXPORT __attribute__((visibility("default")))

static void *serve(void *user)
{
	struct CUstream_st *stream = user;

	pthread_mutex_lock(&stream->lock);
	for (;;) {
		struct item *item = stream->first;

		if (!item && stream->ends)
			break;
		if (!item) {
			pthread_cond_wait(&stream->changed, &stream->lock);
			continue;
		}
		stream->first = item->next;
		if (!stream->first)
			stream->last = &stream->first;
		stream->runs = 1;
		pthread_mutex_unlock(&stream->lock);
		item->run(item->work);
		free(item->work);
		free(item);
		pthread_mutex_lock(&stream->lock);
		stream->runs = 0;
	}
	pthread_mutex_unlock(&stream->lock);
	return NULL;
}

EXPORT struct CUstream_st *fake_nccl_stream_create(void)
{
	struct CUstream_st *stream = calloc(1, sizeof(*stream));

	if (!stream)
		abort();
	pthread_mutex_init(&stream->lock, NULL);
	pthread_cond_init(&stream->changed, NULL);
	stream->last = &stream->first;
	if (pthread_create(&stream->thread, NULL, serve, stream) != 0)
		abort();
	return stream;
}

EXPORT int fake_nccl_stream_done(struct CUstream_st *stream)
{
	int done;

	pthread_mutex_lock(&stream->lock);
	done = !stream->first && !stream->runs;
	pthread_mutex_unlock(&stream->lock);
	return done;
}

EXPORT void fake_nccl_stream_destroy(struct CUstream_st *stream)
{
	pthread_mutex_lock(&stream->lock);
	stream->ends = 1;
	pthread_cond_broadcast(&stream->changed);
	pthread_mutex_unlock(&stream->lock);
	pthread_join(stream->thread, NULL);
	pthread_cond_destroy(&stream->changed);
	pthread_mutex_destroy(&stream->lock);
	free(stream);
}

void fake_stream_push(struct CUstream_st *stream, fake_work_fn run, void *work)
{
	struct item *item = calloc(1, sizeof(*item));

	if (!item)
		abort();
	*item = (struct item){NULL, run, work};
	pthread_mutex_lock(&stream->lock);
	*stream->last = item;
	stream->last = &item->next;
	pthread_cond_broadcast(&stream->changed);
	pthread_mutex_unlock(&stream->lock);
}
