/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verb `tfprep topology`: what this machine's devices are, how they are joined, and its
 * class.
 */
#ifndef TF_PREPARE_TOPOLOGY_VERB_H
#define TF_PREPARE_TOPOLOGY_VERB_H

#include "base/options.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct tf_verb tf_topology_verb_table;

/*
 * Runs the verb on argv[0..argc), without tool and verb names. Results go to stdout, a failure's
 * one line to stderr. Returns the exit code: 0, 2 for usage, 3 if --topology does not match or
 * there are fewer than --tp GPUs or the XML file is not one, else what tf_status_exit says.
 */
int tf_topology_verb(int argc, char **argv);

#ifdef __cplusplus
}
#endif
#endif
