/* SPDX-License-Identifier: Apache-2.0 */
/* A host device with the test program's modules loaded, and what the graph tests assert with. */
#ifndef TF_TESTS_GRAPH_GRAPH_RIG_H
#define TF_TESTS_GRAPH_GRAPH_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/graph/rebuild.h"
#include "runtime/graph/rebuild_modules.h"
#include "tests/device/planted_comm.h"
#include "tests/graph/graph_program.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graph_rig {
	struct test_program test;
	struct tf_device *device;
	struct tf_rebuild_modules modules;
	struct tf_rebuild_target target; /* rank 0 at an address that nothing is mapped at */
	struct planted_comm comm;        /* the target's once graph_rig_plant_comm was called */
	struct tf_group groups[2];
	struct tf_error err;
};

int graph_rig_setup(void **state);
int graph_rig_teardown(void **state);

/*
 * Makes node 2 of graph 1 a call of the planted library: group 1 of two, an all-reduce of "x" into
 * "hidden". The set runs before it, the copy behind it.
 */
void graph_rig_plant_comm(struct graph_rig *rig);

/* Fails the test with the error's own text. */
void graph_assert_ok(enum tf_status got, const struct tf_error *err, const char *file, int line);
#define assert_ok(call, error) graph_assert_ok((call), (error), __FILE__, __LINE__)

/* The call returns `wanted` and the error says `words`. */
void graph_assert_refused(enum tf_status got, enum tf_status wanted, const struct tf_error *err,
	const char *words, const char *file, int line);
#define assert_refused(call, wanted, error, words)                                                 \
	graph_assert_refused((call), (wanted), (error), (words), __FILE__, __LINE__)

#ifdef __cplusplus
}
#endif
#endif
