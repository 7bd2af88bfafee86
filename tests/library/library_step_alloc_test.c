/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A step allocates nothing and takes no lock. This executable's malloc and mutexes stand before
 * libc's for every library in the process, so what libtfrun or a library below it takes is counted,
 * on whichever thread. On the fake driver of tests/device the ranks are guests of an engine's
 * contexts.
 */
#include "tests/library/library_driver.h"
#include "tests/library/library_ranks.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* A sanitizer has a malloc of its own and must keep it. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif

#ifdef HAS_SANITIZER

int main(void)
{
	puts("skipped: the sanitizer has its own malloc");
	return 77;
}

#else

#define WORLD 2
#define STEPS 500

/* Seen by libraries, so that it is taken before libc's. */
#define SEEN  __attribute__((visibility("default")))

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);

static int counting;
static unsigned long calls;

static void note(void)
{
	if (__atomic_load_n(&counting, __ATOMIC_RELAXED))
		__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

SEEN void *malloc(size_t bytes)
{
	note();
	return __libc_malloc(bytes);
}

SEEN void *calloc(size_t count, size_t bytes)
{
	note();
	return __libc_calloc(count, bytes);
}

SEEN void *realloc(void *old, size_t bytes)
{
	note();
	return __libc_realloc(old, bytes);
}

SEEN void *memalign(size_t alignment, size_t bytes);

void *memalign(size_t alignment, size_t bytes)
{
	note();
	return __libc_memalign(alignment, bytes);
}

SEEN void *aligned_alloc(size_t alignment, size_t bytes)
{
	return memalign(alignment, bytes);
}

SEEN int posix_memalign(void **out, size_t alignment, size_t bytes)
{
	*out = memalign(alignment, bytes);
	return *out ? 0 : ENOMEM;
}

/* Locks are counted where only steps are put on a stream: asking how they ended may take one. */
static int counting_locks;
static unsigned long locks;

SEEN int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	static int (*real)(pthread_mutex_t *);

	if (!__atomic_load_n(&real, __ATOMIC_RELAXED)) {
		void *symbol = dlsym(RTLD_NEXT, "pthread_mutex_lock");

		__atomic_store(&real, (int (**)(pthread_mutex_t *)) & symbol, __ATOMIC_RELAXED);
	}
	if (__atomic_load_n(&counting_locks, __ATOMIC_RELAXED))
		__atomic_fetch_add(&locks, 1, __ATOMIC_RELAXED);
	return real(mutex);
}

static const char *package_tp2;
static pthread_barrier_t meeting;
static struct library_driver driver;
static int has_driver;

static enum tfrun_status engine_begin(struct library_rank *rank)
{
	void *context;

	LIBRARY_CHECK(rank, driver.context_create(&context, 0, 0) == 0);
	return TFRUN_OK;
}

/* Waits for all ranks; one of them then sets what is counted. */
static void meet(const struct library_rank *rank, int count_calls, int count_locks)
{
	pthread_barrier_wait(&meeting);
	if (rank->options.rank == 0) {
		__atomic_store_n(&counting, count_calls, __ATOMIC_SEQ_CST);
		__atomic_store_n(&counting_locks, count_locks, __ATOMIC_SEQ_CST);
	}
	pthread_barrier_wait(&meeting);
}

/* `turns` times so many steps as the host device's queue holds, and then how they ended. */
static enum tfrun_status enqueue_steps(
	struct tfrun_session *session, struct library_rank *rank, unsigned turns)
{
	void *stream = has_driver ? LIBRARY_STREAM_PER_THREAD : NULL;
	enum tfrun_status status = TFRUN_OK;

	for (unsigned turn = 0; turn < turns; turn++) {
		meet(rank, turns > 1, 1);
		for (unsigned i = 0; status == TFRUN_OK && i < 64; i++)
			status = tfrun_step_enqueue(session, 1 + i % 8, stream, &rank->error);
		meet(rank, turns > 1, 0);
		if (status == TFRUN_OK)
			status = tfrun_step_status(session, &rank->error);
	}
	return status;
}

/* The first step of each capacity, and the first queue, are before what is counted. */
static enum tfrun_status count_steps(struct tfrun_session *session, struct library_rank *rank)
{
	enum tfrun_status status = TFRUN_OK;

	for (unsigned i = 0; status == TFRUN_OK && i < 8; i++)
		status = tfrun_step(session, 1 + i, &rank->error);
	if (status == TFRUN_OK)
		status = enqueue_steps(session, rank, 1);
	meet(rank, 1, 1);
	for (unsigned i = 0; status == TFRUN_OK && i < STEPS; i++)
		status = tfrun_step(session, 1 + i % 8, &rank->error);
	meet(rank, 1, 0);
	if (status == TFRUN_OK)
		status = enqueue_steps(session, rank, 5);
	meet(rank, 0, 0);
	return status;
}

static void a_step_allocates_and_locks_nothing(void **state)
{
	static struct library_rank ranks[LIBRARY_WORLD_MAX];
	static int ends[LIBRARY_WORLD_MAX][LIBRARY_WORLD_MAX];

	(void)state;
	assert_int_equal(pthread_barrier_init(&meeting, NULL, WORLD), 0);
	library_ranks_init(ranks, WORLD, package_tp2, count_steps, ends);
	for (int r = 0; has_driver && r < WORLD; r++)
		ranks[r].before = engine_begin;
	calls = locks = 0;
	library_ranks_run(ranks, WORLD);
	pthread_barrier_destroy(&meeting);
	library_assert_all_ok(ranks, WORLD);
	assert_int_equal(calls, 0);
	assert_int_equal(locks, 0);
}

/* The counters see what the library does: opening takes memory and locks. */
static void the_counters_count(void **state)
{
	static struct library_rank ranks[LIBRARY_WORLD_MAX];
	static int ends[LIBRARY_WORLD_MAX][LIBRARY_WORLD_MAX];

	(void)state;
	library_ranks_init(ranks, WORLD, package_tp2, NULL, ends);
	calls = locks = 0;
	counting = counting_locks = 1;
	library_ranks_run(ranks, WORLD);
	counting = counting_locks = 0;
	library_assert_all_ok(ranks, WORLD);
	assert_true(calls > 10);
	assert_true(locks > 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_counters_count),
		cmocka_unit_test(a_step_allocates_and_locks_nothing),
	};

	if (argc != 2)
		return 2;
	package_tp2 = argv[1];
	has_driver = library_driver_open(&driver) && driver.fake_graph_launches;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
