/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `verify`: everything that can be proved about a package. */
#ifndef TF_PREPARE_VERIFY_VERB_H
#define TF_PREPARE_VERIFY_VERB_H

#include "base/options.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct tf_verb tf_verify_verb_table;

/* argv without tool and verb. Returns an exit code (DESIGN 13). */
int tf_verify_verb(int argc, char **argv);

#ifdef __cplusplus
}
#endif
#endif
