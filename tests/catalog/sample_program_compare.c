/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Equality of two programs, field by field. Argument bytes are compared launch by launch: where
 * they lie in program.args is the holder's own affair.
 */
#include "tests/catalog/sample_program.h"

#include <string.h>

/* Leaves with the text of the first field that differs. */
#define SAME(x, y, field)                                                                          \
	do {                                                                                           \
		if ((x)->field != (y)->field)                                                              \
			return #x "." #field;                                                                  \
	} while (0)
#define SAME_TEXT(x, y, field)                                                                     \
	do {                                                                                           \
		if (strcmp((x)->field, (y)->field))                                                        \
			return #x "." #field;                                                                  \
	} while (0)
#define SAME_BYTES(x, y, field)                                                                    \
	do {                                                                                           \
		if (memcmp((x)->field, (y)->field, sizeof((x)->field)))                                    \
			return #x "." #field;                                                                  \
	} while (0)
#define SAME_ROWS(a, b, array, count, fn)                                                          \
	do {                                                                                           \
		const char *same_rows_ = NULL;                                                             \
		SAME(a, b, count);                                                                         \
		for (uint32_t i_ = 0; i_ < (a)->count && !same_rows_; i_++)                                \
			same_rows_ = fn(&(a)->array[i_], &(b)->array[i_]);                                     \
		if (same_rows_)                                                                            \
			return same_rows_;                                                                     \
	} while (0)

static const char *same_identity(const struct tf_identity *identity, const struct tf_identity *b)
{
	SAME_TEXT(identity, b, key);
	SAME_TEXT(identity, b, value);
	return NULL;
}

static const char *same_group(const struct tf_group *group, const struct tf_group *b)
{
	SAME_TEXT(group, b, name);
	SAME(group, b, op);
	SAME(group, b, dtype);
	SAME(group, b, row_elements);
	SAME(group, b, capacity);
	SAME(group, b, times);
	SAME(group, b, buffer_pairs);
	return NULL;
}

static const char *same_candidate(
	const struct tf_group_candidate *candidate, const struct tf_group_candidate *b)
{
	SAME(candidate, b, group);
	SAME(candidate, b, rung);
	SAME(candidate, b, candidate.algorithm);
	SAME(candidate, b, candidate.writer);
	SAME(candidate, b, candidate.threads);
	SAME(candidate, b, candidate.ctas);
	SAME(candidate, b, candidate.chunk_bytes);
	SAME(candidate, b, state);
	SAME_TEXT(candidate, b, reason);
	SAME_BYTES(candidate, b, stage_median_ns);
	SAME_BYTES(candidate, b, stage_low_ns);
	SAME_BYTES(candidate, b, stage_high_ns);
	return NULL;
}

static const char *same_selector(const uint32_t *selector, const uint32_t *b)
{
	return *selector == *b ? NULL : "selector";
}

static const char *same_sample(const struct tf_sample *sample, const struct tf_sample *b)
{
	SAME(sample, b, group_candidate);
	SAME(sample, b, stage);
	SAME(sample, b, pass);
	SAME(sample, b, slowest_rank);
	SAME(sample, b, ns);
	return NULL;
}

static const char *same_buffer(const struct tf_buffer *buffer, const struct tf_buffer *b)
{
	SAME_TEXT(buffer, b, name);
	SAME(buffer, b, role);
	SAME(buffer, b, dtype);
	SAME(buffer, b, dims_count);
	SAME_BYTES(buffer, b, dims);
	SAME(buffer, b, segment_off);
	SAME(buffer, b, bytes);
	SAME(buffer, b, peer_visible);
	SAME(buffer, b, group);
	SAME(buffer, b, pair);
	return NULL;
}

static const char *same_constant(const struct tf_constant *constant, const struct tf_constant *b)
{
	SAME(constant, b, buffer);
	SAME(constant, b, rank);
	SAME(constant, b, member);
	return NULL;
}

static const char *same_module(const struct tf_module *module, const struct tf_module *b)
{
	SAME_TEXT(module, b, name);
	SAME(module, b, kind);
	SAME(module, b, compute_capability);
	SAME(module, b, member);
	SAME_BYTES(module, b, digest);
	return NULL;
}

