/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the verbs of tfprep share: the tool's table, the interrupt word, and how an error is told.
 */
#ifndef TF_PREPARE_TFPREP_TOOL_H
#define TF_PREPARE_TFPREP_TOOL_H

#include "base/options.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct tf_tool tf_tfprep_tool;

/*
 * Set by SIGINT, SIGTERM and, unless it is ignored, SIGHUP once tf_tfprep_catch_interrupts was
 * called.
 */
extern volatile int tf_tfprep_interrupted;
void tf_tfprep_catch_interrupts(void);

/*
 * Parses a verb's words. Returns -1 to go on, else the exit code to leave with: help was printed,
 * or a usage error was told in one line ("tfprep export: TEXT; see 'tfprep export --help'").
 */
int tf_tfprep_parse(const struct tf_verb *verb, int argc, char **argv, void *options,
	const char **out_args, int *out_arg_count);

/*
 * "tfprep VERB: TEXT" on stderr; returns the exit code of the error's status (130 if
 * interrupted).
 */
int tf_tfprep_fail(const struct tf_verb *verb, const struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
