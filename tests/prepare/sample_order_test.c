/* SPDX-License-Identifier: Apache-2.0 */
/* The order of samples: a permutation at every count and pass, and not the same one twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "prepare/tune/sample_order.h"
#include "runtime/collective/startup.h"

#define SLOTS_MAX 2000

static uint32_t orders[TF_PASSES][SLOTS_MAX];

static void fill_orders(uint32_t slots)
{
	for (uint32_t pass = 0; pass < TF_PASSES; pass++)
		tf_sample_order(slots, pass, orders[pass]);
}

static void test_every_pass_is_a_permutation(void **state)
{
	static uint8_t seen[SLOTS_MAX];

	(void)state;
	for (uint32_t slots = 1; slots <= SLOTS_MAX; slots++) {
		fill_orders(slots);
		for (uint32_t pass = 0; pass < TF_PASSES; pass++) {
			memset(seen, 0, slots);
			for (uint32_t i = 0; i < slots; i++) {
				assert_true(orders[pass][i] < slots);
				assert_int_equal(seen[orders[pass][i]]++, 0);
			}
		}
	}
}

/*
 * From 21 slots on no two passes are alike; below, two neighbouring passes are not, where two
 * orders exist.
 */
static void test_passes_differ(void **state)
{
	(void)state;
	for (uint32_t slots = 2; slots <= SLOTS_MAX; slots++) {
		fill_orders(slots);
		for (uint32_t pass = 1; pass < TF_PASSES; pass++) {
			for (uint32_t before = slots < TF_PASSES ? pass - 1 : 0; before < pass; before++)
				assert_true(
					memcmp(orders[pass], orders[before], slots * sizeof(orders[0][0])) != 0);
		}
	}
}

/*
 * What is sampled right before a slot changes: nobody always profits from, or suffers by, one
 * neighbour.
 */
static void test_neighbours_change(void **state)
{
	(void)state;
	for (uint32_t slots = 21; slots <= 700; slots++) {
		uint32_t predecessors[TF_PASSES], different = 0;

		fill_orders(slots);
		for (uint32_t pass = 0; pass < TF_PASSES; pass++) {
			predecessors[pass] = UINT32_MAX;
			for (uint32_t i = 1; i < slots; i++) {
				if (orders[pass][i] == 0)
					predecessors[pass] = orders[pass][i - 1];
			}
		}
		for (uint32_t pass = 1; pass < TF_PASSES; pass++) {
			int fresh = 1;

			for (uint32_t before = 0; before < pass; before++)
				fresh &= predecessors[before] != predecessors[pass];
			different += (uint32_t)fresh;
		}
		assert_true(different >= 4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_pass_is_a_permutation),
		cmocka_unit_test(test_passes_differ),
		cmocka_unit_test(test_neighbours_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
