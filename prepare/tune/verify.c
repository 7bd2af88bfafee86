/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1. A group's candidates run one after another; after each round all ranks exchange what they
 *    saw, so a verdict is the group's.
 * 2. A fault (a late candidate) stops the round on every rank, because the fault's rank raises
 *    all abort words. The earliest slot that faulted anywhere is struck, the protocol memory is
 *    reset, and the round goes on behind it.
 *    Where it is a library's call, the library has ended for all groups: so have its candidates,
 *    also those that had passed.
 * 3. Outputs are overwritten before each run, so bytes of an earlier candidate cannot pass.
 * 4. The ranks meet before each candidate: a rank that takes no part in one cannot be at the next
 *    and send there what passes for its part here.
 */
#include "prepare/tune/verify.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "ladders/ladder.h"
#include "prepare/tune/plan.h"
#include "runtime/collective/collective.h"
#include "runtime/collective/output_check.h"
#include "runtime/collective/startup.h"

#define POISON_BYTE        0xa5
#define CANDIDATE_TIMEOUTS 4 /* its kernels bound each of their waits by one */
#define LIBRARY_TIMEOUTS   2 /* nothing bounds NCCL's but this; its peers wait for the outcome */
#define VERIFY_SEED        UINT64_C(0x7466707265700002)

/* Of an output: an element that is not as it should be, as words of its dtype's width. */
struct odd_element {
	uint64_t index;
	uint32_t found, wanted;
};

/* What one rank saw of a round of one group. */
struct round_record {
	uint32_t faulted_slot; /* the slot where this rank's run faulted, or TF_PROGRAM_NONE */
	uint32_t aborted;      /* 1: a peer ended that run, which has the better reason */
	uint32_t failed;       /* 1: it was not late: a call told a failure */
	uint32_t ended;        /* 1: a library's call, and with it the library's communicator */
	uint8_t wrong[TF_LADDER_RUNGS_MAX];          /* by rung: 1 where the bytes differed */
	struct odd_element odd[TF_LADDER_RUNGS_MAX]; /* by rung: where they did */
	/* by rung: of the output where its bytes may be others than the reference's, else 0 */
	uint64_t digest[TF_LADDER_RUNGS_MAX];
	char fault[112];
};

/*
 * Reference bytes of a group for one fill; by the plain loops, not by those that the kernels
 * share.
 */
struct operands {
	uint8_t *inputs; /* (world, input bytes) */
	uint8_t *wanted; /* (output bytes) */
	uint8_t *found;  /* (output bytes) */
	uint64_t input_bytes, output_bytes, owned_bytes;
	enum tf_fill fill;
};

static void operands_fini(struct operands *operands)
{
	tf_free(operands->inputs);
	tf_free(operands->wanted);
	tf_free(operands->found);
}

static enum tf_status operands_init(struct operands *operands, const struct tf_bench_rank *rank,
	uint32_t group_index, enum tf_fill fill, struct tf_error *err)
{
	const struct tf_group *group = &rank->program->groups[group_index];
	uint32_t world = rank->window.world;
	const void *inputs[TF_WORLD_MAX];
	uint32_t buffer = tf_plan_buffer(rank->program, group_index, 0, TF_BUFFER_INPUT);

	operands->fill = fill;
	operands->input_bytes = tf_group_input_bytes(group);
	operands->output_bytes = tf_group_output_bytes(group, world);
	operands->owned_bytes =
		tf_owned_count(group->op, tf_group_input_count(group), rank->window.rank, world) *
		tf_dtype_bytes(group->dtype);
	operands->inputs = tf_calloc(world, operands->input_bytes);
	operands->wanted = tf_calloc(1, operands->output_bytes);
	operands->found = tf_calloc(1, operands->output_bytes);
	if (!operands->inputs || !operands->wanted || !operands->found)
		return TF_FAIL(
			err, TF_E_NO_MEMORY, "no memory for the operands of group '%s'", group->name);
	for (uint32_t r = 0; r < world; r++) {
		inputs[r] = operands->inputs + r * operands->input_bytes;
		tf_operand_fill(fill, group->dtype, VERIFY_SEED + group_index, r,
			tf_group_input_count(group), operands->inputs + r * operands->input_bytes);
	}
	tf_reference(group->op, group->dtype, world, rank->window.rank, tf_group_input_count(group),
		inputs, operands->wanted);
	return rank->ops->write(rank->device,
		tf_rank_window_at(&rank->window, 0, rank->program->buffers[buffer].segment_off),
		inputs[rank->window.rank], operands->input_bytes, err);
}

