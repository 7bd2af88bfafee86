/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tail of a package, written and read:
 *
 *   seal         u32 0x184D2A5D, u32 72, "tfpc", u32 version, SHA-256 catalog, SHA-256 body
 *   seek table   u32 0x184D2A5E, u32 bytes that follow,
 *                (u32 packed, u32 raw, u32 checksum) a frame, the seal's last,
 *                u32 frames, u8 0x80, u32 0x8F92EAB1
 *
 * 1. Every byte of the tail follows from struct tf_zframe_table.
 * 2. Offsets are sums of packed sizes: frames lie end to end from byte 0 up to the seal.
 * 3. Nothing is allocated for a count before the file is known to be long enough for it.
 */
#include "packages/frame_table.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "packages/read_at.h"

#define ZSTD_FRAME_MAGIC UINT32_C(0xFD2FB528)
#define SEAL_FRAME_MAGIC UINT32_C(0x184D2A5D)
#define SEAL_MAGIC       "tfpc"
#define TABLE_MAGIC      UINT32_C(0x184D2A5E)
#define FOOTER_MAGIC     UINT32_C(0x8F92EAB1)
#define FOOTER_FLAGS     0x80 /* entries have checksums */

/* Low half of XXH64 of nothing: the seal decompresses to nothing. */
#define EMPTY_CHECKSUM UINT32_C(0x51D8E999)

enum {
	SKIPPABLE_BYTES = 8, /* magic and size of a skippable frame */
	SEAL_VERSION_OFF = SKIPPABLE_BYTES + 4,
	SEAL_CATALOG_OFF = SKIPPABLE_BYTES + 8,
	SEAL_BODY_OFF = SEAL_CATALOG_OFF + TF_DIGEST_BYTES,
	SEAL_BYTES = SEAL_BODY_OFF + TF_DIGEST_BYTES,
	ENTRY_BYTES = 12,
	FOOTER_BYTES = 9,
	FRAMES_MIN = 3, /* catalog, end of the archive, seal */
};

size_t tf_zframe_header_build(uint32_t raw_bytes, uint8_t out[TF_FRAME_HEADER_BYTES])
{
	/* Flags: single segment (no window field), checksum, width of the content size. */
	tf_put_le32(out, ZSTD_FRAME_MAGIC);
	if (raw_bytes < 65536 + 256) {
		out[4] = 0x64;
		out[5] = (uint8_t)(raw_bytes - 256);
		out[6] = (uint8_t)((raw_bytes - 256) >> 8);
		return 7;
	}
	out[4] = 0xA4;
	tf_put_le32(out + 5, raw_bytes);
	return 9;
}

enum tf_status tf_zframe_table_append(struct tf_zframe_table *table, uint32_t packed_bytes,
	uint32_t raw_bytes, uint32_t checksum, struct tf_error *err)
{
	if (table->count + 1 >= TF_PACKAGE_FRAMES_MAX)
		return TF_FAIL(err, TF_E_LIMIT, "package would have more than %" PRIu64 " frames",
			(uint64_t)TF_PACKAGE_FRAMES_MAX);
	if (table->count == table->capacity) {
		size_t capacity = table->capacity ? 2 * table->capacity : 64;
		void *frames = tf_reallocarray(table->frames, capacity, sizeof(*table->frames));

		if (!frames)
			return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %zu frames", capacity);
		table->frames = frames;
		table->capacity = capacity;
	}
	table->frames[table->count] = (struct tf_zframe){
		.file_off = tf_zframe_table_body_bytes(table),
		.packed_bytes = packed_bytes,
		.raw_bytes = raw_bytes,
		.checksum = checksum,
	};
	table->count++;
	return TF_OK;
}

uint64_t tf_zframe_table_body_bytes(const struct tf_zframe_table *table)
{
	const struct tf_zframe *last;

	if (table->count == 0)
		return 0;
	last = &table->frames[table->count - 1];
	return last->file_off + last->packed_bytes;
}

/* Bytes of a seek table with `count` entries. */
static uint64_t table_bytes(uint64_t count)
{
	return SKIPPABLE_BYTES + count * ENTRY_BYTES + FOOTER_BYTES;
}

static void put_entry(uint8_t *to, uint32_t packed, uint32_t raw, uint32_t checksum)
{
	tf_put_le32(to, packed);
	tf_put_le32(to + 4, raw);
	tf_put_le32(to + 8, checksum);
}

