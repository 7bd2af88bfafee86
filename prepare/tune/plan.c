/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1. Candidates stand in ladder order within their group, so a slot's number says its rung.
 * 2. Buffers stand in (group, pair, input before output) order, so finding one is arithmetic.
 *    Behind them stand the user's own, and last the evictor.
 * 3. Exported parts come first in a segment: control, protocol, exchange; then what is the rank's
 *    own. Without peer access ranks share what lies before the exchange buffers (peer_access.h), so
 *    the startup storage comes before them.
 */
#include "prepare/tune/plan.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "runtime/collective/collective.h"
#include "runtime/collective/copy_engine.h"
#include "runtime/collective/startup.h"
#include "runtime/collective/startup_host.h"
#include "runtime/collective/virtual_clock.h"
#include "runtime/collective/wait.h"
#include "runtime/device/builtin_module.h"
#include "runtime/session/machine_identity.h"
#include "runtime/session/peer_access.h"

/* What a ladder asks of the links, and whether NCCL's rungs count. */
#define LINKS                                                                                      \
	(TF_DEVICE_PEER_WRITE | TF_DEVICE_PEER_READ | TF_DEVICE_PEER_ATOMIC | TF_DEVICE_LIBRARY)
#define BUFFER_ALIGN_BYTES 256
#define STRIDE_ALIGN_BYTES (UINT64_C(2) << 20)
/*
 * Larger than the second-level caches of current CPUs; on the host one pass of 21 runs with it
 * between samples.
 */
#define EVICT_BYTES (UINT64_C(4) << 20)

static enum tf_status plan_groups(const struct tf_workload *workload, uint32_t world,
	struct tf_program *program, struct tf_error *err)
{
	program->world = world;
	program->groups = tf_calloc(workload->group_count, sizeof(program->groups[0]));
	program->selectors = tf_calloc(workload->group_count, sizeof(program->selectors[0]));
	if (!program->groups || !program->selectors)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %u groups", workload->group_count);
	memcpy(program->groups, workload->groups, workload->group_count * sizeof(program->groups[0]));
	program->group_count = workload->group_count;
	return TF_OK;
}

/*
 * On the host a rank's CTAs run one after another on its thread. Where ranks share CPUs besides,
 * a rung that differs from an earlier one in threads and CTAs alone is the same work, and which
 * of the two seems faster is chance: it is left out. Emulated links have a time for each of them.
 */
static uint32_t drop_twins(const struct tf_ladder *ladder, uint32_t *rungs, uint32_t count)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct tf_candidate *one = &ladder->rungs[rungs[i]].candidate;
		int twin = 0;

		for (uint32_t j = 0; j < kept && !twin; j++) {
			const struct tf_candidate *other = &ladder->rungs[rungs[j]].candidate;

			twin = one->algorithm == other->algorithm && one->writer == other->writer &&
				one->chunk_bytes == other->chunk_bytes;
		}
		if (!twin)
			rungs[kept++] = rungs[i];
	}
	return kept;
}

static enum tf_status add_candidates(struct tf_program *program, uint32_t group,
	const struct tf_ladder *ladder, const struct tf_device_properties *properties,
	struct tf_error *err)
{
	uint32_t rungs[TF_LADDER_RUNGS_MAX], count;
	struct tf_group_candidate *grown;

	TF_TRY(tf_ladder_legal(ladder, &program->groups[group], program->world,
		properties->capabilities & LINKS, rungs, &count, err));
	if (!strcmp(properties->kind, "host") && tf_ranks_share_cpus(program->world) &&
		!tf_virtual_clock_here())
		count = drop_twins(ladder, rungs, count);
	grown = tf_reallocarray(
		program->candidates, program->candidate_count + count, sizeof(program->candidates[0]));
	if (!grown)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %u candidates", count);
	program->candidates = grown;
	program->selectors[group] = program->candidate_count;
	for (uint32_t i = 0; i < count; i++) {
		struct tf_group_candidate *entry = &grown[program->candidate_count++];

		*entry = (struct tf_group_candidate){
			.group = group,
			.rung = i,
			.candidate = ladder->rungs[rungs[i]].candidate,
			.state = TF_CANDIDATE_COMPETED,
			.stage_median_ns = {-1, -1},
			.stage_low_ns = {-1, -1},
			.stage_high_ns = {-1, -1},
		};
		snprintf(entry->reason, sizeof(entry->reason), "not yet sampled");
		tf_protocol_plan(
			&program->layout, &program->groups[group], &entry->candidate, program->world);
	}
	return TF_OK;
}

