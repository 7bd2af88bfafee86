/* SPDX-License-Identifier: Apache-2.0 */
/* Calls beside the reference, byte by byte. What does not end in time ends the program. */
#include "tests/gpu/kernels_compare.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define POISON     0xa5
#define FAULTS_MAX 8 /* a broken protocol fails everywhere: stop after a few */

struct kernels_tally kernels_tally;

int kernels_may_run(const struct rig *rig, int writer)
{
	return !rig->parted || writer == TF_WRITER_STAGED;
}

void kernels_fail(
	const struct rig *rig, uint32_t rank, const struct rig_call *call, const char *why)
{
	char text[160];

	if (kernels_tally.failures++ < MESSAGES)
		printf("FAIL world %u rank %u: %s: %s\n", rig->world, rank,
			rig_call_text(call, text, sizeof(text)), why);
}

void kernels_give_up(const char *what)
{
	printf("kernels did not end in time: %s\n", what);
	fflush(stdout);
	_exit(1);
}

void kernels_upload(const struct rig *rig, const struct rig_call *call, uint64_t seed,
	enum tf_fill fill, uint8_t *inputs)
{
	uint64_t element = tf_dtype_bytes(call->dtype), bytes = call->count * element;

	for (uint32_t r = 0; r < rig->world; r++) {
		tf_operand_fill(fill, call->dtype, seed, r, call->count, inputs + r * bytes);
		CHECK(cudaMemcpy(rig_input(rig, r, call->area_in) + call->shift * element,
			inputs + r * bytes, bytes, cudaMemcpyHostToDevice));
	}
}

void kernels_poison(const struct rig *rig, uint32_t area)
{
	for (uint32_t r = 0; r < rig->world; r++) {
		CHECK(cudaSetDevice((int)rig_device(rig, r)));
		CHECK(cudaMemset(rig_output(rig, r, area), POISON, rig->area_bytes - rig->in_bytes));
		CHECK(cudaDeviceSynchronize());
	}
}

void kernels_compare(const struct rig *rig, const struct rig_call *call, const uint8_t *inputs)
{
	static uint8_t expected[TF_WORLD_MAX * COUNT_MAX * 4 + RIG_GUARD];
	static uint8_t found[sizeof(expected)];
	uint64_t element = tf_dtype_bytes(call->dtype), bytes = call->count * element;
	const void *from[TF_WORLD_MAX];

	for (uint32_t r = 0; r < rig->world; r++)
		from[r] = inputs + r * bytes;
	for (uint32_t r = 0; r < rig->world; r++) {
		uint64_t owned = tf_owned_count(call->op, call->count, r, rig->world) * element;

		kernels_tally.cases++;
		memset(expected, POISON, owned + RIG_GUARD / 2);
		if (!call->mask)
			tf_reference(call->op, call->dtype, rig->world, r, call->count, from, expected);
		memset(expected + owned, POISON, RIG_GUARD / 2);
		CHECK(cudaMemcpy(found, rig_output(rig, r, call->area_out) + call->shift * element,
			owned + RIG_GUARD / 2, cudaMemcpyDeviceToHost));
		for (uint64_t i = 0; i < owned + RIG_GUARD / 2; i++) {
			char why[96];

			if (expected[i] == found[i])
				continue;
			snprintf(why, sizeof(why), "byte %llu of %llu is %02x, not %02x", (unsigned long long)i,
				(unsigned long long)owned, found[i], expected[i]);
			kernels_fail(rig, r, call, why);
			break;
		}
	}
}

int kernels_settle(struct rig *rig, const char *what, uint32_t epoch)
{
	static uint32_t batches; /* with a fault */

	if (rig_wait(rig, WAIT_S))
		kernels_give_up(what);
	if (!rig_faults(rig, what))
		return 0;
	kernels_tally.failures++;
	rig_reset(rig, TIMEOUT_NS, epoch);
	if (++batches >= FAULTS_MAX)
		kernels_give_up("too many faults");
	return 1;
}
