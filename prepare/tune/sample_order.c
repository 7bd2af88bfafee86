/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stride coprime to the count visits every slot once. The stride moves with the pass, so that a
 * slot has other neighbours in every pass and no candidate is always sampled behind the same one.
 */
#include "prepare/tune/sample_order.h"

static uint32_t gcd(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* The first number from `near` on that shares no factor with `count`. */
static uint32_t coprime_from(uint32_t near, uint32_t count)
{
	uint32_t stride = near ? near : 1;

	while (gcd(stride, count) != 1)
		stride++;
	return stride;
}

void tf_sample_order(uint32_t slots, uint32_t pass, uint32_t *order)
{
	uint32_t golden = (uint32_t)((uint64_t)slots * 618 / 1000);
	uint32_t stride = coprime_from(golden + pass, slots);
	uint32_t start = (uint32_t)((uint64_t)pass * coprime_from(slots / 21, slots) % slots);

	for (uint32_t i = 0; i < slots; i++)
		order[i] = (uint32_t)((start + (uint64_t)i * stride) % slots);
}
