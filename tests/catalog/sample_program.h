/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs for the tests of the catalog: a small one that uses every field, and a large one as
 * tuning makes it.
 */
#ifndef TF_TESTS_CATALOG_SAMPLE_PROGRAM_H
#define TF_TESTS_CATALOG_SAMPLE_PROGRAM_H

#include "catalog/program.h"

/*
 * World 3; 4 groups at capacities 1 and 8; candidates of every state; every role, word and node
 * kind, two modules, a kernel without arguments. Aborts the test where memory is short. The caller
 * releases it.
 */
void sample_program_make(struct tf_program *out);

/*
 * 81 groups with 12 candidates: a startup graph of 61,257 nodes, 40,824 samples, and a step graph.
 */
void sample_program_make_large(struct tf_program *out);

/* NULL where the two are the same in every field, else the name of the first that differs. */
const char *sample_program_difference(const struct tf_program *a, const struct tf_program *b);

#endif
