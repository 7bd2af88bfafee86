/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the package tests share: a folder of their own, small packages in it, whole files in memory.
 */
#ifndef TF_TESTS_PACKAGES_PACKAGE_FIXTURE_H
#define TF_TESTS_PACKAGES_PACKAGE_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "packages/container_read.h"
#include "packages/container_write.h"

/*
 * A fresh folder under TMPDIR or /tmp; its path with a slash at the end, valid until the next call.
 */
const char *fixture_folder(void);
/* Removes the folder with all files in it. */
void fixture_remove_folder(void);

/* The same as set-up and tear-down of a group. */
int fixture_set_up(void **state);
int fixture_tear_down(void **state);
/* The path of a file in the folder, in one of four buffers used in turn. */
const char *fixture_path(const char *name);
/*
 * Files in the folder whose names hold `part`; the last one's name goes to `out` (256 bytes) or
 * nowhere.
 */
int fixture_count(const char *part, char *out);

struct fixture_member {
	const char *name;
	const void *data;
	uint64_t bytes;
};

/* Adds members; the first failure ends it. */
enum tf_status fixture_add(struct tf_package_writer *writer, const struct fixture_member *members,
	size_t count, struct tf_error *err);
/* create, add, seal, publish, destroy. */
enum tf_status fixture_write(
	const char *path, const struct fixture_member *members, size_t count, struct tf_error *err);

/* A package of five members, one of them empty, one that does not compress: about 3 KiB. */
#define FIXTURE_SMALL_COUNT 5
const struct fixture_member *fixture_small(void);
/* Noise, zeros, a period of three bytes and text: about 300 KiB. */
#define FIXTURE_MEDIUM_COUNT 4
const struct fixture_member *fixture_medium(void);
/* Members of exactly two frames, of a little more, and of one frame and one byte: 40 MiB. */
#define FIXTURE_LARGE_COUNT 4
const struct fixture_member *fixture_large(void);

/* Bytes that do not compress, the same for the same seed. */
void fixture_noise(uint64_t seed, void *to, size_t bytes);

/* Whole files; a failure ends the test. fixture_load's bytes are ended with tf_bytes_fini. */
struct tf_bytes fixture_load(const char *path);
void fixture_store(const char *path, const void *data, size_t bytes);

/*
 * Opens a file's bytes from memory, reads all members of up to 64 MiB twice over (whole and by
 * digest) and verifies. The first failure's status. `out_loaded` (TF_DIGEST_BYTES), which may be
 * NULL, gets a digest of all names and bytes that were loaded, or zeros where loading failed,
 * whatever verification said.
 */
enum tf_status fixture_read_all(
	const void *data, size_t bytes, uint8_t *out_loaded, struct tf_error *err);

#endif