static void describe_buffer(const struct tf_foreign *foreign, const struct tf_program *program,
	struct tf_buffer *buffer, uint32_t index, uint32_t pair, enum tf_buffer_role role, uint64_t *at)
{
	const struct tf_group *group = &program->groups[index];
	int is_input = role == TF_BUFFER_INPUT;
	uint64_t rows = group->capacity;

	*buffer = (struct tf_buffer){
		.role = role,
		.dtype = group->dtype,
		.segment_off = *at,
		.bytes =
			is_input ? tf_group_input_bytes(group) : tf_group_output_bytes(group, program->world),
		.peer_visible = 1,
		.group = index,
		.pair = pair,
	};
	tf_plan_name_buffer(foreign, group, index, is_input, pair, buffer->name);
	if (is_input || group->op == TF_OP_ALL_REDUCE) {
		buffer->dims_count = 2;
		buffer->dims[0] = rows;
		buffer->dims[1] = group->row_elements;
	} else if (group->op == TF_OP_ALL_GATHER) {
		buffer->dims_count = 3;
		buffer->dims[0] = program->world;
		buffer->dims[1] = rows;
		buffer->dims[2] = group->row_elements;
	} else {
		buffer->dims_count = 1;
		buffer->dims[0] = tf_shard_count(tf_group_input_count(group), program->world);
	}
	*at = tf_align_up(*at + buffer->bytes, BUFFER_ALIGN_BYTES);
}

static void place_startup(struct tf_layout *layout, uint64_t *at)
{
	layout->startup_off = tf_align_up(*at, 4096);
	*at = layout->startup_off + layout->startup_bytes;
}

/*
 * Buffers of the user's own: one each, for the largest capacity, in the part that peers do not see,
 * behind the evictor.
 */
static enum tf_status plan_own_buffers(
	const struct tf_workload *workload, struct tf_program *program, struct tf_error *err)
{
	const struct tf_foreign *foreign = workload->foreign;
	uint32_t rows = workload->capacities[workload->capacity_count - 1];
	uint64_t at = program->layout.private_off + EVICT_BYTES;

	for (uint32_t i = 0; foreign && i < foreign->buffer_count; i++) {
		const struct tf_foreign_buffer *from = &foreign->buffers[i];
		struct tf_buffer *to = &program->buffers[program->buffer_count];

		TF_TRY(tf_plan_check_name(program, from->name, err));
		program->buffer_count++;
		*to = (struct tf_buffer){
			.role = from->role,
			.dtype = from->dtype,
			.dims_count = from->per_row ? 2 : 1,
			.dims = {from->per_row ? rows : from->elements, from->per_row ? from->elements : 0},
			.segment_off = at,
			.bytes = from->elements * (from->per_row ? rows : 1) * tf_dtype_bytes(from->dtype),
			.group = TF_PROGRAM_NONE,
		};
		memcpy(to->name, from->name, sizeof(to->name));
		at = tf_align_up(at + to->bytes, BUFFER_ALIGN_BYTES);
	}
	program->layout.private_bytes = at - program->layout.private_off;
	return TF_OK;
}

