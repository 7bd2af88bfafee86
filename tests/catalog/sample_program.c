/* SPDX-License-Identifier: Apache-2.0 */
/* The small program that uses every field of struct tf_program. */
#include "tests/catalog/sample_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define LENGTH(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

static void *copy_rows(const void *rows, size_t count, size_t bytes)
{
	void *copy = tf_calloc(count, bytes);

	if (!copy)
		abort();
	memcpy(copy, rows, count * bytes);
	return copy;
}

#define TAKE(out, field, count, rows)                                                              \
	do {                                                                                           \
		(out)->field = copy_rows((rows), LENGTH(rows), sizeof((rows)[0]));                         \
		(out)->count = LENGTH(rows);                                                               \
	} while (0)

static void make_identity(struct tf_program *out)
{
	static const char *const rows[][2] = {{"world", "3"}, {"device.model", "host"},
		{"links", "\xe2\x86\x94 0-1 0-2 1-2"}, {"numerics", ""}, {"abi", "1"}};

	for (uint32_t i = 0; i < LENGTH(rows); i++) {
		if (tf_program_set_identity(out, rows[i][0], rows[i][1], NULL) != TF_OK)
			abort();
	}
}

static void make_groups(struct tf_program *out)
{
	static const struct tf_group groups[] = {
		{"attn.out", TF_OP_ALL_REDUCE, TF_DTYPE_BF16, 64, 1, 4, 2},
		{"logits", TF_OP_ALL_GATHER, TF_DTYPE_F32, 33, 1, 1, 1},
		{"attn.out", TF_OP_ALL_REDUCE, TF_DTYPE_BF16, 64, 8, 4, 1},
		{"moe-combine_2", TF_OP_REDUCE_SCATTER, TF_DTYPE_F16, 50, 8, 2, 1},
	};
	static const struct tf_group_candidate candidates[] = {
		{0, 0, {TF_ALGORITHM_ONE_SHOT, TF_WRITER_LL, 256, 4, 0}, TF_CANDIDATE_PICKED,
			"earliest rung within 2 %", {5000, 5010}, {4900, 4910}, {5100, 5110}},
		{0, 1, {TF_ALGORITHM_ONE_SHOT, TF_WRITER_SENTINEL, 512, 2, 0}, TF_CANDIDATE_SURVIVED,
			"5.2 \xc2\xb5s, beaten", {5050, 5200}, {5000, 5100}, {5150, 5300}},
		{0, 3, {TF_ALGORITHM_TWO_SHOT, TF_WRITER_DIRECT, 256, 4, 0}, TF_CANDIDATE_STRUCK,
			"wrong on rank 2", {-1, -1}, {-1, -1}, {-1, -1}},
		{1, 0, {TF_ALGORITHM_ONE_SHOT, TF_WRITER_COPY_ENGINE, 0, 0, 0}, TF_CANDIDATE_PICKED,
			"the only one", {-1, -1}, {-1, -1}, {-1, -1}},
		{2, 0, {TF_ALGORITHM_ONE_SHOT, TF_WRITER_LL, 256, 4, 0}, TF_CANDIDATE_COMPETED, "lost",
			{9000, -1}, {8000, -1}, {9500, -1}},
		{2, 1, {TF_ALGORITHM_TWO_SHOT, TF_WRITER_PULL, 128, 8, 0}, TF_CANDIDATE_PICKED, "fastest",
			{0, -1}, {0, -1}, {0, -1}},
		{3, 0, {TF_ALGORITHM_TWO_SHOT, TF_WRITER_QUEUED, 256, 16, 65536}, TF_CANDIDATE_PICKED,
			"fastest", {7000, 7001}, {6999, 7000}, {7001, INT64_MAX}},
	};
	static const uint32_t selectors[] = {0, 3, 5, 6};

	TAKE(out, groups, group_count, groups);
	TAKE(out, candidates, candidate_count, candidates);
	out->selectors = copy_rows(selectors, LENGTH(selectors), sizeof(selectors[0]));
}

static void make_samples(struct tf_program *out)
{
	struct tf_sample samples[21 * 9];
	uint32_t count = 0;

	for (uint32_t c = 0; c < out->candidate_count; c++) {
		for (uint8_t stage = 1; stage <= 2; stage++) {
			for (uint8_t pass = 0; pass < 21 && out->candidates[c].stage_median_ns[stage - 1] >= 0;
				 pass++) {
				const struct tf_sample sample = {c, stage, pass, (uint8_t)(pass % 3),
					out->candidates[c].stage_median_ns[stage - 1] + pass};

				samples[count++] = sample;
			}
		}
	}
	out->samples = copy_rows(samples, count, sizeof(samples[0]));
	out->sample_count = count;
}

