/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The members of an open package: names, bytes, digests.
 * 1. Nothing here changes the package: a call keeps its decoder and its memory to itself.
 * 2. A frame that is read is read whole, and header and padding in it are checked.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "base/alloc.h"
#include "packages/package.h"
#include "packages/tar_member.h"

const char *tf_package_path(const struct tf_package *package)
{
	return package->path;
}

uint64_t tf_package_file_bytes(const struct tf_package *package)
{
	return package->file_bytes;
}

size_t tf_package_member_count(const struct tf_package *package)
{
	return package->member_count;
}

const char *tf_package_member_name(const struct tf_package *package, size_t index)
{
	return package->members[index].name;
}

uint64_t tf_package_member_bytes(const struct tf_package *package, size_t index)
{
	return package->members[index].bytes;
}

static int compare_name(const void *name, const void *member)
{
	return strcmp(name, ((const struct tf_package_member *)member)->name);
}

enum tf_status tf_package_find(
	const struct tf_package *package, const char *name, size_t *out_index, struct tf_error *err)
{
	const struct tf_package_member *found = package->members;

	/* The catalog stands outside the order. */
	if (strcmp(name, TF_PACKAGE_CATALOG) != 0)
		found = bsearch(
			name, package->members + 1, package->member_count - 1, sizeof(*found), compare_name);
	if (!found)
		return TF_FAIL(err, TF_E_NOT_FOUND, "'%s' has no member '%s'", package->path, name);
	*out_index = (size_t)(found - package->members);
	return TF_OK;
}

static enum tf_status check_index(
	const struct tf_package *package, size_t index, struct tf_error *err)
{
	if (index >= package->member_count)
		return TF_FAIL(err, TF_E_USAGE, "'%s' has %zu members, no number %zu", package->path,
			package->member_count, index);
	return TF_OK;
}

static enum tf_status fail_memory(
	const struct tf_package *package, const struct tf_package_member *member, struct tf_error *err)
{
	return TF_FAIL(
		err, TF_E_NO_MEMORY, "no memory for member '%s' of '%s'", member->name, package->path);
}

/* The frames with the bytes [off, off + bytes) of the data; frame 0 for no bytes. */
static void frames_of(const struct tf_package_member *member, uint64_t off, uint64_t bytes,
	size_t *out_first, size_t *out_last)
{
	uint64_t begin = tf_tar_header_bytes(member->bytes) + off;

	*out_first = bytes ? (size_t)(begin / TF_PACKAGE_FRAME_BYTES) : 0;
	*out_last = bytes ? (size_t)((begin + bytes - 1) / TF_PACKAGE_FRAME_BYTES) : 0;
}

/* A frame that is wanted whole goes straight to its place, others by way of `room`. */
static enum tf_status read_frames(const struct tf_package *package, struct tf_zframe_reader *reader,
	const struct tf_package_member *member, uint64_t off, uint8_t *to, uint64_t bytes,
	uint8_t *room, struct tf_error *err)
{
	size_t first, last;

	frames_of(member, off, bytes, &first, &last);
	for (size_t k = first; k <= last; k++) {
		struct tf_zframe_span span = tf_package_frame_span(member, k, off, bytes);
		int whole = span.bytes == package->table.frames[member->first_frame + k].raw_bytes;

		TF_TRY(tf_package_read_frame(package, reader, member, k, whole ? to : room, err));
		if (!whole && span.bytes)
			memcpy(to, room + span.from, span.bytes);
		if (span.bytes)
			to += span.bytes;
	}
	return TF_OK;
}

enum tf_status tf_package_read_range(const struct tf_package *package, size_t index, uint64_t off,
	void *to, uint64_t bytes, struct tf_error *err)
{
	struct tf_zframe_reader reader = {0};
	const struct tf_package_member *member;
	enum tf_status status;
	uint8_t *room;

	TF_TRY(check_index(package, index, err));
	member = &package->members[index];
	if (off > member->bytes || bytes > member->bytes - off)
		return TF_FAIL(err, TF_E_USAGE,
			"member '%s' of '%s' has %" PRIu64 " bytes, no %" PRIu64 " at %" PRIu64, member->name,
			package->path, member->bytes, bytes, off);
	room = tf_package_frame_room(member);
	if (!room)
		return fail_memory(package, member, err);
	status = read_frames(package, &reader, member, off, to, bytes, room, err);
	tf_zframe_reader_fini(&reader);
	tf_free(room);
	return status;
}