enum tf_status tf_zframe_table_encode(
	const struct tf_zframe_table *table, struct tf_bytes *out, struct tf_error *err)
{
	size_t bytes = (size_t)table_bytes(table->count + 1);
	void *room;
	uint8_t *to;

	TF_TRY(tf_bytes_extend(out, SEAL_BYTES + bytes, &room, err));
	to = room;
	tf_put_le32(to, SEAL_FRAME_MAGIC);
	tf_put_le32(to + 4, SEAL_BYTES - SKIPPABLE_BYTES);
	memcpy(to + SKIPPABLE_BYTES, SEAL_MAGIC, 4);
	tf_put_le32(to + SEAL_VERSION_OFF, TF_PACKAGE_VERSION);
	memcpy(to + SEAL_CATALOG_OFF, table->catalog_sha256, TF_DIGEST_BYTES);
	memcpy(to + SEAL_BODY_OFF, table->body_sha256, TF_DIGEST_BYTES);
	to += SEAL_BYTES;
	tf_put_le32(to, TABLE_MAGIC);
	tf_put_le32(to + 4, (uint32_t)(bytes - SKIPPABLE_BYTES));
	to += SKIPPABLE_BYTES;
	for (size_t i = 0; i < table->count; i++, to += ENTRY_BYTES) {
		const struct tf_zframe *frame = &table->frames[i];

		put_entry(to, frame->packed_bytes, frame->raw_bytes, frame->checksum);
	}
	put_entry(to, SEAL_BYTES, 0, EMPTY_CHECKSUM);
	to += ENTRY_BYTES;
	tf_put_le32(to, (uint32_t)(table->count + 1));
	to[4] = FOOTER_FLAGS;
	tf_put_le32(to + 5, FOOTER_MAGIC);
	return TF_OK;
}

/* Says whether a file without a seek table ever was a package. */
static enum tf_status fail_no_footer(int fd, uint64_t file_bytes, struct tf_error *err)
{
	uint8_t start[4] = {0};

	if (file_bytes >= sizeof(start))
		TF_TRY(tf_read_at(fd, start, sizeof(start), 0, err));
	if (tf_get_le32(start) != ZSTD_FRAME_MAGIC)
		return TF_FAIL(err, TF_E_INVALID,
			"not a package: it neither begins with a zstd frame nor ends with a seek table");
	return TF_FAIL(err, TF_E_DAMAGED,
		"no seek table at its end: it was cut at byte %" PRIu64 ", changed, or is no package",
		file_bytes);
}

/* Reads the footer; gives the number of entries, the seal's included. */
static enum tf_status read_footer(
	int fd, uint64_t file_bytes, uint32_t *out_count, struct tf_error *err)
{
	uint8_t footer[FOOTER_BYTES] = {0};
	uint32_t count;

	if (file_bytes == 0)
		return TF_FAIL(err, TF_E_INVALID, "file is empty");
	if (file_bytes >= SEAL_BYTES + table_bytes(FRAMES_MIN))
		TF_TRY(tf_read_at(fd, footer, sizeof(footer), file_bytes - sizeof(footer), err));
	if (tf_get_le32(footer + 5) != FOOTER_MAGIC)
		return fail_no_footer(fd, file_bytes, err);
	count = tf_get_le32(footer);
	if (footer[4] != FOOTER_FLAGS)
		return TF_FAIL(
			err, TF_E_DAMAGED, "seek table has flags 0x%02x, not 0x%02x", footer[4], FOOTER_FLAGS);
	if (count < FRAMES_MIN || SEAL_BYTES + table_bytes(count) > file_bytes)
		return TF_FAIL(err, TF_E_DAMAGED,
			"seek table of %" PRIu32 " frames does not fit a file of %" PRIu64 " bytes", count,
			file_bytes);
	if (count > TF_PACKAGE_FRAMES_MAX)
		return TF_FAIL(err, TF_E_LIMIT, "seek table has %" PRIu32 " frames, more than %" PRIu64,
			count, (uint64_t)TF_PACKAGE_FRAMES_MAX);
	*out_count = count;
	return TF_OK;
}

/* Fills the frames from `count` entries at `from`, the last of which is the seal's. */
static enum tf_status parse_entries(
	struct tf_zframe_table *table, const uint8_t *from, uint32_t count, struct tf_error *err)
{
	for (uint32_t i = 0; i + 1 < count; i++, from += ENTRY_BYTES) {
		uint32_t packed = tf_get_le32(from);
		uint32_t raw = tf_get_le32(from + 4);

		if (packed < TF_FRAME_PACKED_MIN || packed > TF_FRAME_PACKED_MAX)
			return TF_FAIL(err, TF_E_DAMAGED,
				"seek table: frame %" PRIu32 " has %" PRIu32 " packed bytes, not %d to %" PRIu32, i,
				packed, TF_FRAME_PACKED_MIN, TF_FRAME_PACKED_MAX);
		if (raw == 0 || raw > TF_PACKAGE_FRAME_BYTES || raw % 512 != 0)
			return TF_FAIL(err, TF_E_DAMAGED,
				"seek table: frame %" PRIu32 " has %" PRIu32
				" bytes, not a multiple of 512 up to %" PRIu32,
				i, raw, TF_PACKAGE_FRAME_BYTES);
		TF_TRY(tf_zframe_table_append(table, packed, raw, tf_get_le32(from + 8), err));
	}
	return TF_OK;
}

