/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of an open package, shared by the files that read it. Never changes once it is open.
 */
#ifndef TF_PACKAGES_PACKAGE_H
#define TF_PACKAGES_PACKAGE_H

#include "packages/container_read.h"
#include "packages/frame_read.h"
#include "packages/frame_table.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_package_member {
	char name[TF_PACKAGE_NAME_MAX + 1];
	size_t first_frame;
	size_t frame_count;
	uint64_t bytes;
};

struct tf_package {
	int fd;
	char *path;
	uint64_t file_bytes;
	struct tf_zframe_table table; /* the members' frames, then the one that ends the archive */
	struct tf_package_member *members;
	size_t member_count;
};

/* The part of a frame that is a member's data. */
struct tf_zframe_span {
	uint64_t from;  /* byte of the frame where it begins */
	uint64_t bytes; /* may be 0 */
};

/* The part of frame `k` of a member that lies in the bytes [off, off + bytes) of its data. */
struct tf_zframe_span tf_package_frame_span(
	const struct tf_package_member *member, size_t k, uint64_t off, uint64_t bytes);

/*
 * Decompresses frame `k` of a member into `to` (the frame's raw bytes) and checks what in it is not
 * data: the tar header must be the right one, the padding zero. reader->packed holds the frame as
 * stored.
 */
TF_WARN_UNUSED enum tf_status tf_package_read_frame(const struct tf_package *package,
	struct tf_zframe_reader *reader, const struct tf_package_member *member, size_t k, uint8_t *to,
	struct tf_error *err);

/* Memory for any frame of the member; NULL if it is short. Freed with tf_free. */
uint8_t *tf_package_frame_room(const struct tf_package_member *member);

#ifdef __cplusplus
}
#endif
#endif