static enum tf_status plan_buffers(const struct tf_workload *workload, struct tf_program *program,
	const struct tf_device_properties *properties, struct tf_error *err)
{
	uint64_t at = tf_protocol_place(&program->layout, program->world);
	int parted = !tf_peer_access_is_offered(properties);
	uint32_t count = 1 + (workload->foreign ? workload->foreign->buffer_count : 0);

	for (uint32_t g = 0; g < program->group_count; g++)
		count += 2 * program->groups[g].buffer_pairs;
	program->buffers = tf_calloc(count, sizeof(program->buffers[0]));
	if (!program->buffers)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %u buffers", count);
	program->layout.startup_bytes = tf_startup_places(
		program->group_count, program->candidate_count, NULL, NULL, NULL, NULL, NULL);
	if (parted) {
		place_startup(&program->layout, &at);
		at = tf_align_up(at, properties->granularity_bytes);
	}
	program->layout.exchange_off = at;
	for (uint32_t g = 0; g < program->group_count; g++) {
		for (uint32_t pair = 0; pair < program->groups[g].buffer_pairs; pair++) {
			struct tf_buffer *two = &program->buffers[program->buffer_count];

			describe_buffer(workload->foreign, program, &two[0], g, pair, TF_BUFFER_INPUT, &at);
			describe_buffer(workload->foreign, program, &two[1], g, pair, TF_BUFFER_OUTPUT, &at);
			program->buffer_count += 2;
		}
	}
	program->layout.exchange_bytes = at - program->layout.exchange_off;
	if (!parted)
		place_startup(&program->layout, &at);
	program->layout.private_off = tf_align_up(at, 4096);
	TF_TRY(plan_own_buffers(workload, program, err));
	program->buffers[program->buffer_count++] = (struct tf_buffer){
		.name = TF_PLAN_EVICT_NAME,
		.role = TF_BUFFER_WORK,
		.dtype = TF_DTYPE_F32,
		.dims_count = 1,
		.dims = {EVICT_BYTES / 4},
		.segment_off = program->layout.private_off,
		.bytes = EVICT_BYTES,
		.group = TF_PROGRAM_NONE,
	};
	return TF_OK;
}

static enum tf_status add_kernel(struct tf_program *program, const char *name, uint32_t args_bytes,
	uint32_t words_first, uint32_t words_count, struct tf_error *err)
{
	struct tf_kernel *grown;

	if (tf_plan_kernel(program, name) != TF_PROGRAM_NONE)
		return TF_OK;
	grown =
		tf_reallocarray(program->kernels, program->kernel_count + 1, sizeof(program->kernels[0]));
	if (!grown)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for kernel '%s'", name);
	program->kernels = grown;
	grown[program->kernel_count] = (struct tf_kernel){
		.args_bytes = args_bytes, .words_first = words_first, .words_count = words_count};
	snprintf(grown[program->kernel_count].name, TF_NAME_BYTES, "%s", name);
	program->kernel_count++;
	return TF_OK;
}

/*
 * The build's kernels for this device, and the member that carries their image where they have
 * one.
 */
static enum tf_status plan_module(
	struct tf_program *program, const struct tf_device_properties *properties, struct tf_error *err)
{
	struct tf_builtin_module builtin;
	struct tf_module *module;

	TF_TRY(tf_builtin_module_for(properties, &builtin, err));
	program->modules = tf_calloc(1, sizeof(program->modules[0]));
	program->members = tf_calloc(1, sizeof(program->members[0]));
	if (!program->modules || !program->members)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for the kernels");
	module = &program->modules[0];
	program->module_count = 1;
	module->kind = builtin.bytes ? TF_MODULE_CUBIN : TF_MODULE_HOST;
	module->compute_capability = builtin.compute_capability;
	module->member = builtin.bytes ? 0 : TF_PROGRAM_NONE;
	memcpy(module->name, builtin.name, sizeof(module->name));
	memcpy(module->digest, builtin.digest, sizeof(module->digest));
	if (!builtin.bytes)
		return TF_OK;
	program->member_count = 1;
	snprintf(program->members[0].name, sizeof(program->members[0].name), "modules/%s.cubin",
		builtin.name);
	program->members[0].bytes = builtin.size;
	memcpy(program->members[0].digest, builtin.digest, sizeof(builtin.digest));
	return TF_OK;
}

/*
 * One module, and the kernels that any candidate or the startup graph launches, each naming its
 * argument words.
 */
static enum tf_status plan_kernels(struct tf_program *program, struct tf_error *err)
{
	uint32_t collective_count, startup_count, name_count;
	const char *const *startup = tf_startup_kernel_names(&name_count);
	const struct tf_kernel_word *collective_words = tf_collective_words(&collective_count);
	const struct tf_kernel_word *startup_words = tf_startup_words(&startup_count);