/* The seal's version is looked at first: what a newer one holds besides is not known. */
static enum tf_status parse_seal(
	struct tf_zframe_table *table, const uint8_t *seal, struct tf_error *err)
{
	uint32_t version = tf_get_le32(seal + SEAL_VERSION_OFF);

	if (tf_get_le32(seal) != SEAL_FRAME_MAGIC || memcmp(seal + SKIPPABLE_BYTES, SEAL_MAGIC, 4) != 0)
		return TF_FAIL(err, TF_E_DAMAGED,
			"no seal before the seek table: it was changed, or is a tar.zst that is no package");
	if (version > TF_PACKAGE_VERSION)
		return TF_FAIL(err, TF_E_VERSION,
			"container version is %" PRIu32 ", this build reads up to %d", version,
			TF_PACKAGE_VERSION);
	memcpy(table->catalog_sha256, seal + SEAL_CATALOG_OFF, TF_DIGEST_BYTES);
	memcpy(table->body_sha256, seal + SEAL_BODY_OFF, TF_DIGEST_BYTES);
	return TF_OK;
}

/* Compares the `size` bytes of a tail with what the table gives. */
static enum tf_status compare_tail(
	const struct tf_zframe_table *table, const uint8_t *tail, size_t size, struct tf_error *err)
{
	struct tf_bytes right = {0};
	enum tf_status status = tf_zframe_table_encode(table, &right, err);
	size_t at = 0;

	if (status == TF_OK) {
		while (at < size && at < right.size && tail[at] == right.data[at])
			at++;
		if (at < size || size != right.size)
			status = TF_FAIL(err, TF_E_DAMAGED,
				"byte %zu of the %zu bytes of seal and seek table is not the right one", at, size);
	}
	tf_bytes_fini(&right);
	return status;
}

enum tf_status tf_zframe_table_compare(
	const struct tf_zframe_table *table, int fd, struct tf_error *err)
{
	size_t size = SEAL_BYTES + (size_t)table_bytes(table->count + 1);
	uint8_t *tail = tf_calloc(size, 1);
	enum tf_status status;

	if (!tail)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a tail of %zu bytes", size);
	status = tf_read_at(fd, tail, size, tf_zframe_table_body_bytes(table), err);
	if (status == TF_OK)
		status = compare_tail(table, tail, size, err);
	tf_free(tail);
	return status;
}

/* `tail` begins with the seal. */
static enum tf_status parse_tail(struct tf_zframe_table *table, const uint8_t *tail, size_t size,
	uint64_t file_bytes, uint32_t count, struct tf_error *err)
{
	uint64_t body;

	TF_TRY(parse_seal(table, tail, err));
	TF_TRY(parse_entries(table, tail + SEAL_BYTES + SKIPPABLE_BYTES, count, err));
	body = tf_zframe_table_body_bytes(table);
	if (body + size != file_bytes)
		return TF_FAIL(err, TF_E_DAMAGED,
			"file has %" PRIu64 " bytes, its seek table tells of %" PRIu64, file_bytes,
			body + size);
	return compare_tail(table, tail, size, err);
}

enum tf_status tf_zframe_table_read(
	int fd, uint64_t file_bytes, struct tf_zframe_table *out, struct tf_error *err)
{
	struct tf_zframe_table table = {0};
	enum tf_status status;
	uint8_t *tail;
	uint32_t count = 0;
	size_t size;

	TF_TRY(read_footer(fd, file_bytes, &count, err));
	size = SEAL_BYTES + (size_t)table_bytes(count);
	tail = tf_calloc(size, 1);
	if (!tail)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a tail of %zu bytes", size);
	status = tf_read_at(fd, tail, size, file_bytes - size, err);
	if (status == TF_OK)
		status = parse_tail(&table, tail, size, file_bytes, count, err);
	tf_free(tail);
	if (status == TF_OK)
		*out = table;
	else
		tf_zframe_table_fini(&table);
	return status;
}

void tf_zframe_table_fini(struct tf_zframe_table *table)
{
	tf_free(table->frames);
	memset(table, 0, sizeof(*table));
}
