/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `diff`: how two packages differ, and whether their samples justify it. */
#ifndef TF_PREPARE_DIFF_VERB_H
#define TF_PREPARE_DIFF_VERB_H

#include "base/options.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct tf_verb tf_diff_verb_table;

/* argv without tool and verb. Returns an exit code (DESIGN 13). */
int tf_diff_verb(int argc, char **argv);

#ifdef __cplusplus
}
#endif
#endif
