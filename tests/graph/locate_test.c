/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses and places: each the inverse of the other, for every rank; outside is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/dtype.h"
#include "runtime/graph/locate.h"

#define STRIDE UINT64_C(0x30000)

static void test_inverse(void **state)
{
	const uint64_t bases[] = {0, UINT64_C(0x7e9000000000), UINT64_MAX - TF_WORLD_MAX * STRIDE};
	const uint64_t offs[] = {0, 1, STRIDE / 2, STRIDE - 1};

	(void)state;
	for (size_t b = 0; b < 3; b++)
		for (uint32_t world = 1; world <= TF_WORLD_MAX; world++)
			for (uint32_t rank = 0; rank < world; rank++)
				for (uint32_t peer = 0; peer < world; peer++) {
					struct tf_window_view view = {bases[b], STRIDE, rank, world};
					uint64_t off = offs[(rank + peer) % 4], found_off;
					uint64_t address = tf_window_address(&view, peer, off);
					uint32_t found;

					assert_int_equal(address, bases[b] + (rank + peer) % world * STRIDE + off);
					assert_int_equal(
						tf_window_locate(&view, address, &found, &found_off, NULL), TF_OK);
					assert_int_equal(found, peer);
					assert_int_equal(found_off, off);
				}
}

static void test_outside(void **state)
{
	struct tf_window_view view = {UINT64_C(0x7e9000000000), STRIDE, 1, 3};
	const uint64_t outside[] = {
		0, view.base - 1, view.base + 3 * STRIDE, view.base + 3 * STRIDE + 5, UINT64_MAX};

	(void)state;
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
		struct tf_error err = {0};
		uint64_t off = 17;
		uint32_t peer = 18;

		assert_int_equal(tf_window_locate(&view, outside[i], &peer, &off, &err), TF_E_INVALID);
		assert_non_null(strstr(err.text, "0x7e9000000000 to 0x7e9000090000"));
		assert_int_equal(peer, 18);
		assert_int_equal(off, 17);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inverse),
		cmocka_unit_test(test_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
