/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A step allocates nothing. This executable's malloc stands before libc's for every library in the
 * process, so what libtfrun or a library below it takes is counted, on whichever thread.
 */
#include "tests/library/library_ranks.h"

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

static const char *package_tp2;
static pthread_barrier_t meeting;

/* All ranks are between the two counts; the first step of each capacity has been before. */
static enum tfrun_status count_steps(struct tfrun_session *session, struct library_rank *rank)
{
	enum tfrun_status status = TFRUN_OK;

	for (unsigned i = 0; status == TFRUN_OK && i < 8; i++)
		status = tfrun_step(session, 1 + i, &rank->error);
	pthread_barrier_wait(&meeting);
	if (rank->options.rank == 0)
		__atomic_store_n(&counting, 1, __ATOMIC_SEQ_CST);
	pthread_barrier_wait(&meeting);
	for (unsigned i = 0; status == TFRUN_OK && i < STEPS; i++)
		status = tfrun_step(session, 1 + i % 8, &rank->error);
	pthread_barrier_wait(&meeting);
	if (rank->options.rank == 0)
		__atomic_store_n(&counting, 0, __ATOMIC_SEQ_CST);
	pthread_barrier_wait(&meeting);
	return status;
}

static void a_step_allocates_nothing(void **state)
{
	static struct library_rank ranks[LIBRARY_WORLD_MAX];
	static int ends[LIBRARY_WORLD_MAX][LIBRARY_WORLD_MAX];

	(void)state;
	assert_int_equal(pthread_barrier_init(&meeting, NULL, WORLD), 0);
	library_ranks_init(ranks, WORLD, package_tp2, count_steps, ends);
	calls = 0;
	library_ranks_run(ranks, WORLD);
	pthread_barrier_destroy(&meeting);
	library_assert_all_ok(ranks, WORLD);
	assert_int_equal(calls, 0);
}

/* The counter sees what the library allocates: opening takes memory. */
static void the_counter_counts(void **state)
{
	static struct library_rank ranks[LIBRARY_WORLD_MAX];
	static int ends[LIBRARY_WORLD_MAX][LIBRARY_WORLD_MAX];

	(void)state;
	library_ranks_init(ranks, WORLD, package_tp2, NULL, ends);
	calls = 0;
	counting = 1;
	library_ranks_run(ranks, WORLD);
	counting = 0;
	library_assert_all_ok(ranks, WORLD);
	assert_true(calls > 10);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_counter_counts),
		cmocka_unit_test(a_step_allocates_nothing),
	};

	if (argc != 2)
		return 2;
	package_tp2 = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
