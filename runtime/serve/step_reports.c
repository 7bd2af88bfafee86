/* SPDX-License-Identifier: Apache-2.0 */
/* A step is over when its slowest rank is. */
#include "runtime/serve/step_reports.h"

static void raise_to(int64_t *value, int64_t other)
{
	if (other > *value)
		*value = other;
}

void tf_step_reports_join(
	const struct tf_step_report *reports, uint32_t world, struct tf_step_report *out)
{
	*out = reports[0];
	for (uint32_t rank = 1; rank < world; rank++) {
		const struct tf_step_report *report = &reports[rank];

		raise_to(&out->min_ns, report->min_ns);
		raise_to(&out->median_ns, report->median_ns);
		raise_to(&out->max_ns, report->max_ns);
		raise_to(&out->total_ns, report->total_ns);
		for (int i = 0; i < TF_STEP_TIMES_MAX; i++)
			raise_to(&out->times_ns[i], report->times_ns[i]);
	}
}