enum tf_status tf_package_read_member(
	const struct tf_package *package, size_t index, struct tf_bytes *out, struct tf_error *err)
{
	enum tf_status status;
	uint64_t bytes;
	uint8_t *data;

	TF_TRY(check_index(package, index, err));
	bytes = package->members[index].bytes;
	data = tf_calloc(bytes, 1);
	if (!data)
		return fail_memory(package, &package->members[index], err);
	status = tf_package_read_range(package, index, 0, data, bytes, err);
	if (status != TF_OK) {
		tf_free(data);
		return status;
	}
	*out = (struct tf_bytes){.data = data, .size = bytes, .capacity = bytes};
	return TF_OK;
}

enum tf_status tf_package_read_catalog(
	const struct tf_package *package, struct tf_bytes *out, struct tf_error *err)
{
	struct tf_bytes bytes = {0};
	enum tf_status status;

	TF_TRY(tf_package_read_member(package, 0, &bytes, err));
	status = tf_package_check_bytes(
		package, 0, bytes.data, bytes.size, package->table.catalog_sha256, err);
	if (status == TF_OK)
		*out = bytes;
	else
		tf_bytes_fini(&bytes);
	return status;
}

static enum tf_status hash_frames(const struct tf_package *package, struct tf_zframe_reader *reader,
	const struct tf_package_member *member, uint8_t *room, uint8_t *out, struct tf_error *err)
{
	crypto_hash_sha256_state sha;

	crypto_hash_sha256_init(&sha);
	for (size_t k = 0; k < member->frame_count; k++) {
		struct tf_zframe_span span = tf_package_frame_span(member, k, 0, member->bytes);

		TF_TRY(tf_package_read_frame(package, reader, member, k, room, err));
		crypto_hash_sha256_update(&sha, room + span.from, span.bytes);
	}
	crypto_hash_sha256_final(&sha, out);
	return TF_OK;
}

enum tf_status tf_package_member_sha256(const struct tf_package *package, size_t index,
	uint8_t out[TF_DIGEST_BYTES], struct tf_error *err)
{
	struct tf_zframe_reader reader = {0};
	const struct tf_package_member *member;
	enum tf_status status;
	uint8_t *room;

	TF_TRY(check_index(package, index, err));
	member = &package->members[index];
	room = tf_package_frame_room(member);
	if (!room)
		return fail_memory(package, member, err);
	status = hash_frames(package, &reader, member, room, out, err);
	tf_zframe_reader_fini(&reader);
	tf_free(room);
	return status;
}

static enum tf_status compare_digest(const struct tf_package *package, size_t index,
	const uint8_t *found, const uint8_t *right, struct tf_error *err)
{
	char found_hex[TF_DIGEST_HEX_BYTES], right_hex[TF_DIGEST_HEX_BYTES];

	if (memcmp(found, right, TF_DIGEST_BYTES) == 0)
		return TF_OK;
	tf_hex(found, TF_DIGEST_BYTES, found_hex);
	tf_hex(right, TF_DIGEST_BYTES, right_hex);
	return TF_FAIL(err, TF_E_DAMAGED, "'%s': member '%s' has SHA-256 %s, not %s", package->path,
		package->members[index].name, found_hex, right_hex);
}

enum tf_status tf_package_check_member(const struct tf_package *package, size_t index,
	const uint8_t sha256[TF_DIGEST_BYTES], struct tf_error *err)
{
	uint8_t found[TF_DIGEST_BYTES];

	TF_TRY(tf_package_member_sha256(package, index, found, err));
	return compare_digest(package, index, found, sha256, err);
}

enum tf_status tf_package_check_bytes(const struct tf_package *package, size_t index,
	const void *data, size_t bytes, const uint8_t sha256[TF_DIGEST_BYTES], struct tf_error *err)
{
	uint8_t found[TF_DIGEST_BYTES];

	TF_TRY(check_index(package, index, err));
	crypto_hash_sha256(found, data, bytes);
	return compare_digest(package, index, found, sha256, err);
}