/* They differ. */
static uint64_t first_difference(const struct operands *operands, uint64_t element_bytes)
{
	uint64_t at = 0;

	while (operands->found[at] == operands->wanted[at])
		at++;
	return at / element_bytes;
}

static void note_odd(const struct operands *operands, uint64_t index, uint64_t element_bytes,
	struct odd_element *out)
{
	out->index = index;
	memcpy(&out->found, operands->found + index * element_bytes, element_bytes);
	memcpy(&out->wanted, operands->wanted + index * element_bytes, element_bytes);
}

/*
 * Special values have no roundings to be within: a sum in another order may overflow where ours
 * does not. All ranks must hold the same bytes of an all-reduce in any case.
 */
static void compare(const struct tf_bench_rank *rank, uint32_t slot,
	const struct operands *operands, struct round_record *record)
{
	const struct tf_group_candidate *entry = &rank->program->candidates[slot];
	const struct tf_group *group = &rank->program->groups[entry->group];
	const void *inputs[TF_WORLD_MAX];
	uint64_t element_bytes = tf_dtype_bytes(group->dtype), element;

	if (!tf_candidate_is_library(&entry->candidate) ||
		!tf_program_allows_any(rank->program, entry->group)) {
		if (!memcmp(operands->found, operands->wanted, operands->owned_bytes))
			return;
		record->wrong[entry->rung] = 1;
		note_odd(operands, first_difference(operands, element_bytes), element_bytes,
			&record->odd[entry->rung]);
		return;
	}
	for (uint32_t r = 0; r < rank->window.world; r++)
		inputs[r] = operands->inputs + r * operands->input_bytes;
	record->wrong[entry->rung] = operands->fill == TF_FILL_RANDOM &&
		tf_output_check(group, rank->window.world, rank->window.rank, inputs, operands->wanted,
			operands->found, &element) == TF_OUTPUT_WRONG;
	if (record->wrong[entry->rung])
		note_odd(operands, element, element_bytes, &record->odd[entry->rung]);
	if (group->op == TF_OP_ALL_REDUCE)
		record->digest[entry->rung] =
			tf_fnv64(TF_FNV_START, operands->found, operands->output_bytes);
}

/*
 * What the candidate itself fails with is a fault of its own: what its wait returns and, where a
 * library carries it out, what its call returns.
 */
static enum tf_status launch_and_wait(
	struct tf_bench_rank *rank, uint32_t slot, struct tf_error *fault, struct tf_error *err)
{
	int is_library = tf_candidate_is_library(&rank->program->candidates[slot].candidate);
	int64_t bound = (is_library ? LIBRARY_TIMEOUTS : CANDIDATE_TIMEOUTS) * rank->timeout_ns;

	if (is_library && tf_bench_rank_launch(rank, slot, 0, NULL, fault) != TF_OK) {
		/* What stands before the call on the stream is ours, and bounds itself. */
		(void)!tf_bench_rank_wait(rank, 0, bound, NULL);
		return TF_OK;
	}
	if (!is_library)
		TF_TRY(tf_bench_rank_launch(rank, slot, 0, NULL, err));
	(void)!tf_bench_rank_wait(rank, is_library, bound, fault);
	return TF_OK;
}

/*
 * One candidate once. A kernel's fault lands in `record`; other failures are this rank's own and
 * are returned.
 */
