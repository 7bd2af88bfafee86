/* SPDX-License-Identifier: Apache-2.0 */
/* Raising the abort words where every access is a copy: by a device that counts its copies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/session/rank_memory.h"

#define WORLD 4

static struct tf_control controls[WORLD];
static uint32_t reads, writes, bad_rank; /* of the reads: whose fails */
static enum tf_status bad;

static enum tf_status count_read(
	struct tf_device *device, void *to, const void *from, size_t bytes, struct tf_error *err)
{
	(void)device;
	reads++;
	if ((uintptr_t)from - (uintptr_t)&controls[bad_rank] < sizeof(controls[0]) && bad != TF_OK)
		return TF_FAIL(err, bad, "the copy failed");
	memcpy(to, from, bytes);
	return TF_OK;
}

static enum tf_status count_write(
	struct tf_device *device, void *to, const void *from, size_t bytes, struct tf_error *err)
{
	(void)device, (void)err;
	writes++;
	memcpy(to, from, bytes);
	return TF_OK;
}

static const struct tf_device_ops ops = {
	.name = "counts", .read = count_read, .write = count_write};

static void end_as_rank_1(uint32_t rank, enum tf_status status)
{
	struct tf_rank_window window = {.ops = &ops,
		.base = (uint64_t)(uintptr_t)controls,
		.stride = sizeof(controls[0]),
		.rank = 1,
		.world = WORLD};
	struct tf_rank_memory memory = {.ops = &ops, .window = &window};

	memset(controls, 0, sizeof(controls));
	controls[3].abort = 1; /* by rank 0, which stays */
	reads = writes = 0;
	bad_rank = rank;
	bad = status;
	tf_rank_memory_ending(&memory);
}

static void test_all_are_told(void **state)
{
	(void)state;
	end_as_rank_1(0, TF_OK);
	for (uint32_t r = 0; r < WORLD; r++)
		assert_int_equal(controls[r].abort, r == 3 ? 1 : 2);
	assert_int_equal(writes, 3);
}

static void test_one_that_cannot_be_told(void **state)
{
	(void)state;
	end_as_rank_1(1, TF_E_USAGE); /* its own, the first that is looked at */
	assert_int_equal(reads, WORLD);
	assert_int_equal(controls[0].abort + controls[2].abort, 4);
}

/* Each copy of a device that hangs takes its whole bound. */
static void test_device_that_hangs(void **state)
{
	(void)state;
	end_as_rank_1(1, TF_E_TIMEOUT);
	assert_int_equal(reads, 1);
	assert_int_equal(writes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_are_told),
		cmocka_unit_test(test_one_that_cannot_be_told), cmocka_unit_test(test_device_that_hangs)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
