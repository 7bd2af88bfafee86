/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small program for three ranks that passes tf_program_check, for tests to rebuild and to
 * break.
 *
 * Graph 0 (capacity 1): every rank fills its buffer "x" from its rank. Graph 1 (capacity 2):
 * copies "x" of the next rank to "work", mixes it into "y", sets "mark"; its nodes are stored
 * against the order in which they run.
 */
#ifndef TF_TESTS_GRAPH_GRAPH_PROGRAM_H
#define TF_TESTS_GRAPH_GRAPH_PROGRAM_H

#include "catalog/program.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TEST_WORLD  3
#define TEST_COUNT  64 /* elements of x, work and y, 8 bytes each */
#define TEST_STRIDE UINT64_C(0x100000)
#define TEST_UNIT   UINT64_C(0x10000)

enum { BUFFER_X, BUFFER_Y, BUFFER_HIDDEN, BUFFER_WORK, BUFFER_MARK, TEST_BUFFERS };
enum { KERNEL_MIX, KERNEL_STORE, TEST_KERNELS };
enum { LAUNCH_FILL, LAUNCH_MIX, LAUNCH_STORE, TEST_LAUNCHES };

/* The program points into the arrays beside it: never copy one. */
struct test_program {
	struct tf_program program;
	struct tf_buffer buffers[TEST_BUFFERS];
	struct tf_module modules[1];
	struct tf_kernel kernels[TEST_KERNELS];
	struct tf_kernel_word kernel_words[4];
	struct tf_launch launches[TEST_LAUNCHES];
	struct tf_launch_word launch_words[6];
	struct tf_graph graphs[2];
	struct tf_node fill_nodes[1];
	struct tf_node step_nodes[5];
	struct tf_edge step_edges[4];
	uint8_t args[128];
};

/* The test kernels must be registered before: the module's digest is taken from the host. */
void test_program_init(struct test_program *test);

#ifdef __cplusplus
}
#endif
#endif