static enum tf_status run_one(struct tf_bench_rank *rank, uint32_t slot, struct operands *operands,
	struct round_record *record, struct tf_error *err)
{
	const struct tf_program *program = rank->program;
	const struct tf_group_candidate *entry = &program->candidates[slot];
	uint32_t buffer = tf_plan_buffer(program, entry->group, 0, TF_BUFFER_OUTPUT);
	void *output = tf_rank_window_at(&rank->window, 0, program->buffers[buffer].segment_off);
	struct tf_error fault = {0};

	TF_TRY(rank->ops->stream_set(rank->stream, output, POISON_BYTE, operands->output_bytes, err));
	TF_TRY(tf_bench_rank_launch_startup(rank, "sample_begin", slot, 0, TF_PROGRAM_NONE, err));
	if (launch_and_wait(rank, slot, &fault, err) != TF_OK)
		return err->status;
	if (fault.status != TF_OK || tf_bench_rank_fault(rank, &fault) != TF_OK) {
		tf_rank_memory_abort(&rank->memory);
		record->faulted_slot = slot;
		record->aborted = fault.status == TF_E_ABORTED;
		record->failed = fault.status != TF_E_ABORTED && fault.status != TF_E_TIMEOUT;
		record->ended = tf_candidate_is_library(&entry->candidate) && fault.status != TF_E_USAGE;
		snprintf(record->fault, sizeof(record->fault), "%.111s", fault.text);
		return TF_OK;
	}
	TF_TRY(rank->ops->read(rank->device, operands->found, output, operands->output_bytes, err));
	compare(rank, slot, operands, record);
	return TF_OK;
}

static void strike(struct tf_group_candidate *entry, const char *text)
{
	if (entry->state == TF_CANDIDATE_STRUCK)
		return;
	entry->state = TF_CANDIDATE_STRUCK;
	snprintf(entry->reason, sizeof(entry->reason), "%s", text);
}

/*
 * A library that sums in another order is not wrong, but of another numerics class: which of two
 * classes a group is of must not hang on a time.
 */
static void tell_wrong(const struct tf_program *program, const struct tf_group_candidate *entry,
	const struct round_record *record, uint32_t rank, char *out, size_t size)
{
	const struct odd_element *odd = &record->odd[entry->rung];
	int digits = 2 * (int)tf_dtype_bytes(program->groups[entry->group].dtype);
	unsigned long long index = odd->index;

	if (!record->wrong[entry->rung])
		snprintf(out, size, "struck out: its bytes on rank %u are not those of rank 0", rank);
	else if (!tf_candidate_is_library(&entry->candidate))
		snprintf(out, size,
			"struck out: wrong bytes on rank %u: element %llu is 0x%0*x, not 0x%0*x", rank, index,
			digits, odd->found, digits, odd->wanted);
	else if (tf_program_allows_any(program, entry->group))
		snprintf(out, size,
			"struck out: element %llu on rank %u is 0x%0*x, further from the reference 0x%0*x than "
			"its "
			"roundings",
			index, rank, digits, odd->found, digits, odd->wanted);
	else
		snprintf(out, size,
			"struck out: of another numerics class: element %llu on rank %u is 0x%0*x, and 0x%0*x "
			"summed in rank order, rounded once",
			index, rank, digits, odd->found, digits, odd->wanted);
}

static void strike_library(struct tf_program *program, const char *text)
{
	for (uint32_t slot = 0; slot < program->candidate_count; slot++)
		if (tf_candidate_is_library(&program->candidates[slot].candidate))
			strike(&program->candidates[slot], text);
}

static void tell_fault(const struct round_record *records, uint32_t rank, char *out, size_t size)
{
	snprintf(out, size, "struck out: %s on rank %u: %.111s",
		records[rank].failed ? "failed" : "late", rank, records[rank].fault);
}