static const char *same_kernel(const struct tf_kernel *kernel, const struct tf_kernel *b)
{
	SAME_TEXT(kernel, b, name);
	SAME(kernel, b, module);
	SAME(kernel, b, args_bytes);
	SAME(kernel, b, words_first);
	SAME(kernel, b, words_count);
	return NULL;
}

static const char *same_kernel_word(
	const struct tf_kernel_word *word, const struct tf_kernel_word *b)
{
	SAME(word, b, arg_off);
	SAME(word, b, kind);
	SAME(word, b, nullable);
	SAME_TEXT(word, b, name);
	return NULL;
}

static const char *same_launch(const struct tf_launch *launch, const struct tf_launch *b)
{
	SAME(launch, b, kernel);
	SAME_BYTES(launch, b, grid);
	SAME_BYTES(launch, b, block);
	SAME(launch, b, shared_bytes);
	SAME(launch, b, words_first);
	SAME(launch, b, words_count);
	return NULL;
}

static const char *same_launch_word(
	const struct tf_launch_word *word, const struct tf_launch_word *b)
{
	SAME(word, b, arg_off);
	SAME(word, b, kind);
	SAME(word, b, peer);
	SAME(word, b, segment_off);
	return NULL;
}

static const char *same_node(const struct tf_node *node, const struct tf_node *b)
{
	SAME(node, b, kind);
	SAME(node, b, launch);
	SAME(node, b, to_peer);
	SAME(node, b, from_peer);
	SAME(node, b, to_off);
	SAME(node, b, from_off);
	SAME(node, b, bytes);
	SAME(node, b, value);
	return NULL;
}

static const char *same_edge(const struct tf_edge *edge, const struct tf_edge *b)
{
	SAME(edge, b, from);
	SAME(edge, b, to);
	SAME(edge, b, type);
	SAME(edge, b, from_port);
	SAME(edge, b, to_port);
	return NULL;
}

static const char *same_graph(const struct tf_graph *graph, const struct tf_graph *b)
{
	SAME(graph, b, kind);
	SAME(graph, b, capacity);
	SAME_ROWS(graph, b, nodes, node_count, same_node);
	SAME_ROWS(graph, b, edges, edge_count, same_edge);
	return NULL;
}

static const char *same_member(const struct tf_member *member, const struct tf_member *b)
{
	SAME_TEXT(member, b, name);
	SAME(member, b, bytes);
	SAME_BYTES(member, b, digest);
	return NULL;
}

static const char *same_args(const struct tf_program *a, const struct tf_program *b)
{
	for (uint32_t i = 0; i < a->launch_count; i++) {
		uint32_t bytes = a->kernels[a->launches[i].kernel].args_bytes;

		if (bytes &&
			memcmp(a->args.data + a->launches[i].args_off, b->args.data + b->launches[i].args_off,
				bytes))
			return "launch arguments";
	}
	return NULL;
}

const char *sample_program_difference(const struct tf_program *a, const struct tf_program *b)
{
	SAME(a, b, world);
	if (memcmp(&a->layout, &b->layout, sizeof(a->layout)))
		return "layout";
	SAME_ROWS(a, b, identity, identity_count, same_identity);
	SAME_ROWS(a, b, groups, group_count, same_group);
	SAME_ROWS(a, b, candidates, candidate_count, same_candidate);
	SAME_ROWS(a, b, selectors, group_count, same_selector);
	SAME_ROWS(a, b, samples, sample_count, same_sample);
	SAME_ROWS(a, b, buffers, buffer_count, same_buffer);
	SAME_ROWS(a, b, constants, constant_count, same_constant);
	SAME_ROWS(a, b, modules, module_count, same_module);
	SAME_ROWS(a, b, kernels, kernel_count, same_kernel);
	SAME_ROWS(a, b, kernel_words, kernel_word_count, same_kernel_word);
	SAME_ROWS(a, b, launches, launch_count, same_launch);
	SAME_ROWS(a, b, launch_words, launch_word_count, same_launch_word);
	SAME_ROWS(a, b, graphs, graph_count, same_graph);
	SAME_ROWS(a, b, members, member_count, same_member);
	return same_args(a, b);
}
