/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing among the images that are built in. */
#include "runtime/device/cuda/cuda_images.h"

#include <sodium.h>
#include <stdio.h>

const struct tf_cuda_image *tf_cuda_image_for(uint32_t compute_capability)
{
	const struct tf_cuda_image *ptx = NULL;

	for (const struct tf_cuda_image *image = tf_cuda_images; image->bytes; image++) {
		if (image->compute_capability == compute_capability && compute_capability)
			return image;
		if (image->compute_capability == 0 && !ptx)
			ptx = image;
	}
	return ptx;
}

static enum tf_status fail_without_image(uint32_t compute_capability, struct tf_error *err)
{
	char have[256] = "";
	size_t used = 0;

	for (const struct tf_cuda_image *image = tf_cuda_images; image->bytes; image++)
		if (used + 16 < sizeof(have))
			used += (size_t)snprintf(have + used, sizeof(have) - used, "%s%u", used ? ", " : "",
				image->compute_capability);
	return TF_FAIL(err, TF_E_NOT_FOUND,
		"this build has no kernels for compute capability %u, only for: %s", compute_capability,
		used ? have : "none");
}

enum tf_status tf_cuda_module_digest(
	uint32_t compute_capability, uint8_t out[32], struct tf_error *err)
{
	const struct tf_cuda_image *image = tf_cuda_image_for(compute_capability);

	if (!image)
		return fail_without_image(compute_capability, err);
	crypto_hash_sha256(out, image->bytes, image->size);
	return TF_OK;
}
