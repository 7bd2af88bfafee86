/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening a package and reading members.
 * 1. Opening reads the tail and the first bytes of each member's first frame.
 * 2. Once open, the frames of the members are known to follow each other without a gap, each of the
 *    size that its member's size demands, and the names to be valid, sorted and distinct.
 * 3. Every message begins with the package's path.
 */
#include "packages/container_read.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "base/alloc.h"
#include "packages/package.h"
#include "packages/tar_member.h"

/* The end of the archive is the last frame of the table. */
static size_t member_frames(const struct tf_package *package)
{
	return package->table.count - 1;
}

/* Whether a member may follow those that are there. */
static enum tf_status check_next(
	const struct tf_package *package, const struct tf_package_member *member, struct tf_error *err)
{
	const struct tf_package_member *last = package->members + package->member_count;

	if (package->member_count == 0) {
		if (strcmp(member->name, TF_PACKAGE_CATALOG) != 0)
			return TF_FAIL(err, TF_E_INVALID, "first member is '%s', not '" TF_PACKAGE_CATALOG "'",
				member->name);
		if (member->bytes > TF_PACKAGE_CATALOG_BYTES_MAX)
			return TF_FAIL(err, TF_E_LIMIT,
				"'" TF_PACKAGE_CATALOG "' has %" PRIu64 " bytes, at most %" PRIu64 " are allowed",
				member->bytes, TF_PACKAGE_CATALOG_BYTES_MAX);
		return TF_OK;
	}
	last--;
	if (strcmp(member->name, TF_PACKAGE_CATALOG) == 0 || strcmp(member->name, last->name) == 0)
		return TF_FAIL(err, TF_E_INVALID, "member '%s' is there twice", member->name);
	if (package->member_count > 1 && strcmp(member->name, last->name) < 0)
		return TF_FAIL(
			err, TF_E_INVALID, "member '%s' follows '%s': not sorted", member->name, last->name);
	return TF_OK;
}

/* Claims the frames that a member's size demands; their sizes must be the demanded ones. */
static enum tf_status claim_frames(
	const struct tf_package *package, struct tf_package_member *member, struct tf_error *err)
{
	uint64_t left = tf_tar_range_bytes(member->bytes);
	size_t frame = member->first_frame;

	for (; left > 0; frame++) {
		uint64_t wanted = left < TF_PACKAGE_FRAME_BYTES ? left : TF_PACKAGE_FRAME_BYTES;

		if (frame == member_frames(package))
			return TF_FAIL(err, TF_E_DAMAGED,
				"member '%s' of %" PRIu64 " bytes lacks %" PRIu64 " bytes", member->name,
				member->bytes, left);
		if (package->table.frames[frame].raw_bytes != wanted)
			return TF_FAIL(err, TF_E_DAMAGED,
				"member '%s': frame %zu has %" PRIu32 " bytes, not %" PRIu64, member->name, frame,
				package->table.frames[frame].raw_bytes, wanted);
		left -= wanted;
	}
	member->frame_count = frame - member->first_frame;
	return TF_OK;
}

static enum tf_status read_header(const struct tf_package *package, struct tf_zframe_reader *reader,
	struct tf_package_member *member, struct tf_error *err)
{
	const struct tf_zframe *frame = &package->table.frames[member->first_frame];
	uint8_t header[TF_TAR_HEADER_BYTES];
	size_t wanted;

	TF_TRY(tf_zframe_reader_head(reader, package->fd, frame, header, TF_TAR_BLOCK_BYTES, err));
	wanted = tf_tar_header_wanted(header);
	if (wanted > TF_TAR_BLOCK_BYTES)
		TF_TRY(tf_zframe_reader_head(reader, package->fd, frame, header, wanted, err));
	return tf_tar_header_parse(header, member->name, &member->bytes, err);
}

static enum tf_status read_member_list(
	struct tf_package *package, struct tf_zframe_reader *reader, struct tf_error *err)
{
	size_t capacity = member_frames(package);
	size_t frame = 0;

