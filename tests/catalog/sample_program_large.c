/* SPDX-License-Identifier: Apache-2.0 */
/* A program of the size that tuning 81 groups makes. Kernel 0 samples, kernel 1 is a candidate. */
#include "tests/catalog/sample_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define GROUPS    81u
#define RUNGS     12u
#define SLOTS     (GROUPS * RUNGS)
#define PASSES    21u
#define PAIRS     4u
#define BYTES     8192u /* of one operand */
#define EXCHANGE  262144u
#define ARGS      128u
#define WORDS     11u /* input, output, control[0..7], rank */
#define STEP_TIME 4u  /* calls of a group in a step */
#define NODES     (PASSES * (1 + 3 * SLOTS))
#define STARTUP   (EXCHANGE + GROUPS * PAIRS * 2 * BYTES)

static void *rows(size_t count, size_t bytes)
{
	void *block = tf_calloc(count, bytes);

	if (!block)
		abort();
	return block;
}

static void make_groups(struct tf_program *out)
{
	out->groups = rows(out->group_count = GROUPS, sizeof(*out->groups));
	out->selectors = rows(GROUPS, sizeof(*out->selectors));
	out->candidates = rows(out->candidate_count = SLOTS, sizeof(*out->candidates));
	out->samples = rows(out->sample_count = SLOTS * 2 * PASSES, sizeof(*out->samples));
	for (uint32_t i = 0; i < GROUPS; i++) {
		struct tf_group group = {
			"", TF_OP_ALL_REDUCE, TF_DTYPE_BF16, BYTES / 2, 1, STEP_TIME, PAIRS};

		snprintf(group.name, sizeof(group.name), "layer.%u.exchange", i);
		out->groups[i] = group;
		out->selectors[i] = i * RUNGS + i % RUNGS;
	}
	for (uint32_t i = 0; i < SLOTS; i++) {
		struct tf_group_candidate row = {i / RUNGS, i % RUNGS,
			{TF_ALGORITHM_ONE_SHOT, (enum tf_writer)(i % RUNGS % 5), 256, 4 + i % RUNGS, 0},
			TF_CANDIDATE_SURVIVED, "within 2 % of the best and later on the ladder", {5000, 5000},
			{4900, 4900}, {5100, 5100}};

		if (out->selectors[row.group] == i)
			row.state = TF_CANDIDATE_PICKED;
		out->candidates[i] = row;
		for (uint32_t k = 0; k < 2 * PASSES; k++) {
			struct tf_sample sample = {i, (uint8_t)(1 + k / PASSES), (uint8_t)(k % PASSES),
				(uint8_t)(k % 2), 5000 + (i * 977 + k * 31) % 4000};

			out->samples[i * 2 * PASSES + k] = sample;
		}
	}
}

static void make_buffers(struct tf_program *out)
{
	const struct tf_layout layout = {1u << 25, STARTUP + (1u << 22), 0, 8192, 8192, 16384, 73728,
		16384, 172032, 8192, 180224, 0, EXCHANGE, GROUPS * PAIRS * 2 * BYTES, STARTUP, 1u << 21,
		STARTUP + (1u << 21), 1u << 20};

	out->layout = layout;
	out->buffers = rows(out->buffer_count = GROUPS * PAIRS * 2, sizeof(*out->buffers));
	for (uint32_t i = 0; i < out->buffer_count; i++) {
		struct tf_buffer buffer = {"", i % 2 ? TF_BUFFER_OUTPUT : TF_BUFFER_INPUT, TF_DTYPE_BF16, 2,
			{1, BYTES / 2}, EXCHANGE + i * BYTES, BYTES, 1, i / (2 * PAIRS), i / 2 % PAIRS};

		snprintf(buffer.name, sizeof(buffer.name), "operand.%u", i);
		out->buffers[i] = buffer;
	}
}

