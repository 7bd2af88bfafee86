/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a call leaves in the control words: the fault of a peer that never comes or of arguments
 * that do not fit, nothing where a mask is off, and the counters of calls that went well.
 */
#include "tests/gpu/kernels_parts.h"

#include <stdio.h>

#include "tests/gpu/kernels_compare.h"

/* A peer that never comes: the wait ends by its bound and says so. */
void kernels_absent_peer(struct rig *rig, int kernel)
{
	struct rig_call call = {.op = TF_OP_ALL_REDUCE,
		.algorithm = (enum tf_algorithm)(kernel / RIG_WRITERS),
		.writer = (enum tf_writer)(kernel % RIG_WRITERS),
		.count = 512,
		.ctas = 2,
		.threads = 128};
	struct tf_control control;
	char why[96];

	rig_reset(rig, 20000000, 0);
	rig_launch(rig, 0, &call);
	rig_launch(rig, 0, &call);
	if (rig_wait(rig, WAIT_S))
		kernels_give_up("absent peer");
	rig_control(rig, 0, &control);
	kernels_tally.cases++;
	if (control.fault.code != TF_FAULT_TIMEOUT || control.fault.peer != 1 ||
		control.fault.group != 7 || control.fault.writer != (uint32_t)call.writer) {
		snprintf(why, sizeof(why), "fault %u peer %u group %u writer %u", control.fault.code,
			control.fault.peer, control.fault.group, control.fault.writer);
		kernels_fail(rig, 0, &call, why);
	}
	rig_control(rig, 1, &control);
	if (control.abort != 1)
		kernels_fail(rig, 1, &call, "the peer's abort word was not raised");
	/* The second rank comes too late: it may finish on what was sent, or ends by the abort. */
	rig_launch(rig, 1, &call);
	if (rig_wait(rig, WAIT_S))
		kernels_give_up("late peer");
}

void kernels_refused(struct rig *rig)
{
	struct rig_call call = {.op = TF_OP_ALL_REDUCE,
		.writer = TF_WRITER_SENTINEL,
		.count = 512,
		.ctas = 2,
		.threads = 128,
		.lie_ctas = 3};
	struct tf_control control;

	rig_reset(rig, TIMEOUT_NS, 0);
	rig_launch(rig, 0, &call);
	if (rig_wait(rig, WAIT_S))
		kernels_give_up("refused arguments");
	rig_control(rig, 0, &control);
	kernels_tally.cases++;
	if (control.fault.code != TF_FAULT_ARGUMENT || control.family[TF_FAMILY_SENTINEL][0].epoch != 0)
		kernels_fail(rig, 0, &call, "was not refused");
}

void kernels_masked(struct rig *rig)
{
	static uint8_t inputs[TF_WORLD_MAX * 512 * 4];
	struct rig_call call = {.op = TF_OP_ALL_REDUCE,
		.writer = TF_WRITER_DIRECT,
		.count = 512,
		.ctas = 2,
		.threads = 128};
	struct tf_control control;

	rig_reset(rig, TIMEOUT_NS, 0);
	kernels_upload(rig, &call, 3, TF_FILL_RANDOM, inputs);
	kernels_poison(rig, 0);
	for (uint32_t r = 0; r < rig->world; r++) {
		/* a word of zeros that is the rank's own: an epoch that nobody has used */
		call.mask = &((struct tf_control *)(void *)rig->segment[r])->family[TF_FAMILY_LL][0].epoch;
		rig_launch(rig, r, &call);
	}
	if (rig_wait(rig, WAIT_S))
		kernels_give_up("masked");
	kernels_compare(rig, &call, inputs);
	rig_control(rig, 0, &control);
	if (control.family[TF_FAMILY_FLAG][0].epoch != 0 || control.writer_calls[TF_WRITER_DIRECT])
		kernels_fail(rig, 0, &call, "a masked call moved the epoch");
}

void kernels_counters(struct rig *rig)
{
	struct rig_call call = {
		.op = TF_OP_ALL_REDUCE, .writer = TF_WRITER_LL, .count = 512, .ctas = 3, .threads = 64};
	struct tf_control control;

	rig_reset(rig, TIMEOUT_NS, 0);
	for (uint32_t i = 0; i < 5; i++) {
		for (uint32_t r = 0; r < rig->world; r++)
			rig_launch(rig, r, &call);
	}
	if (kernels_settle(rig, "counters", 0))
		return;
	rig_control(rig, rig->world - 1, &control);
	kernels_tally.cases++;
	if (control.writer_calls[TF_WRITER_LL] != 5 || control.calls != 5 ||
		control.family[TF_FAMILY_LL][0].epoch != 5 || control.ticket ||
		control.writer_bytes[TF_WRITER_LL] != 5u * (rig->world - 1) * 1024)
		kernels_fail(rig, rig->world - 1, &call, "the counters do not tell five calls");
}
