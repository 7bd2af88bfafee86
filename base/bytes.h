/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes: a growing buffer, little-endian fields, alignment, hex. */
#ifndef TF_BASE_BYTES_H
#define TF_BASE_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_DIGEST_BYTES     32 /* SHA-256 */
#define TF_DIGEST_HEX_BYTES 65 /* with its end */

/* A growing buffer; {0} is empty. tf_bytes_fini frees it. */
struct tf_bytes {
	uint8_t *data;
	size_t size;
	size_t capacity;
};

/*
 * All three give TF_E_NO_MEMORY or TF_E_LIMIT (past half the address space) and leave `bytes` as
 * it was. `data` must not lie inside `bytes`.
 */
TF_WARN_UNUSED enum tf_status tf_bytes_append(
	struct tf_bytes *bytes, const void *data, size_t size, struct tf_error *err);
/* Grows by `size` zero bytes; *out_data points at them until the next growth and is never NULL. */
TF_WARN_UNUSED enum tf_status tf_bytes_extend(
	struct tf_bytes *bytes, size_t size, void **out_data, struct tf_error *err);
/* The text's end lies behind it, uncounted: `data` is a string after this call. */
TF_WARN_UNUSED enum tf_status tf_bytes_printf(
	struct tf_bytes *bytes, struct tf_error *err, const char *fmt, ...) TF_PRINTF(3, 4);
void tf_bytes_fini(struct tf_bytes *bytes);

void tf_put_le32(void *to, uint32_t value);
void tf_put_le64(void *to, uint64_t value);
uint32_t tf_get_le32(const void *from);
uint64_t tf_get_le64(const void *from);

/* Next multiple of `align`, a power of two; 0 where that passes 64 bits, so bound `value` first. */
static inline uint64_t tf_align_up(uint64_t value, uint64_t align)
{
	return (value + align - 1) & ~(align - 1);
}

/* Lower-case hex of `size` bytes and an end; `out` holds 2 * size + 1. */
void tf_hex(const void *data, size_t size, char *out);

/* FNV-1a over 64 bits for hash tables and seeds, never an identity. Start with TF_FNV_START. */
#define TF_FNV_START UINT64_C(0xcbf29ce484222325)
uint64_t tf_fnv64(uint64_t hash, const void *data, size_t size);

#ifdef __cplusplus
}
#endif
#endif
