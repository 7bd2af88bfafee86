/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `report`: one HTML page about a package, complete in itself. */
#ifndef TF_PREPARE_REPORT_VERB_H
#define TF_PREPARE_REPORT_VERB_H

#include "base/options.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct tf_verb tf_report_verb_table;

/* argv without tool and verb. Returns an exit code (DESIGN 13). */
int tf_report_verb(int argc, char **argv);

#ifdef __cplusplus
}
#endif
#endif
