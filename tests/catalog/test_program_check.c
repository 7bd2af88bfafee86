/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tf_program_check, one planted fault after another: each must be refused with its status and named
 * by the text, by the check and by the writer, and the sample must pass without it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "catalog/catalog_write.h"
#include "tests/catalog/sample_program.h"

/* X(name, status, text of the message, statement that breaks program p) */
#define FAULTS(X)                                                                                  \
	X(world_zero, TF_E_INVALID, "world is 0", p->world = 0)                                        \
	X(world_nine, TF_E_INVALID, "world is 9", p->world = 9)                                        \
	X(identity_order, TF_E_INVALID, "identity 1: key 'abi' does not come after 'abi'",             \
		strcpy(p->identity[1].key, "abi"))                                                         \
	X(identity_key, TF_E_INVALID, "identity 0: key", strcpy(p->identity[0].key, "a b"))            \
	X(identity_key_end, TF_E_INVALID, "identity 0: key",                                           \
		memset(p->identity[0].key, 'a', sizeof(p->identity[0].key)))                               \
	X(identity_value, TF_E_INVALID, "identity 'abi': value", p->identity[0].value[0] = '\x01')     \
	X(identity_count, TF_E_LIMIT, "1025 identity rows", p->identity_count = 1025)                  \
	X(member_name, TF_E_INVALID, "member 0: name", strcpy(p->members[0].name, "../x"))             \
	X(member_order, TF_E_INVALID, "member 2: name", strcpy(p->members[2].name, "a"))               \
	X(member_bytes, TF_E_LIMIT, "member 'constants/weights.r0' has", p->members[0].bytes = -1)     \
	X(segment_zero, TF_E_INVALID, "segment_bytes is 0", p->layout.segment_bytes = 0)               \
	X(segment_huge, TF_E_INVALID, "segment_bytes is", p->layout.segment_bytes = UINT64_MAX)        \
	X(stride_short, TF_E_INVALID, "stride_bytes is 196607", p->layout.stride_bytes = 196607)       \
	X(layout_source, TF_E_INVALID, "bytes a source", p->layout.ll_source_bytes = UINT64_MAX / 6)   \
	X(layout_end, TF_E_INVALID, "layout: private at", p->layout.private_bytes++)                   \
	X(layout_overflow, TF_E_INVALID, "layout: flag at", p->layout.flag_off = UINT64_MAX)           \
	X(layout_overlap, TF_E_INVALID, "layout: sentinel overlaps ll",                                \
		p->layout.sentinel_off = 14335)                                                            \
	X(group_name, TF_E_INVALID, "group 1 '': name", p->groups[1].name[0] = 0)                      \
	X(group_name_end, TF_E_INVALID, "group 0 '(unprintable)': name",                               \
		memset(p->groups[0].name, 'a', TF_NAME_BYTES))                                             \
	X(group_twice, TF_E_INVALID, "groups 0 and 1 have the same name and capacity",                 \
		strcpy(p->groups[1].name, "attn.out"))                                                     \
	X(group_op, TF_E_INVALID, "op 3 is unknown", p->groups[0].op = TF_OP_COUNT)                    \
	X(group_dtype, TF_E_INVALID, "dtype -1 is unknown", p->groups[0].dtype = (enum tf_dtype) - 1)  \
	X(group_rows, TF_E_INVALID, "capacity is 0", p->groups[0].capacity = 0)                        \
	X(group_order, TF_E_INVALID, "group 1 'logits': capacity 1 comes after 2",                     \
		p->groups[0].capacity = 2)                                                                 \
	X(group_elements, TF_E_INVALID, "row_elements is", p->groups[0].row_elements = 1u << 25)       \
	X(group_times, TF_E_INVALID, "times is 0", p->groups[0].times = 0)                             \
	X(group_pairs, TF_E_INVALID, "buffer_pairs is 5, not 1..4", p->groups[0].buffer_pairs = 5)     \
	X(group_count, TF_E_LIMIT, "4097 groups", p->group_count = 4097)                               \
	X(candidate_group, TF_E_INVALID, "candidate 6: group is 4, there are 4",                       \
		p->candidates[6].group = 4)                                                                \
	X(candidate_order, TF_E_INVALID, "candidate 1: group 0 rung 0 does not come after",            \
		p->candidates[1].rung = 0)                                                                 \
	X(candidate_rung, TF_E_INVALID, "rung is 256", p->candidates[2].rung = 256)                    \
	X(candidate_twice, TF_E_INVALID, "candidates 0 and 1 are the same candidate",                  \
		p->candidates[1].candidate = p->candidates[0].candidate)                                   \
	X(candidate_algorithm, TF_E_INVALID, "algorithm 3 is unknown",                                 \
		p->candidates[0].candidate.algorithm = TF_ALGORITHM_COUNT)                                 \
	X(candidate_writer, TF_E_INVALID, "writer 10 is unknown",                                      \
		p->candidates[0].candidate.writer = TF_WRITER_COUNT)                                       \
	X(candidate_library, TF_E_INVALID, "algorithm 'library' does not go with writer 'll'",         \
		(p->candidates[0].candidate.algorithm = TF_ALGORITHM_LIBRARY,                              \
			p->candidates[0].candidate.writer = TF_WRITER_LL))                                     \
	X(candidate_threads, TF_E_INVALID, "threads is 1025",                                          \
		p->candidates[0].candidate.threads = 1025)                                                 \
	X(candidate_ctas, TF_E_INVALID, "ctas is 4294967295",                                          \
		p->candidates[0].candidate.ctas = UINT32_MAX)                                              \
	X(candidate_chunk, TF_E_INVALID, "chunk_bytes is 18446744073709551615",                        \
		p->candidates[6].candidate.chunk_bytes = UINT64_MAX)                                       \
	X(candidate_state, TF_E_INVALID, "state 4 is unknown",                                         \
		p->candidates[0].state = (enum tf_candidate_state)4)                                       \
	X(candidate_reason, TF_E_INVALID, "reason is empty", p->candidates[0].reason[0] = 0)           \
	X(candidate_reason_end, TF_E_INVALID, "reason is empty",                                       \
		memset(p->candidates[0].reason, 'r', sizeof(p->candidates[0].reason)))                     \
	X(candidate_interval, TF_E_INVALID, "stage 1 has low 5001, median 5000",                       \
		p->candidates[0].stage_low_ns[0] = 5001)                                                   \
	X(candidate_half, TF_E_INVALID, "stage 2 has low -1", p->candidates[0].stage_low_ns[1] = -1)   \
	X(candidate_struck, TF_E_INVALID, "although the candidate was struck",                         \
		p->candidates[1].state = TF_CANDIDATE_STRUCK)                                              \
	X(candidate_lost, TF_E_INVALID, "although the candidate lost",                                 \
		p->candidates[1].state = TF_CANDIDATE_COMPETED)                                            \
	X(candidate_stage, TF_E_INVALID, "stage 2 was sampled and stage 1 was not",                    \
		p->candidates[1].stage_median_ns[0] = p->candidates[1].stage_low_ns[0] =                   \
			p->candidates[1].stage_high_ns[0] = -1)                                                \
	X(selector_range, TF_E_INVALID, "selector of group 'logits' is 7", p->selectors[1] = 7)        \
	X(selector_none, TF_E_INVALID, "selector of group 'logits' is 4294967295",                     \
		p->selectors[1] = TF_PROGRAM_NONE)                                                         \
	X(selector_group, TF_E_INVALID, "is candidate 3, which is of group 'logits'",                  \
		p->selectors[0] = 3)                                                                       \
	X(selector_state, TF_E_INVALID, "whose state is survived, not picked", p->selectors[0] = 1)    \
	X(selector_missing, TF_E_INTERNAL, "selectors are counted", p->selectors = NULL)               \
	X(picked_twice, TF_E_INVALID, "candidate 1: state is picked, the selector",                    \
		p->candidates[1].state = TF_CANDIDATE_PICKED)                                              \
	X(sample_candidate, TF_E_INVALID, "sample 0: candidate is 7",                                  \
		p->samples[0].group_candidate = 7)                                                         \
	X(sample_stage, TF_E_INVALID, "stage is 0", p->samples[0].stage = 0)                           \
	X(sample_pass, TF_E_INVALID, "pass is 21", p->samples[0].pass = 21)                            \
	X(sample_rank, TF_E_INVALID, "slowest_rank is 3", p->samples[0].slowest_rank = 3)              \
	X(sample_ns, TF_E_INVALID, "ns is -5", p->samples[0].ns = -5)                                  \
	X(sample_unsampled, TF_E_INVALID, "candidate 2 was not sampled in stage 1",                    \
		p->samples[0].group_candidate = 2)                                                         \
	X(sample_twice, TF_E_INVALID, "sample 1: candidate 0 has one of stage 1 pass 0 already",       \
		p->samples[1].pass = 0)                                                                    \
	X(buffer_name, TF_E_INVALID, "buffer 0 'a/b': name", strcpy(p->buffers[0].name, "a/b"))        \
	X(buffer_twice, TF_E_INVALID, "buffers 0 and 13 have the same name",                           \
		strcpy(p->buffers[13].name, "attn.out.1.in0"))                                             \
	X(buffer_role, TF_E_INVALID, "role 5 is unknown", p->buffers[0].role = (enum tf_buffer_role)5) \
	X(buffer_dtype, TF_E_INVALID, "dtype 3 is unknown", p->buffers[0].dtype = TF_DTYPE_COUNT)      \
	X(buffer_dtype_of_group, TF_E_INVALID, "dtype is f16, group 'attn.out' has bf16",              \
		p->buffers[0].dtype = TF_DTYPE_F16)                                                        \
	X(buffer_visible, TF_E_INVALID, "peer_visible is 2", p->buffers[0].peer_visible = 2)           \
	X(buffer_dims, TF_E_INVALID, "dims_count is 5", p->buffers[0].dims_count = 5)                  \
	X(buffer_dim_zero, TF_E_INVALID, "dim 1 is 0", p->buffers[0].dims[1] = 0)                      \
	X(buffer_dim_huge, TF_E_INVALID, "dim 1 is", p->buffers[0].dims[1] = UINT64_MAX)               \
	X(buffer_short, TF_E_INVALID, "bytes is 126, fewer than the 128 of its shape",                 \
		p->buffers[0].bytes = 126)                                                                 \
	X(buffer_empty, TF_E_INVALID, "bytes is 0", p->buffers[12].bytes = 0)                          \
	X(buffer_align, TF_E_INVALID, "segment_off 49153 is not aligned",                              \
		p->buffers[0].segment_off = 49153)                                                         \
	X(buffer_outside, TF_E_INVALID, "lies in no part for private work buffers",                    \
		p->buffers[12].segment_off = 196608)                                                       \
	X(buffer_overflow, TF_E_INVALID, "lies in no part",                                            \
		p->buffers[12].segment_off = UINT64_MAX - 3)                                               \
	X(buffer_straddles, TF_E_INVALID, "lies in no part", p->buffers[12].bytes = 65536)             \
	X(buffer_hidden, TF_E_INVALID, "lies in no part for private input",                            \
		p->buffers[0].peer_visible = 0)                                                            \
	X(buffer_shown, TF_E_INVALID, "lies in no part for peer-visible output",                       \
		p->buffers[9].peer_visible = 1)                                                            \
	X(buffer_in_protocol, TF_E_INVALID, "lies in no part for peer-visible input",                  \
		p->buffers[0].segment_off = 8192)                                                          \
	X(buffer_group, TF_E_INVALID, "group is 4, there are 4", p->buffers[0].group = 4)              \
	X(buffer_pair, TF_E_INVALID, "pair is 2, group 'attn.out' has 2", p->buffers[0].pair = 2)      \
	X(buffer_operand, TF_E_INVALID, "fewer than the 396 of group 'logits'",                        \
		(p->buffers[5].dims_count = 0, p->buffers[5].bytes = 392))                                 \
	X(buffer_operand_twice, TF_E_INVALID, "buffers 0 and 2 are the same operand",                  \
		p->buffers[2].pair = 0)                                                                    \
	X(buffer_overlap, TF_E_INVALID, "buffer 'attn.out.1.out0' at 49280 overlaps buffer",           \
		p->buffers[0].bytes = 129)                                                                 \
	X(constant_buffer, TF_E_INVALID, "constant 0: buffer is 14", p->constants[0].buffer = 14)      \
	X(constant_role, TF_E_INVALID, "has role work, not constant", p->constants[0].buffer = 12)     \
	X(constant_rank, TF_E_INVALID, "rank is 3, not -1..2", p->constants[0].rank = 3)               \
	X(constant_rank_low, TF_E_INVALID, "rank is -2", p->constants[0].rank = -2)                    \
	X(constant_member, TF_E_INVALID, "member is 5, there are 5", p->constants[0].member = 5)       \
	X(constant_long, TF_E_INVALID, "has 4096 bytes, buffer 'weights' has 64",                      \
		p->constants[0].member = 4)                                                                \
	X(constant_twice, TF_E_INVALID, "constant 1: buffer 'weights' has content for the same rank",  \
		p->constants[1].rank = 0)                                                                  \
	X(constant_lacks, TF_E_INVALID, "buffer 'bias' lacks content for rank 0",                      \
		p->constant_count = 3)                                                                     \
	X(module_name, TF_E_INVALID, "module 0 '': name", p->modules[0].name[0] = 0)                   \
	X(module_kind, TF_E_INVALID, "kind 2 is unknown", p->modules[0].kind = (enum tf_module_kind)2) \
	X(module_host, TF_E_INVALID, "a host module has", p->modules[0].compute_capability = 90)       \
	X(module_host_member, TF_E_INVALID, "digest differs", p->modules[0].member = 0)                \
	X(module_capability, TF_E_INVALID, "compute_capability is 0",                                  \
		p->modules[1].compute_capability = 0)                                                      \
	X(module_member, TF_E_INVALID, "member is 5", p->modules[1].member = 5)                        \
	X(module_digest, TF_E_INVALID, "digest differs from that of member 'modules/scale",            \
		p->modules[1].digest[31] ^= 1)                                                             \
	X(kernel_name, TF_E_INVALID, "kernel 0 '': name", p->kernels[0].name[0] = 0)                   \
	X(kernel_twice, TF_E_INVALID, "kernels 1 and 2 have the same module and name",                 \
		strcpy(p->kernels[2].name, "scale_rows"))                                                  \
	X(kernel_module, TF_E_INVALID, "module is 2", p->kernels[0].module = 2)                        \
	X(kernel_args, TF_E_INVALID, "args_bytes is 32765", p->kernels[0].args_bytes = 32765)          \
	X(kernel_words, TF_E_INVALID, "words 7 + 1 pass the 7", p->kernels[1].words_first = 7;         \
		p->kernels[1].words_count = 1)                                                             \
	X(kernel_words_wrap, TF_E_INVALID, "words 1 + 4294967295 pass the 7",                          \
		p->kernels[1].words_first = 1;                                                             \
		p->kernels[1].words_count = UINT32_MAX)                                                    \
	X(word_name, TF_E_INVALID, "word 0: name", p->kernel_words[0].name[0] = 0)                     \
	X(word_kind, TF_E_INVALID, "kind 2 is unknown",                                                \
		p->kernel_words[0].kind = (enum tf_word_kind)2)                                            \
	X(word_nullable, TF_E_INVALID, "word 'rank': nullable is 1", p->kernel_words[4].nullable = 1)  \
	X(word_overlap, TF_E_INVALID, "word 'output': arg_off 7 lies", p->kernel_words[1].arg_off = 7) \
	X(word_end, TF_E_INVALID, "word 'rank': arg_off 45 passes the 48 bytes",                       \
		p->kernel_words[4].arg_off = 45)                                                           \
	X(word_end_wrap, TF_E_INVALID, "word 'rank': arg_off 4294967293 passes",                       \
		p->kernel_words[4].arg_off = UINT32_MAX - 2)                                               \
	X(launch_kernel, TF_E_INVALID, "launch 0 of kernel '?' (graph 0, node 0): kernel is 4",        \
		p->launches[0].kernel = 4)                                                                 \
	X(launch_grid, TF_E_INVALID, "grid is (0,", p->launches[0].grid[0] = 0)                        \
	X(launch_grid_z, TF_E_INVALID, "grid is (4, 1, 65536)", p->launches[0].grid[2] = 65536)        \
	X(launch_block, TF_E_INVALID, "block is (256, 1, 5)", p->launches[0].block[2] = 5)             \
	X(launch_block_wrap, TF_E_INVALID, "block is", p->launches[0].block[1] = 1u << 31)             \
	X(launch_shared, TF_E_INVALID, "shared_bytes is", p->launches[0].shared_bytes = UINT32_MAX)    \
	X(launch_args, TF_E_INVALID, "args_off 97 + 48 passes the 144 bytes",                          \
		p->launches[0].args_off = 97)                                                              \
	X(launch_args_wrap, TF_E_INVALID, "args_off 18446744073709551615 + 48",                        \
		p->launches[0].args_off = UINT64_MAX)                                                      \
	X(launch_args_word, TF_E_INVALID, "argument bytes of word 'rank' are not zero",                \
		p->args.data[43] = 1)                                                                      \
	X(launch_words, TF_E_INVALID, "words 13 + 4 pass the 13", p->launches[0].words_first = 13)     \
	X(launch_word_missing, TF_E_INVALID, "word 'rank' at arg_off 40 is missing",                   \
		p->launches[0].words_count = 3)                                                            \
	X(launch_word_foreign, TF_E_INVALID, "word 'output' at arg_off 8 is missing",                  \
		p->launch_words[1].arg_off = 9)                                                            \
	X(launch_word_more, TF_E_INVALID, "word at arg_off 0 is not the kernel's",                     \
		p->launches[0].words_count = 5)                                                            \
	X(launch_word_kind, TF_E_INVALID, "word 'input': kind is 1, not address",                      \
		p->launch_words[0].kind = TF_WORD_RANK)                                                    \
	X(launch_word_rank, TF_E_INVALID, "word 'rank': a rank word has",                              \
		p->launch_words[3].segment_off = 1)                                                        \
	X(launch_word_peer, TF_E_INVALID, "word 'control[1]': peer is 3, the world has 3",             \
		p->launch_words[2].peer = 3)                                                               \
	X(launch_word_outside, TF_E_INVALID, "word 'input': offset 196608 with 1 bytes passes",        \
		p->launch_words[0].segment_off = 196608)                                                   \
	X(launch_word_huge, TF_E_INVALID, "word 'input': offset 18446744073709551615",                 \
		p->launch_words[0].segment_off = UINT64_MAX)                                               \
	X(launch_word_gap, TF_E_INVALID,                                                               \
		"launch 1 of kernel 'all_reduce_one_shot_ll' (graph 0, node 1): word 'output': offset "    \
		"49664"                                                                                    \
		" with 1 bytes lies in no declared buffer",                                                \
		p->launch_words[5].segment_off = 49664)                                                    \
	X(launch_word_private, TF_E_INVALID, "offset 131072 lies in buffer 'moe.8.out', which peer 1", \
		p->launch_words[2].segment_off = 131072)                                                   \
	X(graph_kind, TF_E_INVALID, "graph 0: kind 2 is unknown",                                      \
		p->graphs[0].kind = (enum tf_graph_kind)2)                                                 \
	X(graph_capacity, TF_E_INVALID, "graph 0: capacity is 0", p->graphs[0].capacity = 0)           \
	X(graph_order, TF_E_INVALID, "graph 1: capacity 1 comes after 1", p->graphs[1].capacity = 1)   \
	X(graph_startup, TF_E_INVALID, "graph 1: the startup graph is not the last",                   \
		p->graphs[1].kind = TF_GRAPH_STARTUP)                                                      \
	X(graph_startup_capacity, TF_E_INVALID, "graph 2: the startup graph",                          \
		p->graphs[2].capacity = 9)                                                                 \
	X(graph_count, TF_E_LIMIT, "258 graphs", p->graph_count = 258)                                 \
	X(node_count, TF_E_LIMIT, "4194305 nodes", p->graphs[2].node_count = (1u << 22) + 1)           \
	X(edge_count, TF_E_LIMIT, "16777217 edges", p->graphs[2].edge_count = (1u << 24) + 1)          \
	X(node_kind, TF_E_INVALID, "node 4 (?): kind 5 is unknown",                                    \
		p->graphs[0].nodes[4].kind = (enum tf_node_kind)5)                                         \
	X(node_launch, TF_E_INVALID, "node 0 (kernel): launch is 6", p->graphs[0].nodes[0].launch = 6) \
	X(node_fields, TF_E_INVALID, "node 0 (kernel): a kernel node has",                             \
		p->graphs[0].nodes[0].bytes = 1)                                                           \
	X(node_copy_peer, TF_E_INVALID, "node 2 (copy): to: peer is 3",                                \
		p->graphs[0].nodes[2].to_peer = 3)                                                         \
	X(node_copy_from, TF_E_INVALID, "node 2 (copy): from: offset 49152 with 129 bytes lies in no", \
		p->graphs[0].nodes[2].bytes = 129)                                                         \
	X(node_copy_private, TF_E_INVALID, "which peer 1 does not export",                             \
		p->graphs[0].nodes[2].from_off = 139264)                                                   \
	X(node_copy_empty, TF_E_INVALID, "bytes is 0", p->graphs[0].nodes[2].bytes = 0)                \
	X(node_copy_wrap, TF_E_INVALID, "passes the segment",                                          \
		p->graphs[0].nodes[2].bytes = UINT64_MAX)                                                  \
	X(node_copy_value, TF_E_INVALID, "a copy node has value 2, not 0 or 1",                        \
		p->graphs[0].nodes[2].value = 2)                                                           \
	X(node_copy_rows, TF_E_INVALID, "node 2 (copy): to: offset 51200",                             \
		(p->graphs[0].nodes[2].value = 1, p->graphs[0].nodes[2].bytes = 133))                      \
	X(node_set_value, TF_E_INVALID, "value is 256", p->graphs[0].nodes[3].value = 256)             \
	X(node_set_source, TF_E_INVALID, "a set node has a source",                                    \
		p->graphs[0].nodes[3].from_off = 1)                                                        \
	X(node_empty, TF_E_INVALID, "node 4 (empty)", p->graphs[0].nodes[4].value = 1)                 \
	X(node_comm_group, TF_E_INVALID, "node 5 (comm): group is 4", p->graphs[0].nodes[5].value = 4) \
	X(node_comm_bytes, TF_E_INVALID, "bytes is 131, group 'logits' has 132",                       \
		p->graphs[0].nodes[5].bytes = 131)                                                         \
	X(node_comm_output, TF_E_INVALID, "node 5 (comm): to: offset 51200 with 396 bytes",            \
		p->graphs[0].nodes[5].to_off = 51200)                                                      \
	X(edge_node, TF_E_INVALID, "edge 0: 0 to 6, there are 6 nodes", p->graphs[0].edges[0].to = 6)  \
	X(edge_type, TF_E_INVALID, "edge 0: type is 2", p->graphs[0].edges[0].type = 2)                \
	X(edge_programmatic, TF_E_INVALID, "edge 1: a programmatic edge",                              \
		p->graphs[0].edges[1].type = 1)                                                            \
	X(edge_twice, TF_E_INVALID, "two edges lead from node 0 to node 1",                            \
		(p->graphs[0].edges[1].to = 1))                                                            \
	X(edge_cycle, TF_E_INVALID, "edges form a cycle", p->graphs[0].edges[4].from = 5)              \
	X(edge_self, TF_E_INVALID, "edges form a cycle: node 4", p->graphs[0].edges[2].from = 4)

