/* SPDX-License-Identifier: Apache-2.0 */
/* Windows that no base is found for: all ranks are told why. Refusals are planted into a device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/session/rank_window.h"
#include "tests/link/rank_threads.h"

#define WORLD  3
#define STRIDE (UINT64_C(1) << 21)

static struct tf_device_ops planted_ops;
static int is_proposal_had; /* an address of the proposer's own choice, which the others refuse */

static enum tf_status planted_open(struct tf_device *device,
	const uint8_t token[TF_WINDOW_TOKEN_BYTES], uint64_t base, uint64_t stride, uint32_t world,
	struct tf_window **out, struct tf_error *err)
{
	if (base)
		return TF_FAIL(err, TF_E_MISFIT, "the range is taken");
	if (!is_proposal_had)
		return TF_FAIL(err, TF_E_NO_MEMORY, "addresses are limited");
	return tf_host_device_ops.window_open(device, token, base, stride, world, out, err);
}

static enum tf_status body(void *user, struct tf_link *link, struct tf_error *err)
{
	const struct tf_layout layout = {.segment_bytes = STRIDE, .stride_bytes = STRIDE};
	struct tf_rank_window window = {0};
	struct tf_device *device = NULL;
	enum tf_status status = tf_host_device_ops.open(0, &device, err);

	(void)user;
	if (status == TF_OK)
		status = tf_rank_window_reserve(&planted_ops, device, link, &layout, 0, SOON, &window, err);
	tf_rank_window_close(&window);
	tf_host_device_ops.close(device);
	return status;
}

static void check(enum tf_status status, const char *words)
{
	struct tf_error errors[TF_WORLD_MAX] = {0};

	planted_ops = tf_host_device_ops;
	planted_ops.window_open = planted_open;
	run_ranks(WORLD, body, NULL, errors);
	for (uint32_t r = 0; r < WORLD; r++) {
		if (errors[r].status != status || !strstr(errors[r].text, words))
			fail_msg("rank %u: %s: %s", r, tf_status_name(errors[r].status), errors[r].text);
		assert_non_null(strstr(errors[r].text,
			"no base is free on every rank for a window of 3 segments of 2097152 bytes; 4 fixed "));
	}
}

static void test_all_know_why(void **state)
{
	(void)state;
	is_proposal_had = 0; /* the last to propose is the last rank */
	check(TF_E_NO_MEMORY, "were tried, the last: rank 2: addresses are limited");
	is_proposal_had = 1;
	check(TF_E_MISFIT, "were tried, the last: rank 0: the range is taken");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_know_why)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
