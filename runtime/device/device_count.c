/* SPDX-License-Identifier: Apache-2.0 */
/* How many devices this process may use; device_auto.c asks the same in a child process. */
#include "runtime/device/cuda/cuda_probe.h"
#include "runtime/device/device.h"

enum tf_status tf_device_count(const char *kind, uint32_t *out_count, struct tf_error *err)
{
	const struct tf_device_ops *ops;
	struct tf_cuda_probe probe;

	TF_TRY(tf_device_ops_find(kind, &ops, err));
	*out_count = 1;
	if (ops == &tf_host_device_ops)
		return TF_OK;
	TF_TRY(tf_cuda_probe(&probe, err));
	*out_count = probe.device_count;
	return TF_OK;
}
