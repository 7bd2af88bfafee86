/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing a device by name, and the bases at which windows are tried. */
#include "runtime/device/device.h"

#include <string.h>

#include "runtime/device/cuda/cuda_probe.h"
#if TF_HAVE_CUDA
#include "runtime/device/cuda/cuda_api.h"
#endif

const uint64_t tf_window_bases[TF_WINDOW_BASE_COUNT] = {
	UINT64_C(0x7e9000000000),
	UINT64_C(0x7ea000000000),
	UINT64_C(0x7eb000000000),
	UINT64_C(0x600000000000),
	0,
};

#if TF_HAVE_CUDA
/* The driver is loaded and asked for its version, not initialised. */
static enum tf_status find_cuda(const struct tf_device_ops **out, struct tf_error *err)
{
	const struct tf_cuda_api *api;

	TF_TRY(tf_cuda_api_open(&api, err));
	*out = &tf_cuda_device_ops;
	return TF_OK;
}
#else
/* Fails always: only the reason depends on the machine. */
static enum tf_status find_cuda(const struct tf_device_ops **out, struct tf_error *err)
{
	struct tf_cuda_probe probe;

	(void)out;
	TF_TRY(tf_cuda_probe(&probe, err));
	return TF_FAIL(err, TF_E_UNAVAILABLE,
		"the driver is there (CUDA %u.%u, %u device%s), but this build is without CUDA: use "
		"'--device host'",
		probe.driver_version / 1000, probe.driver_version % 1000 / 10, probe.device_count,
		probe.device_count == 1 ? "" : "s");
}
#endif

enum tf_status tf_device_ops_find(
	const char *kind, const struct tf_device_ops **out, struct tf_error *err)
{
	enum tf_status status;

	if (strcmp(kind, "host") == 0) {
		*out = &tf_host_device_ops;
		return TF_OK;
	}
	if (strcmp(kind, "cuda") != 0)
		return TF_FAIL(err, TF_E_USAGE, "unknown device '%s', not 'host' or 'cuda'", kind);
	status = find_cuda(out, err);
	tf_error_prefix(err, "device 'cuda'");
	return status;
}
