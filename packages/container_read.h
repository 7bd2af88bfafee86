/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a package (docs/FORMAT.md): a sorted tar stream in zstd frames with a seek table at its
 * end.
 *
 * Opening reads the seek table and the tar header of every member, and nothing else. A member is
 * read by decompressing its own frames only. An open package never changes: every function that
 * takes a `const struct tf_package *` may be called from several threads at once. The file is read
 * with pread and never mapped, so a file cut while it is read gives TF_E_DAMAGED and no signal.
 *
 * What protects what: the tar headers and the seek table must be exactly the bytes that the format
 * derives from names and sizes; each frame carries a checksum that the seek table repeats; the seal
 * holds the SHA-256 of the catalog (checked by tf_package_read_catalog) and of all frames (checked
 * by tf_package_verify); the catalog holds the SHA-256 of every other member
 * (tf_package_check_bytes).
 */
#ifndef TF_PACKAGES_CONTAINER_READ_H
#define TF_PACKAGES_CONTAINER_READ_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_PACKAGE_VERSION 1                /* of the container; the catalog has its own */
#define TF_PACKAGE_CATALOG "catalog.sqlite" /* always member 0 */

/*
 * A member's range is cut into frames of this many bytes: the window every zstd decoder must offer.
 */
#define TF_PACKAGE_FRAME_BYTES (UINT32_C(8) << 20)

/* With "PaxHeader/" put before its last part: longer ones are cut by libarchive, at 97 bytes. */
#define TF_PACKAGE_NAME_MAX 87

/* Eight ranks with two thousand constants each; opening looks at every header. */
#define TF_PACKAGE_MEMBERS_MAX 16384

/* The 12 octal digits of a tar size field, without an end. */
#define TF_PACKAGE_MEMBER_BYTES_MAX ((UINT64_C(64) << 30) - 1)

/* Member 0 is read whole before a word of it is checked: as large as a catalog may be. */
#define TF_PACKAGE_CATALOG_BYTES_MAX (UINT64_C(1) << 30)

/* All members with their headers: above any machine's GPU memory, and it bounds the seek table. */
#define TF_PACKAGE_TOTAL_BYTES_MAX (UINT64_C(1) << 40)

/* Whole frames, a partial one a member, the end of the archive, the seal. */
#define TF_PACKAGE_FRAMES_MAX                                                                      \
	(TF_PACKAGE_TOTAL_BYTES_MAX / TF_PACKAGE_FRAME_BYTES + TF_PACKAGE_MEMBERS_MAX + 2)

struct tf_package;

/*
 * Opens the package at `path` (copied). *out is closed with tf_package_close.
 * TF_E_NOT_FOUND: no such file. TF_E_INVALID: not a regular file, empty, or never was a package.
 * TF_E_DAMAGED: a package that was cut or changed. TF_E_VERSION: a newer container. TF_E_LIMIT:
 * more members or bytes than this build reads. TF_E_NO_MEMORY, TF_E_SYSTEM (permission, I/O).
 */
TF_WARN_UNUSED enum tf_status tf_package_open(
	const char *path, struct tf_package **out, struct tf_error *err);

/*
 * As above for an open file. `fd` is borrowed (duplicated, its offset unused); `name` is for
 * messages.
 */
TF_WARN_UNUSED enum tf_status tf_package_open_fd(
	int fd, const char *name, struct tf_package **out, struct tf_error *err);

/* Takes NULL. No other call on the package may be running. */
void tf_package_close(struct tf_package *package);

/* The path or name it was opened by, borrowed. */
const char *tf_package_path(const struct tf_package *package);
uint64_t tf_package_file_bytes(const struct tf_package *package);

/* Members 0 .. count-1: the catalog, then the others in the order of their names' bytes. */
size_t tf_package_member_count(const struct tf_package *package);

/* `index` must be below the count. The name is borrowed from the package. */
const char *tf_package_member_name(const struct tf_package *package, size_t index);
uint64_t tf_package_member_bytes(const struct tf_package *package, size_t index);

/* TF_E_NOT_FOUND names the member. O(log members). */
TF_WARN_UNUSED enum tf_status tf_package_find(
	const struct tf_package *package, const char *name, size_t *out_index, struct tf_error *err);

/*
 * Reads `bytes` bytes of a member from its byte `off` into `to`. Decompresses whole frames, so
 * large members are best read in pieces of TF_PACKAGE_FRAME_BYTES or more; distinct ranges may be
 * read by distinct threads. `to` is undefined on failure. Cost: one pread and one decompression a
 * frame. TF_E_USAGE: no such member or range. TF_E_DAMAGED: names the member, the frame and its
 * place.
 */
TF_WARN_UNUSED enum tf_status tf_package_read_range(const struct tf_package *package, size_t index,
	uint64_t off, void *to, uint64_t bytes, struct tf_error *err);

/*
 * The whole member into fresh memory: `out` must hold nothing; the caller ends it with
 * tf_bytes_fini.
 */
TF_WARN_UNUSED enum tf_status tf_package_read_member(
	const struct tf_package *package, size_t index, struct tf_bytes *out, struct tf_error *err);

/* Member 0 as above, and TF_E_DAMAGED unless its SHA-256 is the one in the seal. */
TF_WARN_UNUSED enum tf_status tf_package_read_catalog(
	const struct tf_package *package, struct tf_bytes *out, struct tf_error *err);

/* SHA-256 of a member's bytes, in constant memory. */
TF_WARN_UNUSED enum tf_status tf_package_member_sha256(const struct tf_package *package,
	size_t index, uint8_t out[TF_DIGEST_BYTES], struct tf_error *err);

/*
 * TF_E_DAMAGED, naming the member and both digests, unless the member's SHA-256 is `sha256`.
 * The first reads the member for it; the second is for bytes that were read already.
 */
TF_WARN_UNUSED enum tf_status tf_package_check_member(const struct tf_package *package,
	size_t index, const uint8_t sha256[TF_DIGEST_BYTES], struct tf_error *err);
TF_WARN_UNUSED enum tf_status tf_package_check_bytes(const struct tf_package *package, size_t index,
	const void *data, size_t bytes, const uint8_t sha256[TF_DIGEST_BYTES], struct tf_error *err);

/* SHA-256 of the whole file: its name in a fleet. */
TF_WARN_UNUSED enum tf_status tf_package_digest(
	const struct tf_package *package, uint8_t out[TF_DIGEST_BYTES], struct tf_error *err);

/*
 * The same digest, and in the same pass TF_E_DAMAGED unless every byte before the seal is as the
 * seal says. What is read from the frames after it needs no digest of its own.
 */
TF_WARN_UNUSED enum tf_status tf_package_prove_body(
	const struct tf_package *package, uint8_t out[TF_DIGEST_BYTES], struct tf_error *err);

/*
 * Reads the whole file and checks all of it: every frame and checksum, tar headers, padding, the
 * end of the archive, both digests of the seal, and that nothing lies between or behind. Any
 * changed byte and any cut gives TF_E_DAMAGED. Members are not compared with the catalog: that is
 * the caller's.
 */
TF_WARN_UNUSED enum tf_status tf_package_verify(
	const struct tf_package *package, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
