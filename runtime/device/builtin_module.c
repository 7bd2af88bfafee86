/* SPDX-License-Identifier: Apache-2.0 */
/* The host's module is this binary; a GPU's is the image for its compute capability. */
#include "runtime/device/builtin_module.h"

#include <stdio.h>
#include <string.h>

#if TF_HAVE_CUDA
#include "runtime/device/cuda/cuda_images.h"

static enum tf_status cuda_module(
	uint32_t compute_capability, struct tf_builtin_module *out, struct tf_error *err)
{
	const struct tf_cuda_image *image;

	TF_TRY(tf_cuda_module_digest(compute_capability, out->digest, err));
	image = tf_cuda_image_for(compute_capability);
	if (image->compute_capability)
		snprintf(out->name, sizeof(out->name), "collectives-sm_%u", image->compute_capability);
	else
		snprintf(out->name, sizeof(out->name), "collectives-ptx");
	out->compute_capability = compute_capability;
	out->bytes = image->bytes;
	out->size = image->size;
	return TF_OK;
}
#else
static enum tf_status cuda_module(
	uint32_t compute_capability, struct tf_builtin_module *out, struct tf_error *err)
{
	(void)out;
	return TF_FAIL(err, TF_E_UNAVAILABLE, "this build is without CUDA: no kernels for sm_%u",
		compute_capability);
}
#endif

enum tf_status tf_builtin_module_for(const struct tf_device_properties *properties,
	struct tf_builtin_module *out, struct tf_error *err)
{
	struct tf_builtin_module module;

	memset(&module, 0, sizeof(module));
	if (!strcmp(properties->kind, "host")) {
		snprintf(module.name, sizeof(module.name), "host");
		tf_host_module_digest(module.digest);
	} else {
		TF_TRY(cuda_module(properties->compute_capability, &module, err));
	}
	*out = module;
	return TF_OK;
}
