/* SPDX-License-Identifier: Apache-2.0 */
/* The folder, the packages and the whole-file helpers of the package tests. */
#include "tests/packages/package_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "base/alloc.h"

#define READ_MAX (UINT64_C(64) << 20)

/* A helper that fails has no test to report to. */
#define NEED(what)                                                                                 \
	do {                                                                                           \
		if (!(what)) {                                                                             \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);                             \
			abort();                                                                               \
		}                                                                                          \
	} while (0)

static char folder[512];

const char *fixture_folder(void)
{
	const char *base = getenv("TMPDIR");
	int used = snprintf(folder, sizeof(folder), "%s/tf-packages-XXXXXX", base ? base : "/tmp");

	NEED(used > 0 && (size_t)used + 2 < sizeof(folder));
	NEED(mkdtemp(folder));
	strcat(folder, "/");
	return folder;
}

void fixture_remove_folder(void)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	NEED(dir);
	while ((entry = readdir(dir))) {
		if (unlinkat(dirfd(dir), entry->d_name, 0) != 0)
			unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	}
	closedir(dir);
	NEED(rmdir(folder) == 0);
}

int fixture_set_up(void **state)
{
	(void)state;
	fixture_folder();
	return 0;
}

int fixture_tear_down(void **state)
{
	(void)state;
	fixture_remove_folder();
	return 0;
}

const char *fixture_path(const char *name)
{
	static char paths[4][1024];
	static unsigned turn;
	char *path = paths[turn++ % 4];
	int used = snprintf(path, sizeof(paths[0]), "%s%s", folder, name);

	NEED(used > 0 && (size_t)used < sizeof(paths[0]));
	return path;
}

int fixture_count(const char *part, char *out)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int count = 0;

	NEED(dir);
	while ((entry = readdir(dir))) {
		if (!strstr(entry->d_name, part))
			continue;
		count++;
		if (out)
			snprintf(out, 256, "%s", entry->d_name);
	}
	closedir(dir);
	return count;
}

enum tf_status fixture_add(struct tf_package_writer *writer, const struct fixture_member *members,
	size_t count, struct tf_error *err)
{
	for (size_t i = 0; i < count; i++)
		TF_TRY(
			tf_package_writer_add(writer, members[i].name, members[i].data, members[i].bytes, err));
	return TF_OK;
}

enum tf_status fixture_write(
	const char *path, const struct fixture_member *members, size_t count, struct tf_error *err)
{
	struct tf_package_writer *writer = NULL;
	enum tf_status status = tf_package_writer_create(path, &writer, err);

	if (status == TF_OK)
		status = fixture_add(writer, members, count, err);
	if (status == TF_OK)
		status = tf_package_writer_seal(writer, err);
	if (status == TF_OK)
		status = tf_package_writer_publish(writer, NULL, NULL, err);
	tf_package_writer_destroy(writer);
	return status;
}

void fixture_noise(uint64_t seed, void *to, size_t bytes)
{
	uint8_t *at = to;
	uint64_t x = seed * 2 + 1;

	for (size_t i = 0; i < bytes; i++) {
		x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		at[i] = (uint8_t)(x >> 56);
	}
}

const struct fixture_member *fixture_small(void)
{
	static char catalog[1500];
	static uint8_t noise[700];
	static const uint8_t words[] = "one two three four one two three four one two three four";
	static const struct fixture_member members[FIXTURE_SMALL_COUNT] = {
		{TF_PACKAGE_CATALOG, catalog, sizeof(catalog)},
		{"constants/empty", NULL, 0},
		{"constants/noise", noise, sizeof(noise)},
		{"constants/words", words, sizeof(words)},
		{"modules/a.cubin", catalog, 1024},
	};

	for (size_t i = 0; i < sizeof(catalog); i++)
		catalog[i] = "SQLite format 3"[i % 7 ? i % 15 : i % 3];
	fixture_noise(1, noise, sizeof(noise));
	return members;
}

