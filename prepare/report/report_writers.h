/* SPDX-License-Identifier: Apache-2.0 */
/* What each writer costs at each size: the best candidate of a writer for one size of one op. */
#ifndef TF_PREPARE_REPORT_REPORT_WRITERS_H
#define TF_PREPARE_REPORT_REPORT_WRITERS_H

#include "catalog/program.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_report_cost {
	enum tf_op op;
	enum tf_dtype dtype;
	enum tf_writer writer;
	uint64_t bytes;     /* one rank's input */
	uint32_t candidate; /* in program.candidates: the one with the least stage-1 median */
};

/*
 * Ordered by (op, dtype, writer, bytes), one row each. Stage 1 alone counts: it sampled every
 * candidate under the same conditions, while the second masks off those that lost. *out is freed
 * with tf_free. O(candidates log candidates). TF_E_NO_MEMORY.
 */
TF_WARN_UNUSED enum tf_status tf_report_costs(const struct tf_program *program,
	struct tf_report_cost **out, uint32_t *out_count, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