static void make_kernels(struct tf_program *out)
{
	static const struct tf_module module = {"builtin", TF_MODULE_HOST, 0, TF_PROGRAM_NONE, {9}};
	static const struct tf_kernel kernels[] = {
		{"sample_begin", 0, ARGS, 0, 0, 0, 0}, {"all_reduce_one_shot_ll", 0, ARGS, 0, WORDS, 0, 0}};

	out->modules = rows(out->module_count = 1, sizeof(*out->modules));
	out->modules[0] = module;
	out->kernels = rows(out->kernel_count = 2, sizeof(*out->kernels));
	memcpy(out->kernels, kernels, sizeof(kernels));
	out->kernel_words = rows(out->kernel_word_count = WORDS, sizeof(*out->kernel_words));
	for (uint32_t i = 0; i < WORDS; i++) {
		struct tf_kernel_word word = {
			8 * i, i + 1 == WORDS ? TF_WORD_RANK : TF_WORD_ADDRESS, i >= 2 && i + 1 < WORDS, ""};

		snprintf(word.name, sizeof(word.name), "word%u", i);
		out->kernel_words[i] = word;
	}
}

/* Launches 0..steps-1 are of the step graph; then three a slot; then one a pass. */
static void make_launches(struct tf_program *out)
{
	const uint32_t steps = GROUPS * STEP_TIME;
	uint32_t count = steps + 3 * SLOTS + PASSES, words = 0;
	void *args;

	out->launches = rows(out->launch_count = count, sizeof(*out->launches));
	out->launch_words = rows((size_t)count * WORDS, sizeof(*out->launch_words));
	if (tf_bytes_extend(&out->args, (size_t)count * ARGS, &args, NULL) != TF_OK)
		abort();
	for (uint32_t i = 0; i < count; i++) {
		uint32_t kernel = i < steps || (i < steps + 3 * SLOTS && (i - steps) % 3 == 1);
		struct tf_launch launch = {
			kernel, {4, 1, 1}, {256, 1, 1}, 0, (uint64_t)i * ARGS, words, kernel ? 5 : 0};
		const struct tf_launch_word of_launch[] = {
			{0, TF_WORD_ADDRESS, 0, EXCHANGE + i % (GROUPS * PAIRS) * 2 * BYTES},
			{8, TF_WORD_ADDRESS, 0, EXCHANGE + i % (GROUPS * PAIRS) * 2 * BYTES + BYTES},
			{16, TF_WORD_ADDRESS, 0, 0}, {24, TF_WORD_ADDRESS, 1, 0}, {80, TF_WORD_RANK, 0, 0}};

		out->launches[i] = launch;
		out->args.data[(size_t)i * ARGS + 100] = (uint8_t)i;
		for (uint32_t k = 0; k < launch.words_count; k++)
			out->launch_words[words++] = of_launch[k];
	}
	out->launch_word_count = words;
}

/* A chain of kernel nodes, each `count` launches from `first` on, over and over. */
static void make_chain(struct tf_graph *graph, uint32_t nodes, uint32_t first, uint32_t count)
{
	graph->nodes = rows(graph->node_count = nodes, sizeof(*graph->nodes));
	graph->edges = rows(graph->edge_count = nodes - 1, sizeof(*graph->edges));
	for (uint32_t i = 0; i < nodes; i++) {
		graph->nodes[i].launch = first + i % count;
		if (i) {
			graph->edges[i - 1].from = i - 1;
			graph->edges[i - 1].to = i;
			graph->edges[i - 1].type = 1;
		}
	}
}

void sample_program_make_large(struct tf_program *out)
{
	const uint32_t steps = GROUPS * STEP_TIME;

	memset(out, 0, sizeof(*out));
	out->world = 2;
	make_groups(out);
	make_buffers(out);
	make_kernels(out);
	make_launches(out);
	out->graphs = rows(out->graph_count = 2, sizeof(*out->graphs));
	out->graphs[0].capacity = 1;
	out->graphs[1].kind = TF_GRAPH_STARTUP;
	make_chain(&out->graphs[0], steps, 0, steps);
	make_chain(&out->graphs[1], NODES, steps, 3 * SLOTS);
}
