/* SPDX-License-Identifier: Apache-2.0 */
/* tf_expected_output (vector loops) gives the bytes of tf_reference (plain loops). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "runtime/collective/collective.h"

#define COUNT_LARGEST 4099
#define BYTES_LARGEST (4 * COUNT_LARGEST)

static uint8_t operands[TF_WORLD_MAX][BYTES_LARGEST];
static uint8_t wanted[TF_WORLD_MAX * BYTES_LARGEST], found[TF_WORLD_MAX * BYTES_LARGEST];

static void compare_one(
	const struct tf_group *group, uint32_t world, uint32_t rank, enum tf_fill fill)
{
	const void *inputs[TF_WORLD_MAX];
	uint64_t count = tf_group_input_count(group), width = tf_dtype_bytes(group->dtype);
	uint64_t owned = tf_owned_count(group->op, count, rank, world);

	for (uint32_t r = 0; r < world; r++) {
		tf_operand_fill(fill, group->dtype, 7, r, count, operands[r]);
		inputs[r] = operands[r];
	}
	memset(wanted, 0x5a, sizeof(wanted));
	memset(found, 0x5a, sizeof(found));
	tf_reference(group->op, group->dtype, world, rank, count, inputs, wanted);
	tf_expected_output(group, world, rank, inputs, found);
	assert_memory_equal(found, wanted, sizeof(found));
	if (owned)
		assert_int_not_equal(memcmp(found, "\x5a\x5a\x5a\x5a", width), 0);
}

static void equals_the_plain_loops(void **state)
{
	static const uint64_t counts[] = {1, 2, 5, 33, 1000, COUNT_LARGEST};

	(void)state;
	for (uint32_t i = 0; i < TF_OP_COUNT * TF_DTYPE_COUNT * 6; i++) {
		struct tf_group group = {
			.op = (enum tf_op)(i % TF_OP_COUNT),
			.dtype = (enum tf_dtype)(i / TF_OP_COUNT % TF_DTYPE_COUNT),
			.row_elements = counts[i / (TF_OP_COUNT * TF_DTYPE_COUNT)],
			.capacity = 1,
		};

		for (uint32_t world = TF_WORLD_MIN; world <= TF_WORLD_MAX; world++) {
			compare_one(&group, world, i % world, TF_FILL_RANDOM);
			compare_one(&group, world, world - 1, TF_FILL_SPECIAL);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(equals_the_plain_loops)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
