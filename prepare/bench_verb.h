/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `bench`: what tuned collectives cost on this machine. */
#ifndef TF_PREPARE_BENCH_VERB_H
#define TF_PREPARE_BENCH_VERB_H

#include "base/options.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct tf_verb tf_bench_verb_table;

/* argv without tool and verb. Returns an exit code (DESIGN 13). */
int tf_bench_verb(int argc, char **argv);

#ifdef __cplusplus
}
#endif
#endif