const struct fixture_member *fixture_medium(void)
{
	static uint8_t noise[250000];
	static uint8_t zeros[100000];
	static char period[100000];
	static char text[60000];
	static const struct fixture_member members[FIXTURE_MEDIUM_COUNT] = {
		{TF_PACKAGE_CATALOG, text, sizeof(text)},
		{"noise", noise, sizeof(noise)},
		{"period", period, sizeof(period)},
		{"zeros", zeros, sizeof(zeros)},
	};

	fixture_noise(3, noise, sizeof(noise));
	for (size_t i = 0; i < sizeof(period); i++)
		period[i] = "abc"[i % 3];
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = "the catalog of it all"[noise[i / 3] % 21];
	return members;
}

const struct fixture_member *fixture_large(void)
{
	enum { FRAME = TF_PACKAGE_FRAME_BYTES };
	static uint8_t data[2 * FRAME + 1000];
	static const struct fixture_member members[FIXTURE_LARGE_COUNT] = {
		{TF_PACKAGE_CATALOG, data, 4096},
		{"a/exact", data, 2 * FRAME - 512},
		{"b/over", data, 2 * FRAME + 1000},
		{"c/just", data, FRAME - 512 + 1},
	};

	fixture_noise(2, data, 300000);
	for (size_t i = 300000; i < sizeof(data); i++)
		data[i] = (uint8_t)(i >> 9 ^ i >> 17);
	return members;
}

struct tf_bytes fixture_load(const char *path)
{
	struct tf_bytes bytes = {0};
	struct stat file;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *to;

	NEED(fd >= 0 && fstat(fd, &file) == 0);
	NEED(tf_bytes_extend(&bytes, (size_t)file.st_size, &to, NULL) == TF_OK);
	NEED(read(fd, to, (size_t)file.st_size) == file.st_size);
	close(fd);
	return bytes;
}

void fixture_store(const char *path, const void *data, size_t bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	NEED(fd >= 0);
	NEED(write(fd, data, bytes) == (ssize_t)bytes);
	close(fd);
}

static enum tf_status read_members(
	const struct tf_package *package, crypto_hash_sha256_state *sha, struct tf_error *err)
{
	for (size_t i = 0; i < tf_package_member_count(package); i++) {
		const char *name = tf_package_member_name(package, i);
		struct tf_bytes member = {0};
		uint8_t digest[TF_DIGEST_BYTES];
		enum tf_status status;

		if (tf_package_member_bytes(package, i) > READ_MAX)
			continue;
		status = i ? tf_package_read_member(package, i, &member, err)
				   : tf_package_read_catalog(package, &member, err);
		if (status == TF_OK)
			status = tf_package_member_sha256(package, i, digest, err);
		if (status == TF_OK)
			status = tf_package_check_bytes(package, i, member.data, member.size, digest, err);
		crypto_hash_sha256_update(sha, (const uint8_t *)name, strlen(name) + 1);
		crypto_hash_sha256_update(sha, member.data, member.size);
		tf_bytes_fini(&member);
		TF_TRY(status);
	}
	return TF_OK;
}

enum tf_status fixture_read_all(
	const void *data, size_t bytes, uint8_t *out_loaded, struct tf_error *err)
{
	struct tf_package *package = NULL;
	crypto_hash_sha256_state sha;
	enum tf_status status, verified;
	int fd = memfd_create("package", MFD_CLOEXEC);

	NEED(fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes);
	status = tf_package_open_fd(fd, "memory", &package, err);
	close(fd);
	crypto_hash_sha256_init(&sha);
	if (status == TF_OK)
		status = read_members(package, &sha, err);
	if (out_loaded) {
		crypto_hash_sha256_final(&sha, out_loaded);
		if (status != TF_OK)
			memset(out_loaded, 0, TF_DIGEST_BYTES);
	}
	if (package) {
		verified = tf_package_verify(package, status == TF_OK ? err : NULL);
		NEED(status == TF_OK || verified != TF_OK);
		status = status == TF_OK ? verified : status;
	}
	tf_package_close(package);
	return status;
}