/* Draws the group's verdict from all ranks' records; returns the slot to go on from, or `end`. */
static uint32_t judge(struct tf_program *program, const struct round_record *records,
	uint32_t world, uint32_t first, uint32_t end)
{
	uint32_t faulted = end, by = 0, ended = world;
	char text[sizeof(program->candidates[0].reason)];

	for (uint32_t r = 0; r < world; r++) {
		if (records[r].ended && (ended == world || records[ended].aborted))
			ended = r;
		if (records[r].faulted_slot < faulted ||
			(faulted < end && records[r].faulted_slot == faulted && records[by].aborted &&
				!records[r].aborted)) {
			faulted = records[r].faulted_slot;
			by = r;
		}
	}
	for (uint32_t slot = first; slot < faulted; slot++) {
		uint32_t rung = program->candidates[slot].rung;

		for (uint32_t r = 0; r < world; r++) {
			if (!records[r].wrong[rung] && records[r].digest[rung] == records[0].digest[rung])
				continue;
			tell_wrong(program, &program->candidates[slot], &records[r], r, text, sizeof(text));
			strike(&program->candidates[slot], text);
		}
	}
	if (faulted == end)
		return end;
	/* The library may have ended on a rank that was further on than the one that faulted first. */
	if (ended < world) {
		tell_fault(records, ended, text, sizeof(text));
		strike_library(program, text);
	}
	tell_fault(records, by, text, sizeof(text));
	strike(&program->candidates[faulted], text);
	return faulted + 1;
}

/*
 * All candidates from `from` on, until one faults. A failure of this rank's own ends its peers'
 * waits.
 */
static void run_round(struct tf_bench_rank *rank, uint32_t from, uint32_t end,
	struct operands *operands, struct round_record *record, struct tf_error *err)
{
	for (uint32_t slot = from; slot < end && record->faulted_slot == TF_PROGRAM_NONE; slot++) {
		if (rank->program->candidates[slot].state == TF_CANDIDATE_STRUCK ||
			run_one(rank, slot, operands, record, err) == TF_OK)
			continue;
		tf_rank_memory_abort(&rank->memory);
		return;
	}
}

static enum tf_status verify_group(struct tf_bench_rank *rank, uint32_t first, uint32_t end,
	enum tf_fill fill, struct tf_error *err)
{
	struct tf_program *program = rank->program;
	struct round_record *records = tf_calloc(rank->window.world, sizeof(records[0]));
	struct operands operands = {0};
	struct tf_error local = {0};
	enum tf_status status = TF_OK;
	uint32_t from = first;

	if (!records)
		(void)!TF_FAIL(
			&local, TF_E_NO_MEMORY, "no memory for records of %u ranks", rank->window.world);
	else
		(void)!operands_init(&operands, rank, program->candidates[first].group, fill, &local);
	status = tf_link_agree_ok(rank->link, &local, tf_deadline_after(rank->timeout_ns), err);
	while (status == TF_OK && from < end) {
		struct round_record mine = {.faulted_slot = TF_PROGRAM_NONE};

		run_round(rank, from, end, &operands, &mine, &local);
		status = tf_link_agree_ok(rank->link, &local, tf_deadline_after(6 * rank->timeout_ns), err);
		if (status == TF_OK)
			status = tf_link_exchange_fixed(
				rank->link, &mine, sizeof(mine), records, tf_deadline_after(rank->timeout_ns), err);
		if (status != TF_OK)
			break;
		from = judge(program, records, rank->window.world, from, end);
		if (from < end || program->candidates[end - 1].state == TF_CANDIDATE_STRUCK)
			status = tf_bench_rank_reset(rank, err);
	}
	operands_fini(&operands);
	tf_free(records);
	return status;
}

enum tf_status tf_verify_candidates(struct tf_bench_rank *rank, struct tf_error *err)
{
	struct tf_program *program = rank->program;
	uint32_t first = 0;

	TF_TRY(tf_rank_memory_prepare_startup(&rank->memory, program, err));
	for (uint32_t g = 0; g < program->group_count; g++) {
		uint32_t end = first;

		while (end < program->candidate_count && program->candidates[end].group == g)
			end++;
		/* What is left behind is sampled: special values send sentinel gathers the long way. */
		TF_TRY(verify_group(rank, first, end, TF_FILL_SPECIAL, err));
		TF_TRY(verify_group(rank, first, end, TF_FILL_RANDOM, err));
		first = end;
		if (rank->progress)
			rank->progress(rank->progress_user, "verify", g + 1, program->group_count);
	}
	return TF_OK;
}
