/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members through libarchive into frames.
 *
 *   OPEN --seal--> SEALED --publish--> PUBLISHED      any --failed write--> BROKEN
 *
 * 1. libarchive writes the tar bytes; each member's header is compared with the one that readers
 *    demand.
 * 2. What is refused as TF_E_USAGE or TF_E_LIMIT is refused before a byte of it is written.
 * 3. BROKEN keeps its first failure: a later call gives that one again.
 */
#include "packages/container_write.h"

#include <inttypes.h>
#include <string.h>

#include <archive.h>
#include <archive_entry.h>

#include "base/alloc.h"
#include "packages/frame_write.h"
#include "packages/tar_member.h"

enum state { OPEN = 0, SEALED, PUBLISHED, BROKEN };

static const char *const state_names[] = {"open", "sealed", "published", "broken"};

struct tf_package_writer {
	enum state state;
	struct tf_temporary file;
	struct tf_zframe_writer frames;
	struct archive *archive;
	struct archive_entry *entry;
	struct tf_error failure; /* of the callback at first, then of the writer */
	char last_name[TF_PACKAGE_NAME_MAX + 1];
	size_t member_count;
	uint64_t range_bytes; /* of all members */
	int closing;          /* libarchive's output is wanted no more */
};

/* Runs a libarchive call; on failure gives the callback's own error if there is one. */
#define TRY_ARCHIVE(writer, err, call) TF_TRY(archive_status((writer), (call), #call, (err)))

static enum tf_status archive_status(
	struct tf_package_writer *writer, la_ssize_t result, const char *call, struct tf_error *err)
{
	if (result >= ARCHIVE_OK)
		return TF_OK;
	if (writer->failure.status != TF_OK) {
		if (err)
			*err = writer->failure;
		return writer->failure.status;
	}
	return tf_error_set(err, TF_E_SYSTEM, "archive", archive_errno(writer->archive), __FILE__,
		__LINE__, "%s: %s", call, archive_error_string(writer->archive));
}

/* libarchive's output. */
static la_ssize_t on_bytes(struct archive *archive, void *user, const void *data, size_t bytes)
{
	struct tf_package_writer *writer = user;

	if (writer->closing)
		return ARCHIVE_FATAL;
	if (tf_zframe_writer_push(&writer->frames, data, bytes, &writer->failure) == TF_OK)
		return (la_ssize_t)bytes;
	archive_set_error(archive, writer->failure.native, "%s", writer->failure.text);
	return ARCHIVE_FATAL;
}

static enum tf_status start_archive(struct tf_package_writer *writer, struct tf_error *err)
{
	writer->archive = archive_write_new();
	writer->entry = archive_entry_new();
	if (!writer->archive || !writer->entry)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for libarchive");
	TRY_ARCHIVE(writer, err, archive_write_set_format_pax_restricted(writer->archive));
	TRY_ARCHIVE(writer, err, archive_write_add_filter_none(writer->archive));
	/* No blocking: every byte comes to on_bytes at once, and nothing is padded. */
	TRY_ARCHIVE(writer, err, archive_write_set_bytes_per_block(writer->archive, 0));
	TRY_ARCHIVE(writer, err, archive_write_set_bytes_in_last_block(writer->archive, 1));
	TRY_ARCHIVE(writer, err, archive_write_open(writer->archive, writer, NULL, on_bytes, NULL));
	return TF_OK;
}

enum tf_status tf_package_writer_create(
	const char *path, struct tf_package_writer **out, struct tf_error *err)
{
	struct tf_package_writer *writer = tf_calloc(1, sizeof(*writer));
	enum tf_status status;

	if (!writer)
		return TF_FAIL(err, TF_E_NO_MEMORY, "cannot write '%s': no memory", path);
	writer->file = TF_TEMPORARY_NONE;
	if (sodium_init() < 0) {
		status = TF_FAIL(err, TF_E_SYSTEM, "libsodium cannot be initialised");
		goto fail;
	}
	status = tf_temporary_open(path, &writer->file, err);
	if (status != TF_OK)
		goto fail;
	status = tf_zframe_writer_init(&writer->frames, &writer->file, err);
	if (status == TF_OK)
		status = start_archive(writer, err);
	if (status != TF_OK) {
		tf_error_prefix(err, "cannot write '%s'", path);
		goto fail;
	}
	*out = writer;
	return TF_OK;
fail:
	tf_package_writer_destroy(writer);
	return status;
}

