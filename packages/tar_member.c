/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tar headers as libarchive's restricted pax format writes them for a regular file of mode 0644,
 * time 0 and owner 0: a ustar block; from 8 GiB on a pax header with the one record "size" before
 * it.
 * 1. tf_tar_header_build is a function of name and size.
 * 2. tf_tar_header_parse accepts its results and nothing else.
 */
#include "packages/tar_member.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	NAME_OFF = 0,
	NAME_BYTES = 100,
	MODE_OFF = 100,
	UID_OFF = 108,
	GID_OFF = 116,
	SIZE_OFF = 124,
	SIZE_BYTES = 12,
	MTIME_OFF = 136,
	CHECKSUM_OFF = 148,
	TYPE_OFF = 156,
	MAGIC_OFF = 257,
	MAJOR_OFF = 329,
	MINOR_OFF = 337,
};

#define TYPE_FILE      '0'
#define TYPE_PAX       'x'
#define PAX_PART       "PaxHeader/"
#define SIZE_PLAIN_MAX ((UINT64_C(1) << 33) - 1) /* 11 octal digits */

int tf_tar_name_is_valid(const char *name)
{
	size_t part = 0; /* bytes of the current part */
	size_t dots = 0; /* of which are dots */
	size_t at = 0;

	for (; name[at]; at++) {
		unsigned char c = (unsigned char)name[at];

		if (at == TF_PACKAGE_NAME_MAX)
			return 0;
		if (c == '/') {
			if (part == 0 || (dots == part && part <= 2))
				return 0;
			part = dots = 0;
			continue;
		}
		if (c >= 0x80 || (!isalnum(c) && !strchr("._+-", c)))
			return 0;
		part++;
		dots += c == '.';
	}
	return part > 0 && !(dots == part && part <= 2);
}

static void put_octal(uint8_t *to, int digits, uint64_t value)
{
	while (digits-- > 0) {
		to[digits] = (uint8_t)('0' + (value & 7));
		value >>= 3;
	}
}

/*
 * Digits, then the space that ends the field; the byte behind it, where there is one, stays zero.
 */
static void put_field(uint8_t *block, int off, int digits, uint64_t value)
{
	put_octal(block + off, digits, value);
	block[off + digits] = ' ';
}

static void put_checksum(uint8_t *block)
{
	uint64_t sum = 0;

	memset(block + CHECKSUM_OFF, ' ', 8);
	for (int i = 0; i < TF_TAR_BLOCK_BYTES; i++)
		sum += block[i];
	put_octal(block + CHECKSUM_OFF, 6, sum);
	block[CHECKSUM_OFF + 6] = '\0';
}

static void put_block(uint8_t *block, const char *name, uint64_t bytes, char type)
{
	memset(block, 0, TF_TAR_BLOCK_BYTES);
	memcpy(block + NAME_OFF, name, strlen(name));
	put_field(block, MODE_OFF, 6, 0644);
	put_field(block, UID_OFF, 6, 0);
	put_field(block, GID_OFF, 6, 0);
	if (bytes > SIZE_PLAIN_MAX)
		put_octal(block + SIZE_OFF, SIZE_BYTES, bytes);
	else
		put_field(block, SIZE_OFF, SIZE_BYTES - 1, bytes);
	put_field(block, MTIME_OFF, 11, 0);
	block[TYPE_OFF] = (uint8_t)type;
	memcpy(block + MAGIC_OFF,
		"ustar\0"
		"00",
		8);
	put_field(block, MAJOR_OFF, 6, 0);
	put_field(block, MINOR_OFF, 6, 0);
	put_checksum(block);
}

size_t tf_tar_header_build(const char *name, uint64_t bytes, uint8_t out[TF_TAR_HEADER_BYTES])
{
	const char *slash = strrchr(name, '/');
	int folder = slash ? (int)(slash + 1 - name) : 0;
	char pax_name[NAME_BYTES];
	char record[64];
	int digits, length;

	if (bytes <= SIZE_PLAIN_MAX) {
		put_block(out, name, bytes, TYPE_FILE);
		return TF_TAR_BLOCK_BYTES;
	}
	/* A pax record begins with its own length, here always of two digits. */
	digits = snprintf(record, sizeof(record), "%" PRIu64, bytes);
	length = snprintf(record, sizeof(record), "%d size=%" PRIu64 "\n", digits + 9, bytes);
	snprintf(pax_name, sizeof(pax_name), "%.*s%s%s", folder, name, PAX_PART, name + folder);
	put_block(out, pax_name, (uint64_t)length, TYPE_PAX);
	memset(out + TF_TAR_BLOCK_BYTES, 0, TF_TAR_BLOCK_BYTES);
	memcpy(out + TF_TAR_BLOCK_BYTES, record, (size_t)length);
	put_block(out + 2 * TF_TAR_BLOCK_BYTES, name, bytes, TYPE_FILE);
	return TF_TAR_HEADER_BYTES;
}

size_t tf_tar_header_bytes(uint64_t bytes)
{
	return bytes > SIZE_PLAIN_MAX ? TF_TAR_HEADER_BYTES : TF_TAR_BLOCK_BYTES;
}

size_t tf_tar_header_wanted(const uint8_t block[TF_TAR_BLOCK_BYTES])
{
	return block[TYPE_OFF] == TYPE_PAX ? TF_TAR_HEADER_BYTES : TF_TAR_BLOCK_BYTES;
}

uint64_t tf_tar_range_bytes(uint64_t bytes)
{
	return tf_tar_header_bytes(bytes) + tf_align_up(bytes, TF_TAR_BLOCK_BYTES);
}

/*
 * Stops at the first byte that is no octal digit: what is wrong with it shows when it is built
 * again.
 */
static uint64_t get_octal(const uint8_t *from, int digits)
{
	uint64_t value = 0;

	for (int i = 0; i < digits && from[i] >= '0' && from[i] <= '7'; i++)
		value = value << 3 | (uint64_t)(from[i] - '0');
	return value;
}

enum tf_status tf_tar_header_parse(const uint8_t *header, char out_name[TF_PACKAGE_NAME_MAX + 1],
	uint64_t *out_bytes, struct tf_error *err)
{
	size_t wanted = tf_tar_header_wanted(header);
	const uint8_t *block = header + wanted - TF_TAR_BLOCK_BYTES;
	uint8_t right[TF_TAR_HEADER_BYTES];
	char name[NAME_BYTES + 1] = "";
	uint64_t bytes = get_octal(block + SIZE_OFF, SIZE_BYTES);
	size_t built;

	/* No more than TF_PACKAGE_MEMBER_BYTES_MAX: that is what the digits hold. */
	memcpy(name, block + NAME_OFF, NAME_BYTES);
	if (!tf_tar_name_is_valid(name))
		return TF_FAIL(err, TF_E_INVALID,
			"member name is not up to %d bytes of [A-Za-z0-9._+-] in parts joined by '/'",
			TF_PACKAGE_NAME_MAX);
	built = tf_tar_header_build(name, bytes, right);
	for (size_t i = 0; i < wanted; i++) {
		if (built != wanted || header[i] != right[i])
			return TF_FAIL(err, TF_E_DAMAGED,
				"tar header of '%s' is not the one of %" PRIu64 " bytes: byte %zu differs", name,
				bytes, i);
	}
	memcpy(out_name, name, strlen(name) + 1);
	*out_bytes = bytes;
	return TF_OK;
}
