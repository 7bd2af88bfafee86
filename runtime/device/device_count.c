/* SPDX-License-Identifier: Apache-2.0 */
/* Which devices this process may use; device_auto.c asks the same in a child process. */
#include <string.h>

#include "runtime/device/cuda/cuda_probe.h"
#include "runtime/device/device.h"

enum tf_status tf_device_roster_by(const char *kind,
	enum tf_status (*probe)(struct tf_cuda_probe *out, struct tf_error *err),
	struct tf_device_roster *out, struct tf_error *err)
{
	struct tf_device_roster found = {.count = 1};
	const struct tf_device_ops *ops;
	struct tf_cuda_probe answer;

	TF_TRY(tf_device_ops_find(kind, &ops, err));
	if (ops != &tf_host_device_ops) {
		TF_TRY(probe(&answer, err));
		found.count = answer.device_count;
		memcpy(found.bus_ids, answer.bus_ids, sizeof(found.bus_ids));
	}
	*out = found;
	return TF_OK;
}

enum tf_status tf_device_roster_here(
	const char *kind, struct tf_device_roster *out, struct tf_error *err)
{
	return tf_device_roster_by(kind, tf_cuda_probe, out, err);
}

enum tf_status tf_device_count(const char *kind, uint32_t *out_count, struct tf_error *err)
{
	struct tf_device_roster roster;

	TF_TRY(tf_device_roster_here(kind, &roster, err));
	*out_count = roster.count;
	return TF_OK;
}