/* Whether a call may go on; `wanted` is the state that it needs. */
static enum tf_status check_state(const struct tf_package_writer *writer, enum state wanted,
	const char *verb, struct tf_error *err)
{
	if (writer->state == wanted)
		return TF_OK;
	if (writer->state == BROKEN) {
		if (err)
			*err = writer->failure;
		return writer->failure.status;
	}
	return TF_FAIL(err, TF_E_USAGE, "cannot %s '%s': it is %s, not %s", verb, writer->file.target,
		state_names[writer->state], state_names[wanted]);
}

/* Keeps the first failure. Returns `status`. */
static enum tf_status settle(struct tf_package_writer *writer, enum tf_status status,
	const struct tf_error *failure, struct tf_error *err)
{
	if (status == TF_OK)
		return TF_OK;
	writer->state = BROKEN;
	writer->failure = *failure;
	if (err)
		*err = *failure;
	return status;
}

static enum tf_status check_name(
	const struct tf_package_writer *writer, const char *name, struct tf_error *err)
{
	int is_catalog = strcmp(name, TF_PACKAGE_CATALOG) == 0;

	if (!tf_tar_name_is_valid(name))
		return TF_FAIL(err, TF_E_USAGE,
			"member name '%s' is not up to %d bytes of [A-Za-z0-9._+-] in parts joined by '/'",
			name, TF_PACKAGE_NAME_MAX);
	if (writer->member_count == 0 && !is_catalog)
		return TF_FAIL(err, TF_E_USAGE, "first member is '%s', not '" TF_PACKAGE_CATALOG "'", name);
	if (writer->member_count > 0 && (is_catalog || strcmp(name, writer->last_name) == 0))
		return TF_FAIL(err, TF_E_USAGE, "member '%s' is added twice", name);
	if (writer->member_count > 1 && strcmp(name, writer->last_name) < 0)
		return TF_FAIL(err, TF_E_USAGE, "member '%s' follows '%s': members must come sorted", name,
			writer->last_name);
	return TF_OK;
}

static enum tf_status check_limits(
	const struct tf_package_writer *writer, const char *name, uint64_t bytes, struct tf_error *err)
{
	uint64_t most =
		writer->member_count ? TF_PACKAGE_MEMBER_BYTES_MAX : TF_PACKAGE_CATALOG_BYTES_MAX;

	if (writer->member_count == TF_PACKAGE_MEMBERS_MAX)
		return TF_FAIL(
			err, TF_E_LIMIT, "member '%s' would be one more than %d", name, TF_PACKAGE_MEMBERS_MAX);
	if (bytes > most)
		return TF_FAIL(err, TF_E_LIMIT, "member '%s' has %" PRIu64 " bytes, more than %" PRIu64,
			name, bytes, most);
	if (tf_tar_range_bytes(bytes) > TF_PACKAGE_TOTAL_BYTES_MAX - writer->range_bytes)
		return TF_FAIL(err, TF_E_LIMIT,
			"with member '%s' of %" PRIu64 " bytes the package passes %" PRIu64, name, bytes,
			TF_PACKAGE_TOTAL_BYTES_MAX);
	return TF_OK;
}

static void fill_entry(struct archive_entry *entry, const char *name, uint64_t bytes)
{
	archive_entry_clear(entry);
	archive_entry_set_pathname(entry, name);
	archive_entry_set_size(entry, (la_int64_t)bytes);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_mtime(entry, 0, 0);
}

