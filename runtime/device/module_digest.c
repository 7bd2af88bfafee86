/* SPDX-License-Identifier: Apache-2.0 */
/* The digests of modules, whatever device they are for. */
#include "runtime/device/module_digest.h"

#include <sodium.h>
#include <string.h>

#include "base/bytes.h"

enum tf_status tf_module_digest_match(const char *what, const char *has, const uint8_t found[32],
	const uint8_t wanted[32], struct tf_error *err)
{
	char wanted_hex[TF_DIGEST_HEX_BYTES], found_hex[TF_DIGEST_HEX_BYTES];

	if (memcmp(found, wanted, TF_DIGEST_BYTES) == 0)
		return TF_OK;
	tf_hex(wanted, TF_DIGEST_BYTES, wanted_hex);
	tf_hex(found, TF_DIGEST_BYTES, found_hex);
	return TF_FAIL(err, TF_E_MISFIT, "%s: digest '%s' is asked for, %s '%s'", what, wanted_hex, has,
		found_hex);
}

enum tf_status tf_module_digest_check(const char *what, const void *image, size_t bytes,
	const uint8_t wanted[32], struct tf_error *err)
{
	uint8_t found[TF_DIGEST_BYTES];

	crypto_hash_sha256(found, image, bytes);
	return tf_module_digest_match(what, "the image has", found, wanted, err);
}
