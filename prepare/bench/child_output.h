/* SPDX-License-Identifier: Apache-2.0 */
/* A program run to its end with its output collected, never longer than a deadline. */
#ifndef TF_PREPARE_BENCH_CHILD_OUTPUT_H
#define TF_PREPARE_BENCH_CHILD_OUTPUT_H

#include "base/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Runs argv[0] (a path) with no input, in a process group of its own, and appends what it writes
 * to `out` and `errors` ({0} before, at most 1 MiB each; both are strings afterwards).
 * TF_E_SYSTEM: it did not start, or ended by a signal or with an exit code other than 0 (its last
 * line on stderr is in the text). TF_E_TIMEOUT, TF_E_ABORTED (`interrupted`, may be NULL),
 * TF_E_LIMIT: it was ended, by SIGTERM and, two seconds later, by SIGKILL. In any case nothing of
 * its process group is left.
 */
TF_WARN_UNUSED enum tf_status tf_child_output(char *const *argv, int64_t deadline_ns,
	const volatile int *interrupted, struct tf_bytes *out, struct tf_bytes *errors,
	struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