static enum tf_status write_member(struct tf_package_writer *writer, const char *name,
	const uint8_t *data, uint64_t bytes, struct tf_error *err)
{
	uint8_t header[TF_TAR_HEADER_BYTES];
	size_t header_bytes = tf_tar_header_build(name, bytes, header);

	tf_zframe_writer_begin(&writer->frames, tf_tar_range_bytes(bytes), header_bytes);
	fill_entry(writer->entry, name, bytes);
	TRY_ARCHIVE(writer, err, archive_write_header(writer->archive, writer->entry));
	/* The first frame is still in its buffer: a header alone does not pass its end. */
	if (memcmp(writer->frames.raw, header, header_bytes) != 0)
		return TF_FAIL(err, TF_E_INTERNAL, "%s writes another tar header than this format's",
			archive_version_string());
	if (bytes > 0)
		TRY_ARCHIVE(writer, err, archive_write_data(writer->archive, data, bytes));
	TRY_ARCHIVE(writer, err, archive_write_finish_entry(writer->archive));
	if (writer->frames.range_left != 0)
		return TF_FAIL(err, TF_E_INTERNAL, "%s left %" PRIu64 " bytes unwritten",
			archive_version_string(), writer->frames.range_left);
	return TF_OK;
}

enum tf_status tf_package_writer_try(const char *path, struct tf_error *err)
{
	return tf_temporary_try(path, err);
}

enum tf_status tf_package_writer_add(struct tf_package_writer *writer, const char *name,
	const void *data, uint64_t bytes, struct tf_error *err)
{
	struct tf_error failure = {0};
	enum tf_status status;

	TF_TRY(check_state(writer, OPEN, "add to", err));
	status = check_name(writer, name, err);
	if (status == TF_OK)
		status = check_limits(writer, name, bytes, err);
	if (status != TF_OK) {
		tf_error_prefix(err, "cannot write '%s'", writer->file.target);
		return status;
	}
	if (writer->member_count == 0)
		crypto_hash_sha256(writer->frames.table.catalog_sha256, data, bytes);
	status = write_member(writer, name, data, bytes, &failure);
	if (status != TF_OK) {
		tf_error_prefix(&failure, "member '%s'", name);
		return settle(writer, status, &failure, err);
	}
	memcpy(writer->last_name, name, strlen(name) + 1);
	writer->member_count++;
	writer->range_bytes += tf_tar_range_bytes(bytes);
	return TF_OK;
}

const char *tf_package_writer_path(const struct tf_package_writer *writer)
{
	return writer->file.path;
}

static enum tf_status write_end(struct tf_package_writer *writer, struct tf_error *err)
{
	tf_zframe_writer_begin(&writer->frames, TF_TAR_END_BYTES, 0);
	TRY_ARCHIVE(writer, err, archive_write_close(writer->archive));
	if (writer->frames.range_left != 0)
		return TF_FAIL(err, TF_E_INTERNAL, "%s ends an archive with other than %d bytes",
			archive_version_string(), TF_TAR_END_BYTES);
	TF_TRY(tf_zframe_writer_finish(&writer->frames, err));
	return tf_temporary_sync(&writer->file, err);
}

enum tf_status tf_package_writer_seal(struct tf_package_writer *writer, struct tf_error *err)
{
	struct tf_error failure = {0};

	TF_TRY(check_state(writer, OPEN, "seal", err));
	if (writer->member_count == 0)
		return TF_FAIL(err, TF_E_USAGE, "cannot seal '%s': it has no '" TF_PACKAGE_CATALOG "'",
			writer->file.target);
	TF_TRY(settle(writer, write_end(writer, &failure), &failure, err));
	writer->state = SEALED;
	return TF_OK;
}

enum tf_status tf_package_writer_publish(struct tf_package_writer *writer, uint64_t *out_bytes,
	uint8_t *out_digest, struct tf_error *err)
{
	struct tf_error failure = {0};
	crypto_hash_sha256_state sha = writer->frames.sha;

	TF_TRY(check_state(writer, SEALED, "publish", err));
	TF_TRY(settle(writer, tf_temporary_rename(&writer->file, &failure), &failure, err));
	writer->state = PUBLISHED;
	if (out_bytes)
		*out_bytes = writer->frames.file_bytes;
	if (out_digest)
		crypto_hash_sha256_final(&sha, out_digest);
	return TF_OK;
}

void tf_package_writer_destroy(struct tf_package_writer *writer)
{
	if (!writer)
		return;
	writer->closing = 1;
	if (writer->archive) {
		/* Frees what libarchive keeps of an open archive, which free after a failure does not. */
		archive_write_close(writer->archive);
		archive_write_free(writer->archive);
	}
	archive_entry_free(writer->entry);
	tf_zframe_writer_fini(&writer->frames);
	tf_temporary_close(&writer->file);
	tf_free(writer);
}