#define DEFINE(name, status, text, statement)                                                      \
	static void break_##name(struct tf_program *p)                                                 \
	{                                                                                              \
		statement;                                                                                 \
	}
FAULTS(DEFINE)

struct fault {
	const char *name;
	enum tf_status status;
	const char *text;
	void (*plant)(struct tf_program *program);
};

#define ROW(name, status, text, statement) {#name, status, text, break_##name},
static const struct fault faults[] = {FAULTS(ROW)};

static void sample_passes(void **state)
{
	struct tf_program program;
	struct tf_error err = {0};

	(void)state;
	sample_program_make(&program);
	if (tf_program_check(&program, &err) != TF_OK)
		fail_msg("%s", err.text);
	tf_program_fini(&program);
	sample_program_make_large(&program);
	if (tf_program_check(&program, &err) != TF_OK)
		fail_msg("%s", err.text);
	tf_program_fini(&program);
}

static void empty_program_is_refused_by_world(void **state)
{
	struct tf_program program = {0};
	struct tf_error err = {0};

	(void)state;
	assert_int_equal(tf_program_check(&program, &err), TF_E_INVALID);
	assert_non_null(strstr(err.text, "world"));
}

/* The fault is planted in a copy of the struct, so that counts stay right for the release. */
static void faults_are_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct tf_program program, broken;
		struct tf_error err = {0};
		struct tf_bytes bytes = {0};
		enum tf_status status;

		sample_program_make(&program);
		broken = program;
		faults[i].plant(&broken);
		status = tf_program_check(&broken, &err);
		if (status != faults[i].status || !strstr(err.text, faults[i].text))
			fail_msg("%s: %s: '%s' lacks '%s'", faults[i].name, tf_status_name(status), err.text,
				faults[i].text);
		assert_int_equal(tf_catalog_write(&broken, &bytes, &err), faults[i].status);
		assert_int_equal(strncmp(err.text, "catalog: ", 9), 0);
		assert_int_equal(bytes.size, 0);
		sample_program_make(
			&broken); /* counts inside arrays were broken too: release what was made */
		for (uint32_t g = 0; g < program.graph_count; g++) {
			program.graphs[g].node_count = broken.graphs[g].node_count;
			program.graphs[g].edge_count = broken.graphs[g].edge_count;
		}
		tf_program_fini(&broken);
		tf_program_fini(&program);
	}
	print_message("%zu faults\n", sizeof(faults) / sizeof(faults[0]));
}

static void errors_may_be_ignored(void **state)
{
	struct tf_program program;

	(void)state;
	sample_program_make(&program);
	program.buffers[0].peer_visible = 0;
	assert_int_equal(tf_program_check(&program, NULL), TF_E_INVALID);
	tf_program_fini(&program);
}

static void short_memory_is_reported(void **state)
{
	struct tf_program program;
	uint64_t before, count;

	(void)state;
	sample_program_make(&program);
	before = tf_alloc_count();
	assert_int_equal(tf_program_check(&program, NULL), TF_OK);
	count = tf_alloc_count() - before;
	assert_true(count > 10);
	for (uint64_t n = 1; n <= count; n++) {
		tf_alloc_fail_at(n);
		assert_int_equal(tf_program_check(&program, NULL), TF_E_NO_MEMORY);
	}
	tf_alloc_fail_at(0);
	tf_program_fini(&program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sample_passes),
		cmocka_unit_test(empty_program_is_refused_by_world),
		cmocka_unit_test(faults_are_named),
		cmocka_unit_test(errors_may_be_ignored),
		cmocka_unit_test(short_memory_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
