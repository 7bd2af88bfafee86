/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a whole package.
 * 1. Verification covers each byte of the file once: all frames by the seal's digest, the tail by
 *    building it again. The checks frame by frame come first, so that a message names the member.
 * 2. The digest alone would not do: it says that the file is as it was written, not that it was
 *    right.
 */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include <sodium.h>

#include "base/alloc.h"
#include "packages/package.h"
#include "packages/read_at.h"
#include "packages/tar_member.h"

#define DIGEST_CHUNK_BYTES ((size_t)1 << 20)

/* What one pass over the frames collects. */
struct pass {
	struct tf_zframe_reader reader;
	crypto_hash_sha256_state body;
	crypto_hash_sha256_state catalog;
};

static enum tf_status pass_member(const struct tf_package *package, struct pass *pass,
	const struct tf_package_member *member, uint8_t *room, struct tf_error *err)
{
	const struct tf_zframe *frames = &package->table.frames[member->first_frame];

	for (size_t k = 0; k < member->frame_count; k++) {
		struct tf_zframe_span span = tf_package_frame_span(member, k, 0, member->bytes);

		TF_TRY(tf_package_read_frame(package, &pass->reader, member, k, room, err));
		crypto_hash_sha256_update(&pass->body, pass->reader.packed, frames[k].packed_bytes);
		if (member == package->members)
			crypto_hash_sha256_update(&pass->catalog, room + span.from, span.bytes);
	}
	return TF_OK;
}

static enum tf_status pass_members(
	const struct tf_package *package, struct pass *pass, struct tf_error *err)
{
	for (size_t i = 0; i < package->member_count; i++) {
		const struct tf_package_member *member = &package->members[i];
		uint8_t *room = tf_package_frame_room(member);
		enum tf_status status;

		if (!room)
			return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for member '%s' of '%s'", member->name,
				package->path);
		status = pass_member(package, pass, member, room, err);
		tf_free(room);
		if (status != TF_OK)
			return status;
	}
	return TF_OK;
}

static enum tf_status pass_end(
	const struct tf_package *package, struct pass *pass, struct tf_error *err)
{
	const struct tf_zframe *frame = &package->table.frames[package->table.count - 1];
	uint8_t raw[TF_TAR_END_BYTES];

	TF_TRY(tf_zframe_reader_read(&pass->reader, package->fd, frame, raw, err));
	crypto_hash_sha256_update(&pass->body, pass->reader.packed, frame->packed_bytes);
	if (!sodium_is_zero(raw, sizeof(raw)))
		return TF_FAIL(err, TF_E_DAMAGED, "the blocks that end the archive are not zero");
	return TF_OK;
}

static enum tf_status compare_seal(
	crypto_hash_sha256_state *sha, const uint8_t *right, const char *what, struct tf_error *err)
{
	char found_hex[TF_DIGEST_HEX_BYTES], right_hex[TF_DIGEST_HEX_BYTES];
	uint8_t found[TF_DIGEST_BYTES];

	crypto_hash_sha256_final(sha, found);
	if (memcmp(found, right, TF_DIGEST_BYTES) == 0)
		return TF_OK;
	tf_hex(found, TF_DIGEST_BYTES, found_hex);
	tf_hex(right, TF_DIGEST_BYTES, right_hex);
	return TF_FAIL(
		err, TF_E_DAMAGED, "%s has SHA-256 %s, the seal says %s", what, found_hex, right_hex);
}

/* The tail as it is in the file now, and nothing behind it. */
static enum tf_status check_tail(const struct tf_package *package, struct tf_error *err)
{
	struct stat file;

	if (fstat(package->fd, &file) != 0)
		return TF_FAIL_ERRNO(err, "cannot tell its size");
	if ((uint64_t)file.st_size != package->file_bytes)
		return TF_FAIL(err, TF_E_DAMAGED,
			"file has %" PRIu64 " bytes, it had %" PRIu64 " when it was opened",
			(uint64_t)file.st_size, package->file_bytes);
	return tf_zframe_table_compare(&package->table, package->fd, err);
}

static enum tf_status check_end(
	const struct tf_package *package, struct pass *pass, struct tf_error *err)
{
	const struct tf_zframe_table *table = &package->table;

	TF_TRY(pass_end(package, pass, err));
	TF_TRY(compare_seal(&pass->catalog, table->catalog_sha256, "the catalog", err));
	TF_TRY(compare_seal(&pass->body, table->body_sha256, "what lies before the seal", err));
	return check_tail(package, err);
}

enum tf_status tf_package_verify(const struct tf_package *package, struct tf_error *err)
{
	struct pass pass = {0};
	enum tf_status status;

	crypto_hash_sha256_init(&pass.body);
	crypto_hash_sha256_init(&pass.catalog);
	status = pass_members(package, &pass, err);
	if (status == TF_OK) {
		status = check_end(package, &pass, err);
		if (status != TF_OK)
			tf_error_prefix(err, "'%s'", package->path);
	}
	tf_zframe_reader_fini(&pass.reader);
	return status;
}

/* Hashes [from, to) of the file into a state that may hold what came before. */
static enum tf_status hash_range(const struct tf_package *package, uint64_t from, uint64_t to,
	uint8_t *chunk, crypto_hash_sha256_state *sha, struct tf_error *err)
{
	for (uint64_t off = from; off < to;) {
		uint64_t left = to - off;
		size_t bytes = left < DIGEST_CHUNK_BYTES ? (size_t)left : DIGEST_CHUNK_BYTES;

		TF_TRY(tf_read_at(package->fd, chunk, bytes, off, err));
		crypto_hash_sha256_update(sha, chunk, bytes);
		off += bytes;
	}
	return TF_OK;
}

/* The file's digest; with `prove` also, in the same pass, whether the body is as the seal says. */
static enum tf_status digest_file(
	const struct tf_package *package, int prove, uint8_t out[TF_DIGEST_BYTES], struct tf_error *err)
{
	uint64_t body_bytes = tf_zframe_table_body_bytes(&package->table);
	uint8_t *chunk = tf_calloc(DIGEST_CHUNK_BYTES, 1);
	crypto_hash_sha256_state sha, body;
	enum tf_status status;

	if (!chunk)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory to read '%s'", package->path);
	crypto_hash_sha256_init(&sha);
	status = hash_range(package, 0, body_bytes, chunk, &sha, err);
	if (status == TF_OK && prove) {
		body = sha;
		status = compare_seal(&body, package->table.body_sha256, "what lies before the seal", err);
	}
	if (status == TF_OK)
		status = hash_range(package, body_bytes, package->file_bytes, chunk, &sha, err);
	if (status == TF_OK)
		crypto_hash_sha256_final(&sha, out);
	else
		tf_error_prefix(err, "'%s'", package->path);
	tf_free(chunk);
	return status;
}

enum tf_status tf_package_digest(
	const struct tf_package *package, uint8_t out[TF_DIGEST_BYTES], struct tf_error *err)
{
	return digest_file(package, 0, out, err);
}

enum tf_status tf_package_prove_body(
	const struct tf_package *package, uint8_t out[TF_DIGEST_BYTES], struct tf_error *err)
{
	return digest_file(package, 1, out, err);
}
