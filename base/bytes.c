/* SPDX-License-Identifier: Apache-2.0 */
/* Growing byte buffers and fixed-endian fields. */
#include "base/bytes.h"
#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum tf_status tf_bytes_extend(
	struct tf_bytes *bytes, size_t size, void **out_data, struct tf_error *err)
{
	size_t wanted;

	if (__builtin_add_overflow(bytes->size, size, &wanted) || wanted > PTRDIFF_MAX / 2)
		return TF_FAIL(
			err, TF_E_LIMIT, "buffer of %zu bytes cannot grow by %zu", bytes->size, size);
	if (wanted > bytes->capacity || !bytes->data) {
		size_t capacity = wanted + wanted / 2 + 64;
		uint8_t *data = tf_reallocarray(bytes->data, capacity, 1);

		if (!data)
			return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a buffer of %zu bytes", capacity);
		bytes->data = data;
		bytes->capacity = capacity;
	}
	memset(bytes->data + bytes->size, 0, size);
	*out_data = bytes->data + bytes->size;
	bytes->size = wanted;
	return TF_OK;
}

enum tf_status tf_bytes_append(
	struct tf_bytes *bytes, const void *data, size_t size, struct tf_error *err)
{
	void *to = NULL;

	TF_TRY(tf_bytes_extend(bytes, size, &to, err));
	if (size)
		memcpy(to, data, size);
	return TF_OK;
}

enum tf_status tf_bytes_printf(struct tf_bytes *bytes, struct tf_error *err, const char *fmt, ...)
{
	va_list args;
	void *to = NULL;
	int length;

	va_start(args, fmt);
	length = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (length < 0)
		return TF_FAIL(err, TF_E_INTERNAL, "format of a text failed");
	TF_TRY(tf_bytes_extend(bytes, (size_t)length + 1, &to, err));
	va_start(args, fmt);
	vsnprintf(to, (size_t)length + 1, fmt, args);
	va_end(args);
	bytes->size--; /* the end stays behind the text, uncounted */
	return TF_OK;
}

void tf_bytes_fini(struct tf_bytes *bytes)
{
	tf_free(bytes->data);
	memset(bytes, 0, sizeof(*bytes));
}

void tf_put_le32(void *to, uint32_t value)
{
	uint8_t *p = to;

	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(value >> (8 * i));
}

void tf_put_le64(void *to, uint64_t value)
{
	uint8_t *p = to;

	for (int i = 0; i < 8; i++)
		p[i] = (uint8_t)(value >> (8 * i));
}

uint32_t tf_get_le32(const void *from)
{
	const uint8_t *p = from;

	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

uint64_t tf_get_le64(const void *from)
{
	const uint8_t *p = from;

	return tf_get_le32(p) | (uint64_t)tf_get_le32(p + 4) << 32;
}

void tf_hex(const void *data, size_t size, char *out)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *p = data;

	for (size_t i = 0; i < size; i++) {
		out[2 * i] = digits[p[i] >> 4];
		out[2 * i + 1] = digits[p[i] & 15];
	}
	out[2 * size] = '\0';
}

uint64_t tf_fnv64(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
	return hash;
}