	if (capacity > TF_PACKAGE_MEMBERS_MAX)
		capacity = TF_PACKAGE_MEMBERS_MAX;
	package->members = tf_calloc(capacity, sizeof(*package->members));
	if (!package->members)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %zu members", capacity);
	while (frame < member_frames(package)) {
		struct tf_package_member member = {.first_frame = frame};
		enum tf_status status = read_header(package, reader, &member, err);

		if (status != TF_OK) {
			tf_error_prefix(
				err, "frame %zu at byte %" PRIu64, frame, package->table.frames[frame].file_off);
			return status;
		}
		if (package->member_count == TF_PACKAGE_MEMBERS_MAX)
			return TF_FAIL(err, TF_E_LIMIT, "more than %d members", TF_PACKAGE_MEMBERS_MAX);
		TF_TRY(check_next(package, &member, err));
		TF_TRY(claim_frames(package, &member, err));
		frame += member.frame_count;
		package->members[package->member_count++] = member;
	}
	if (package->table.frames[frame].raw_bytes != TF_TAR_END_BYTES)
		return TF_FAIL(err, TF_E_DAMAGED,
			"last frame has %" PRIu32 " bytes, not the %d that end "
			"an archive",
			package->table.frames[frame].raw_bytes, TF_TAR_END_BYTES);
	return TF_OK;
}

/* `package` has its descriptor and path. */
static enum tf_status load(struct tf_package *package, struct tf_error *err)
{
	struct tf_zframe_reader reader = {0};
	enum tf_status status;
	struct stat file;

	if (sodium_init() < 0)
		return TF_FAIL(err, TF_E_SYSTEM, "libsodium cannot be initialised");
	if (fstat(package->fd, &file) != 0)
		return TF_FAIL_ERRNO(err, "cannot tell its size");
	if (!S_ISREG(file.st_mode))
		return TF_FAIL(err, TF_E_INVALID, "it is %s, not a regular file",
			S_ISDIR(file.st_mode) ? "a folder" : "a special file");
	package->file_bytes = (uint64_t)file.st_size;
	TF_TRY(tf_zframe_table_read(package->fd, package->file_bytes, &package->table, err));
	status = read_member_list(package, &reader, err);
	tf_zframe_reader_fini(&reader);
	return status;
}

/* Takes `fd`, also on failure. */
static enum tf_status open_taken(
	int fd, const char *path, struct tf_package **out, struct tf_error *err)
{
	struct tf_package *package = tf_calloc(1, sizeof(*package));
	enum tf_status status = TF_E_NO_MEMORY;

	if (!package) {
		close(fd);
		return TF_FAIL(err, status, "cannot open '%s': no memory", path);
	}
	package->fd = fd;
	package->path = tf_strdup(path);
	if (!package->path) {
		TF_FAIL(err, status, "no memory");
		goto fail;
	}
	status = load(package, err);
	if (status != TF_OK)
		goto fail;
	*out = package;
	return TF_OK;
fail:
	tf_error_prefix(err, "cannot open '%s'", path);
	tf_package_close(package);
	return status;
}

enum tf_status tf_package_open(const char *path, struct tf_package **out, struct tf_error *err)
{
	/* Not blocking: a FIFO must be refused, not waited for. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return TF_FAIL(err, TF_E_NOT_FOUND, "cannot open '%s': %s", path, strerror(errno));
	if (fd < 0)
		return TF_FAIL_ERRNO(err, "cannot open '%s'", path);
	return open_taken(fd, path, out, err);
}

enum tf_status tf_package_open_fd(
	int fd, const char *name, struct tf_package **out, struct tf_error *err)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (own < 0)
		return TF_FAIL_ERRNO(err, "cannot open '%s'", name);
	return open_taken(own, name, out, err);
}

void tf_package_close(struct tf_package *package)
{
	if (!package)
		return;
	close(package->fd);
	tf_free(package->path);
	tf_zframe_table_fini(&package->table);
	tf_free(package->members);
	tf_free(package);
}
