/* SPDX-License-Identifier: Apache-2.0 */
/* A module is named by the SHA-256 of its content; what is loaded must be what was asked for. */
#ifndef TF_RUNTIME_DEVICE_MODULE_DIGEST_H
#define TF_RUNTIME_DEVICE_MODULE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * TF_E_MISFIT, "WHAT: digest 'W' is asked for, HAS 'F'", unless the two of 32 bytes are equal.
 */
TF_WARN_UNUSED enum tf_status tf_module_digest_match(const char *what, const char *has,
	const uint8_t found[32], const uint8_t wanted[32], struct tf_error *err);

/* The same for an image's own digest: "..., the image has 'F'". */
TF_WARN_UNUSED enum tf_status tf_module_digest_check(const char *what, const void *image,
	size_t bytes, const uint8_t wanted[32], struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