static void make_buffers(struct tf_program *out)
{
	static const struct tf_layout layout = {2097152, 196608, 0, 8192, 8192, 1024, 16384, 2048,
		36864, 4096, 40960, 512, 49152, 65536, 114688, 16384, 131072, 65536};
	static const struct tf_buffer buffers[] = {
		{"attn.out.1.in0", TF_BUFFER_INPUT, TF_DTYPE_BF16, 2, {1, 64}, 49152, 128, 1, 0, 0},
		{"attn.out.1.out0", TF_BUFFER_OUTPUT, TF_DTYPE_BF16, 2, {1, 64}, 49280, 128, 1, 0, 0},
		{"attn.out.1.in1", TF_BUFFER_INPUT, TF_DTYPE_BF16, 2, {1, 64}, 49408, 128, 1, 0, 1},
		{"attn.out.1.out1", TF_BUFFER_OUTPUT, TF_DTYPE_BF16, 2, {1, 64}, 49536, 128, 1, 0, 1},
		{"logits.1.in", TF_BUFFER_INPUT, TF_DTYPE_F32, 2, {1, 33}, 51200, 132, 1, 1, 0},
		{"logits.1.out", TF_BUFFER_OUTPUT, TF_DTYPE_F32, 3, {3, 1, 33}, 51332, 396, 1, 1, 0},
		{"attn.out.8.in", TF_BUFFER_INPUT, TF_DTYPE_BF16, 2, {8, 64}, 52224, 1024, 1, 2, 0},
		{"attn.out.8.out", TF_BUFFER_OUTPUT, TF_DTYPE_BF16, 2, {8, 64}, 53248, 1024, 1, 2, 0},
		{"moe.8.in", TF_BUFFER_INPUT, TF_DTYPE_F16, 2, {8, 50}, 54272, 800, 1, 3, 0},
		{"moe.8.out", TF_BUFFER_OUTPUT, TF_DTYPE_F16, 1, {134}, 131072, 268, 0, 3, 0},
		{"weights", TF_BUFFER_CONSTANT, TF_DTYPE_F16, 4, {2, 2, 2, 4}, 135168, 64, 0,
			TF_PROGRAM_NONE, 0},
		{"bias", TF_BUFFER_CONSTANT, TF_DTYPE_F32, 1, {4}, 135232, 16, 0, TF_PROGRAM_NONE, 0},
		{"evictor", TF_BUFFER_WORK, TF_DTYPE_F32, 0, {0}, 139264, 4096, 0, TF_PROGRAM_NONE, 0},
		{"flags", TF_BUFFER_PROTOCOL, TF_DTYPE_F32, 0, {0}, 36864, 4096, 1, TF_PROGRAM_NONE, 0},
	};
	static const struct tf_constant constants[] = {{10, 0, 0}, {10, 1, 1}, {10, 2, 2}, {11, -1, 3}};

	out->layout = layout;
	TAKE(out, buffers, buffer_count, buffers);
	TAKE(out, constants, constant_count, constants);
}

static void make_members(struct tf_program *out)
{
	static const struct {
		const char *name;
		uint64_t bytes;
	} rows[] = {{"constants/weights.r0", 64}, {"constants/weights.r1", 64},
		{"constants/weights.r2", 63}, {"constants/z-bias", 16},
		{"modules/scale.sm_90.cubin", 4096}};

	out->members = tf_calloc(LENGTH(rows), sizeof(*out->members));
	if (!out->members)
		abort();
	out->member_count = LENGTH(rows);
	for (uint32_t i = 0; i < LENGTH(rows); i++) {
		snprintf(out->members[i].name, sizeof(out->members[i].name), "%s", rows[i].name);
		out->members[i].bytes = rows[i].bytes;
		for (uint32_t k = 0; k < TF_DIGEST_BYTES; k++)
			out->members[i].digest[k] = (uint8_t)(17 * i + k * k);
	}
}

/* Kernel 0 has words of every sort, kernel 1 none, kernel 2 no arguments at all. */
static void make_kernels(struct tf_program *out)
{
	static const struct tf_module modules[] = {
		{"builtin", TF_MODULE_HOST, 0, TF_PROGRAM_NONE, {1, 2, 3}},
		{"scale", TF_MODULE_CUBIN, 90, 4, {0}},
	};
	static const struct tf_kernel kernels[] = {
		{"all_reduce_one_shot_ll", 0, 48, 0, 5, 0, 0},
		{"scale_rows", 1, 12, 5, 0, 0, 0},
		{"nop", 1, 0, 5, 0, 0, 0},
		{"sum", 1, 20, 5, 2, 0, 0},
	};
	static const struct tf_kernel_word words[] = {
		{0, TF_WORD_ADDRESS, 0, "input"},
		{8, TF_WORD_ADDRESS, 0, "output"},
		{16, TF_WORD_ADDRESS, 1, "control[1]"},
		{32, TF_WORD_ADDRESS, 1, "mask"},
		{40, TF_WORD_RANK, 0, "rank"},
		{4, TF_WORD_ADDRESS, 0, "x"},
		{12, TF_WORD_ADDRESS, 1, "y"},
	};

	TAKE(out, modules, module_count, modules);
	memcpy(out->modules[1].digest, out->members[4].digest, TF_DIGEST_BYTES);
	TAKE(out, kernels, kernel_count, kernels);
	TAKE(out, kernel_words, kernel_word_count, words);
}

