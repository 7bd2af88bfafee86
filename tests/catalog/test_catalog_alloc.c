/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short memory anywhere: SQLite's own allocations go through the shim too, so the n-th failure
 * sweeps both. A sweep takes every n at first and then wider steps; each failed call must say
 * no_memory, change nothing and leak nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "catalog/catalog_read.h"
#include "catalog/catalog_write.h"
#include "tests/catalog/catalog_image.h"
#include "tests/catalog/sample_program.h"

#define ALL (TF_CATALOG_STARTUP | TF_CATALOG_SAMPLES)

static void *shim_malloc(int size)
{
	return tf_calloc((size_t)size, 1);
}

static void *shim_realloc(void *old, int size)
{
	return tf_reallocarray(old, (size_t)size, 1);
}

static int shim_size(void *block)
{
	return block ? (int)malloc_usable_size(block) : 0;
}

static int shim_roundup(int size)
{
	return (size + 7) & ~7;
}

static int shim_init(void *unused)
{
	(void)unused;
	return SQLITE_OK;
}

static void shim_shutdown(void *unused)
{
	(void)unused;
}

static int route_sqlite(void **state)
{
	static const sqlite3_mem_methods methods = {shim_malloc, tf_free, shim_realloc, shim_size,
		shim_roundup, shim_init, shim_shutdown, NULL};

	(void)state;
	return sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) || sqlite3_initialize();
}

/* Every n at first, then steps of 1 %. */
static uint64_t next(uint64_t n)
{
	return n + 1 + n / 100;
}

static uint64_t count_of(enum tf_status (*call)(void *user), void *user)
{
	uint64_t before;

	assert_int_equal(call(user), TF_OK); /* once for what is made only once */
	before = tf_alloc_count();
	assert_int_equal(call(user), TF_OK);
	return tf_alloc_count() - before;
}

/*
 * SQLite goes on without some allocations (caches, growing of hash tables): then the result must be
 * right.
 */
static void sweep(enum tf_status (*call)(void *user), void *user, uint64_t min_failures)
{
	uint64_t count = count_of(call, user), failures = 0, tried = 0;

	for (uint64_t n = 1; n <= count; n = next(n)) {
		enum tf_status status;

		tf_alloc_fail_at(n);
		status = call(user);
		tf_alloc_fail_at(0);
		if (status != TF_OK && status != TF_E_NO_MEMORY)
			fail_msg("allocation %lu of %lu: %s", (unsigned long)n, (unsigned long)count,
				tf_status_name(status));
		failures += status != TF_OK;
		tried++;
	}
	print_message("%lu of %lu allocations failed, %lu calls with them\n", (unsigned long)tried,
		(unsigned long)count, (unsigned long)failures);
	assert_true(failures >= min_failures && failures * 10 >= tried * 9);
	assert_int_equal(call(user), TF_OK);
}

struct subject {
	struct tf_program program;
	struct tf_bytes image;
};

static enum tf_status call_write(void *user)
{
	struct subject *subject = user;
	struct tf_bytes out = {0};
	struct tf_error err = {0};
	enum tf_status status = tf_catalog_write(&subject->program, &out, &err);

	if (status == TF_OK) {
		assert_int_equal(out.size, subject->image.size);
		assert_memory_equal(out.data, subject->image.data, out.size);
	} else {
		assert_int_equal(out.size, 0);
		assert_int_equal(err.status, status);
	}
	tf_bytes_fini(&out);
	return status;
}

static enum tf_status call_read(void *user)
{
	static const struct tf_program untouched;
	struct subject *subject = user;
	struct tf_program out = {0};
	struct tf_error err = {0};
	enum tf_status status =
		tf_catalog_read(subject->image.data, subject->image.size, ALL, &out, &err);

	if (status == TF_E_INVALID)
		print_message("%s\n", err.text);
	if (status == TF_OK)
		assert_null(sample_program_difference(&subject->program, &out));
	else
		assert_memory_equal(&out, &untouched, sizeof(out));
	tf_program_fini(&out);
	return status;
}

static int on_row(void *user, int columns, char *const *names, char *const *values)
{
	(void)columns, (void)names, (void)values;
	++*(int *)user;
	return 0;
}

static enum tf_status call_query(void *user)
{
	struct subject *subject = user;
	int rows = 0;
	enum tf_status status = tf_catalog_query(subject->image.data, subject->image.size,
		"SELECT *, x'ab' FROM picks", TF_DEADLINE_NEVER, on_row, &rows, NULL);

	if (status == TF_OK)
		assert_int_equal(rows, 4);
	return status;
}

static void sweep_with(enum tf_status (*call)(void *user), uint64_t min_failures)
{
	struct subject subject;

	sample_program_make(&subject.program);
	catalog_image_make(&subject.image);
	sweep(call, &subject, min_failures);
	tf_program_fini(&subject.program);
	tf_bytes_fini(&subject.image);
}

static void writing_with_short_memory(void **state)
{
	(void)state;
	sweep_with(call_write, 200);
}

static void reading_with_short_memory(void **state)
{
	(void)state;
	sweep_with(call_read, 200);
}

static void asking_with_short_memory(void **state)
{
	(void)state;
	sweep_with(call_query, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writing_with_short_memory),
		cmocka_unit_test(reading_with_short_memory),
		cmocka_unit_test(asking_with_short_memory),
	};

	return cmocka_run_group_tests(tests, route_sqlite, NULL);
}