	program->kernel_words =
		tf_calloc(collective_count + startup_count, sizeof(program->kernel_words[0]));
	if (!program->kernel_words)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for the kernels");
	memcpy(program->kernel_words, collective_words, collective_count * sizeof(collective_words[0]));
	memcpy(program->kernel_words + collective_count, startup_words,
		startup_count * sizeof(startup_words[0]));
	program->kernel_word_count = collective_count + startup_count;
	for (uint32_t i = 0; i < program->candidate_count; i++) {
		const struct tf_group_candidate *entry = &program->candidates[i];
		const char *name = tf_collective_kernel_name(
			program->groups[entry->group].op, entry->candidate.algorithm, entry->candidate.writer);

		if (tf_candidate_is_library(&entry->candidate))
			continue;
		if (!name)
			return TF_FAIL(err, TF_E_UNSUPPORTED, "group '%s': rung %u has no kernel",
				program->groups[entry->group].name, entry->rung);
		TF_TRY(
			add_kernel(program, name, sizeof(struct tf_collective_args), 0, collective_count, err));
		if (entry->candidate.writer == TF_WRITER_COPY_ENGINE)
			TF_TRY(add_kernel(program, TF_COPY_ENGINE_OPEN, sizeof(struct tf_collective_args), 0,
				collective_count, err));
	}
	for (uint32_t i = 0; i < name_count; i++)
		TF_TRY(add_kernel(program, startup[i], sizeof(struct tf_startup_args), collective_count,
			startup_count, err));
	return TF_OK;
}

static void plan_segment(struct tf_layout *layout, uint64_t granularity_bytes)
{
	uint64_t end = layout->private_off + layout->private_bytes;
	uint64_t align =
		granularity_bytes > STRIDE_ALIGN_BYTES ? granularity_bytes : STRIDE_ALIGN_BYTES;

	layout->segment_bytes = tf_align_up(end, granularity_bytes);
	layout->stride_bytes = tf_align_up(layout->segment_bytes, align);
}

enum tf_status tf_plan(const struct tf_workload *workload, const struct tf_ladder *ladder,
	const struct tf_device_properties *properties, uint32_t world, struct tf_program *program,
	struct tf_error *err)
{
	TF_TRY(plan_groups(workload, world, program, err));
	for (uint32_t g = 0; g < program->group_count; g++)
		TF_TRY(add_candidates(program, g, ladder, properties, err));
	TF_TRY(plan_buffers(workload, program, properties, err));
	TF_TRY(plan_module(program, properties, err));
	TF_TRY(plan_kernels(program, err));
	plan_segment(&program->layout, properties->granularity_bytes);
	TF_TRY(tf_identity_describe(program, properties, world, err));
	TF_TRY(tf_program_set_identity(program, "topology.class", ladder->topology, err));
	TF_TRY(tf_program_set_identity(program, "ladder", ladder->name, err));
	if (!strcmp(properties->kind, "host"))
		TF_TRY(tf_program_set_identity(program, "samples.clock", tf_host_sample_clock(world), err));
	if (workload->any_numerics && tf_program_tries_library(program))
		TF_TRY(tf_program_set_identity(program, TF_NUMERICS_ANY_KEY, workload->any_numerics, err));
	return tf_program_set_identity(program, "workload", workload->name, err);
}

uint32_t tf_plan_buffer(
	const struct tf_program *program, uint32_t group, uint32_t pair, enum tf_buffer_role role)
{
	uint32_t first = 0;

	for (uint32_t g = 0; g < group; g++)
		first += 2 * program->groups[g].buffer_pairs;
	return first + 2 * pair + (role == TF_BUFFER_OUTPUT);
}

uint32_t tf_plan_kernel(const struct tf_program *program, const char *name)
{
	for (uint32_t i = 0; i < program->kernel_count; i++) {
		if (!strcmp(program->kernels[i].name, name))
			return i;
	}
	return TF_PROGRAM_NONE;
}
