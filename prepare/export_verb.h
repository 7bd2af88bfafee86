/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs `tfprep export` and `tfprep tune`. */
#ifndef TF_PREPARE_EXPORT_VERB_H
#define TF_PREPARE_EXPORT_VERB_H

#include "base/options.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct tf_verb tf_export_verb_table, tf_tune_verb_table;

/* argv[0] is the first word after the verb. Return exit codes (enum tf_exit). */
int tf_export_verb(int argc, char **argv);
int tf_tune_verb(int argc, char **argv);

#ifdef __cplusplus
}
#endif
#endif
