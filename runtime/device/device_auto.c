/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What "auto" means here, and which devices there are. Apart from device.c, since a parent that is
 * going to fork its ranks must not initialise the driver: it asks in a process of its own. A
 * library inside an engine must not fork at all.
 */
#include <stdio.h>

#include "runtime/device/cuda/cuda_probe.h"
#include "runtime/device/device.h"

static enum tf_status find_cuda_with_devices(const struct tf_device_ops **out, struct tf_error *err)
{
	const struct tf_device_ops *found;
	struct tf_cuda_probe probe;

	TF_TRY(tf_device_ops_find("cuda", &found, err));
	if (tf_cuda_probe_apart(&probe, err) != TF_OK) {
		tf_error_prefix(err, "device 'cuda'");
		return TF_E_UNAVAILABLE;
	}
	*out = found;
	return TF_OK;
}

void tf_device_ops_auto(const struct tf_device_ops **out, char *why, size_t why_bytes)
{
	struct tf_error err = {0};

	if (why && why_bytes)
		why[0] = 0;
	if (find_cuda_with_devices(out, &err) == TF_OK)
		return;
	*out = &tf_host_device_ops;
	if (why && why_bytes)
		snprintf(why, why_bytes, "%s", err.text);
}

enum tf_status tf_device_roster_read(
	const char *kind, struct tf_device_roster *out, struct tf_error *err)
{
	return tf_device_roster_by(kind, tf_cuda_probe_apart, out, err);
}