static void make_launches(struct tf_program *out)
{
	static const struct tf_launch launches[] = {
		{0, {4, 1, 1}, {256, 1, 1}, 0, 0, 0, 4}, {0, {4, 1, 1}, {256, 1, 1}, 1024, 48, 4, 3},
		{1, {1, 2, 3}, {4, 5, 6}, 0, 96, 7, 0}, {2, {1, 1, 1}, {1, 1, 1}, 0, 0, 7, 0},
		{3, {7, 1, 1}, {32, 1, 1}, 227 * 1024, 112, 7, 1},
		{0, {4, 1, 1}, {256, 1, 1}, 0, 48, 8, 5}, /* shares its argument bytes with launch 1 */
	};
	static const struct tf_launch_word words[] = {
		{0, TF_WORD_ADDRESS, 0, 49152},
		{8, TF_WORD_ADDRESS, 0, 49280},
		{16, TF_WORD_ADDRESS, 1, 0},
		{40, TF_WORD_RANK, 0, 0},
		{0, TF_WORD_ADDRESS, 0, 49408},
		{8, TF_WORD_ADDRESS, 2, 49663},
		{40, TF_WORD_RANK, 0, 0},
		{4, TF_WORD_ADDRESS, 0, 139264},
		{0, TF_WORD_ADDRESS, 0, 52224},
		{8, TF_WORD_ADDRESS, 0, 53248},
		{16, TF_WORD_ADDRESS, 1, 0},
		{32, TF_WORD_ADDRESS, 2, 114688},
		{40, TF_WORD_RANK, 0, 0},
	};
	uint8_t args[144] = {0};

	for (uint32_t i = 24; i < 32; i++)
		args[i] = args[48 + i] = (uint8_t)(i + 100);
	for (uint32_t i = 0; i < 12; i++)
		args[96 + i] = (uint8_t)(255 - i);
	TAKE(out, launches, launch_count, launches);
	TAKE(out, launch_words, launch_word_count, words);
	if (tf_bytes_append(&out->args, args, sizeof(args), NULL) != TF_OK)
		abort();
}

static void make_graphs(struct tf_program *out)
{
	static const struct tf_node step1[] = {
		{TF_NODE_KERNEL, 0, 0, 0, 0, 0, 0, 0},
		{TF_NODE_KERNEL, 1, 0, 0, 0, 0, 0, 0},
		{TF_NODE_COPY, TF_PROGRAM_NONE, 2, 1, 51200, 49152, 128, 0},
		{TF_NODE_SET, TF_PROGRAM_NONE, 0, 0, 139264, 0, 4096, 255},
		{TF_NODE_EMPTY, TF_PROGRAM_NONE, 0, 0, 0, 0, 0, 0},
		{TF_NODE_COMM, TF_PROGRAM_NONE, 0, 0, 51332, 51200, 132, 1},
	};
	static const struct tf_edge edges1[] = {{0, 1, 1, 1, 0}, {0, 2, 0, 0, 0}, {1, 4, 0, 0, 0},
		{2, 4, 0, 0, 7}, {3, 2, 0, 0, 0}, {4, 5, 0, 0, 0}};
	static const struct tf_node step8[] = {{TF_NODE_KERNEL, 2, 0, 0, 0, 0, 0, 0}};
	static const struct tf_node startup[] = {
		{TF_NODE_KERNEL, 5, 0, 0, 0, 0, 0, 0},
		{TF_NODE_KERNEL, 4, 0, 0, 0, 0, 0, 0},
		{TF_NODE_KERNEL, 3, 0, 0, 0, 0, 0, 0},
	};
	static const struct tf_edge edges2[] = {{1, 0, 0, 0, 0}, {2, 1, 0, 0, 0}};
	static const struct tf_graph graphs[] = {{TF_GRAPH_STEP, 1, NULL, 0, NULL, 0},
		{TF_GRAPH_STEP, 8, NULL, 0, NULL, 0}, {TF_GRAPH_STARTUP, 0, NULL, 0, NULL, 0}};

	TAKE(out, graphs, graph_count, graphs);
	TAKE(&out->graphs[0], nodes, node_count, step1);
	TAKE(&out->graphs[0], edges, edge_count, edges1);
	TAKE(&out->graphs[1], nodes, node_count, step8);
	TAKE(&out->graphs[2], nodes, node_count, startup);
	TAKE(&out->graphs[2], edges, edge_count, edges2);
}

void sample_program_make(struct tf_program *out)
{
	memset(out, 0, sizeof(*out));
	out->world = 3;
	make_identity(out);
	make_groups(out);
	make_samples(out);
	make_buffers(out);
	make_members(out);
	make_kernels(out);
	make_launches(out);
	make_graphs(out);
}
