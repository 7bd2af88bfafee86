/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `inspect`: what a package is, what it picked and why, and questions in SQL. */
#ifndef TF_PREPARE_INSPECT_VERB_H
#define TF_PREPARE_INSPECT_VERB_H

#include "base/options.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct tf_verb tf_inspect_verb_table;

/* argv without tool and verb. Returns an exit code (DESIGN 13). */
int tf_inspect_verb(int argc, char **argv);

#ifdef __cplusplus
}
#endif
#endif
