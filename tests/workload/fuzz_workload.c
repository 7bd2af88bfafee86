/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a workload: refused with a one-line message, or read into one whose groups are in
 * order and can be cut.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prepare/workload/workload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void cut(struct tf_workload *workload)
{
	char list[16];

	for (uint32_t i = 1; i < workload->group_count; i++) {
		if (workload->groups[i - 1].capacity > workload->groups[i].capacity)
			abort();
	}
	snprintf(list, sizeof(list), "%u", (unsigned)workload->capacities[0]);
	if (tf_workload_restrict(workload, list, NULL) != TF_OK || workload->group_count == 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tf_workload workload = {0};
	struct tf_error err = {0};
	enum tf_status status =
		tf_workload_parse((const char *)data, size, "fuzz.yaml", &workload, &err);

	if (status == TF_OK)
		cut(&workload);
	else if (status != TF_E_INVALID || strncmp(err.text, "fuzz.yaml:", 10) ||
		strchr(err.text, '\n'))
		abort();
	tf_workload_fini(&workload);
	return 0;
}
