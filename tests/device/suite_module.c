/* SPDX-License-Identifier: Apache-2.0 */
/* The test kernels as a module: the host's own, or the image made of the .cu file. */
#include "tests/device/device_suite.h"

#include <sodium.h>

#include "tests/device/test_image.h"

const void *suite_module_image(size_t *out_bytes)
{
	*out_bytes = suite_on_host() ? 0 : test_image_bytes;
	return suite_on_host() ? NULL : test_image;
}

void suite_module_digest(uint8_t out[32])
{
	size_t bytes;
	const void *image = suite_module_image(&bytes);

	if (image)
		crypto_hash_sha256(out, image, bytes);
	else
		tf_host_module_digest(out);
}

enum tf_status suite_module_load(const struct tf_device_ops *ops, struct tf_device *device,
	struct tf_module_handle **out, struct tf_error *err)
{
	size_t bytes;
	const void *image = suite_module_image(&bytes);
	uint8_t digest[32];

	suite_module_digest(digest);
	return ops->module_load(device, image, bytes, digest, out, err);
}
