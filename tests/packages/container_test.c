/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A package that is written is read back: members, ranges, digests, threads, paths, refusals of odd
 * files.
 */
#include "packages/container_read.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sodium.h>

#include "base/alloc.h"
#include "tests/packages/package_fixture.h"

static void check_member(
	const struct tf_package *package, size_t index, const struct fixture_member *wanted)
{
	struct tf_bytes bytes = {0};
	uint8_t digest[TF_DIGEST_BYTES], right[TF_DIGEST_BYTES];
	size_t found;

	assert_string_equal(tf_package_member_name(package, index), wanted->name);
	assert_int_equal(tf_package_member_bytes(package, index), wanted->bytes);
	assert_int_equal(tf_package_find(package, wanted->name, &found, NULL), TF_OK);
	assert_int_equal(found, index);
	assert_int_equal(tf_package_read_member(package, index, &bytes, NULL), TF_OK);
	assert_int_equal(bytes.size, wanted->bytes);
	if (wanted->bytes)
		assert_memory_equal(bytes.data, wanted->data, wanted->bytes);
	crypto_hash_sha256(right, wanted->data, wanted->bytes);
	assert_int_equal(tf_package_member_sha256(package, index, digest, NULL), TF_OK);
	assert_memory_equal(digest, right, sizeof(right));
	assert_int_equal(tf_package_check_member(package, index, right, NULL), TF_OK);
	tf_bytes_fini(&bytes);
}

static void round_trip(const struct fixture_member *members, size_t count)
{
	const char *path = fixture_path("a.tfp");
	struct tf_package *package = NULL;
	struct tf_package_writer *writer = NULL;
	struct tf_bytes file;
	uint8_t digest[TF_DIGEST_BYTES], found[TF_DIGEST_BYTES];
	uint64_t bytes;

	assert_int_equal(tf_package_writer_create(path, &writer, NULL), TF_OK);
	assert_int_equal(fixture_add(writer, members, count, NULL), TF_OK);
	assert_int_equal(tf_package_writer_seal(writer, NULL), TF_OK);
	assert_int_equal(tf_package_writer_publish(writer, &bytes, digest, NULL), TF_OK);
	tf_package_writer_destroy(writer);

	assert_int_equal(tf_package_open(path, &package, NULL), TF_OK);
	assert_string_equal(tf_package_path(package), path);
	assert_int_equal(tf_package_file_bytes(package), bytes);
	assert_int_equal(tf_package_member_count(package), count);
	for (size_t i = 0; i < count; i++)
		check_member(package, i, &members[i]);
	assert_int_equal(tf_package_verify(package, NULL), TF_OK);
	assert_int_equal(tf_package_digest(package, found, NULL), TF_OK);
	assert_memory_equal(found, digest, sizeof(digest));
	file = fixture_load(path);
	assert_int_equal(file.size, bytes);
	crypto_hash_sha256(found, file.data, file.size);
	assert_memory_equal(found, digest, sizeof(digest));
	tf_bytes_fini(&file);
	tf_package_close(package);
}

static void test_round_trip(void **state)
{
	(void)state;
	round_trip(fixture_small(), 1);
	round_trip(fixture_small(), FIXTURE_SMALL_COUNT);
	round_trip(fixture_medium(), FIXTURE_MEDIUM_COUNT);
	round_trip(fixture_large(), FIXTURE_LARGE_COUNT);
}

/* Written once, when this format was new: later readers must read it too. */
static void test_golden_package(void **state)
{
	const struct fixture_member *members = fixture_small();
	struct tf_package *package = NULL;

	(void)state;
	assert_int_equal(tf_package_open(TF_CORPUS "/small", &package, NULL), TF_OK);
	assert_int_equal(tf_package_member_count(package), FIXTURE_SMALL_COUNT);
	for (size_t i = 0; i < FIXTURE_SMALL_COUNT; i++)
		check_member(package, i, &members[i]);
	assert_int_equal(tf_package_verify(package, NULL), TF_OK);
	tf_package_close(package);
}

static struct tf_package *open_large(void)
{
	const char *path = fixture_path("large.tfp");
	struct tf_package *package = NULL;

	if (access(path, F_OK) != 0)
		assert_int_equal(fixture_write(path, fixture_large(), FIXTURE_LARGE_COUNT, NULL), TF_OK);
	assert_int_equal(tf_package_open(path, &package, NULL), TF_OK);
	return package;
}

static void test_ranges(void **state)
{
	const struct fixture_member *member = &fixture_large()[2];
	const uint64_t frame = TF_PACKAGE_FRAME_BYTES;
	const uint64_t ranges[][2] = {{0, 0}, {0, 1}, {1, 511}, {frame - 513, 3}, {frame - 512, frame},
		{frame - 512, 1}, {100, 2 * frame}, {2 * frame - 512, 1512}, {member->bytes - 1, 1},
		{member->bytes, 0}, {0, member->bytes}, {frame - 513, frame + 2}};
	struct tf_package *package = open_large();
	uint8_t *to = tf_calloc(member->bytes + 1, 1);
	struct tf_error err = {0};

	(void)state;
	assert_non_null(to);
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		uint64_t off = ranges[i][0], bytes = ranges[i][1];

		to[bytes] = 0xA5;
		assert_int_equal(tf_package_read_range(package, 2, off, to, bytes, NULL), TF_OK);
		assert_memory_equal(to, (const uint8_t *)member->data + off, bytes);
		assert_int_equal(to[bytes], 0xA5);
	}
	assert_int_equal(tf_package_read_range(package, 2, member->bytes, to, 1, &err), TF_E_USAGE);
	assert_non_null(strstr(err.text, "'b/over'"));
	assert_int_equal(tf_package_read_range(package, 2, 1, to, UINT64_MAX, NULL), TF_E_USAGE);
	assert_int_equal(tf_package_read_range(package, 9, 0, to, 0, NULL), TF_E_USAGE);
	tf_free(to);
	tf_package_close(package);
}

struct shared {
	const struct tf_package *package;
	const struct fixture_member *members;
};

/* Each thread reads every member several times; the package is shared. */
static void *read_everything(void *user)
{
	const struct tf_package *package = ((struct shared *)user)->package;
	const struct fixture_member *members = ((struct shared *)user)->members;
	intptr_t failures = 0;

	for (int round = 0; round < 4; round++) {
		for (size_t i = 0; i < FIXTURE_MEDIUM_COUNT; i++) {
			struct tf_bytes bytes = {0};

			failures += tf_package_read_member(package, i, &bytes, NULL) != TF_OK;
			failures += bytes.size != members[i].bytes ||
				memcmp(bytes.data, members[i].data, bytes.size) != 0;
			tf_bytes_fini(&bytes);
		}
		failures += tf_package_verify(package, NULL) != TF_OK;
	}
	return (void *)failures;
}

static void test_threads_share_a_package(void **state)
{
	const char *path = fixture_path("threads.tfp");
	struct tf_package *package = NULL;
	struct shared shared = {.members = fixture_medium()};
	pthread_t threads[4];

	(void)state;
	assert_int_equal(fixture_write(path, shared.members, FIXTURE_MEDIUM_COUNT, NULL), TF_OK);
	assert_int_equal(tf_package_open(path, &package, NULL), TF_OK);
	shared.package = package;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_everything, &shared), 0);
	for (int i = 0; i < 4; i++) {
		void *failures;

		assert_int_equal(pthread_join(threads[i], &failures), 0);
		assert_null(failures);
	}
	tf_package_close(package);
}

static void test_names_that_are_not_there(void **state)
{
	static const char *const names[] = {"", "a", "constants", "constants/nois", "zzz", "/"};
	const char *path = fixture_path("find.tfp");
	struct tf_package *package = NULL;
	struct tf_error err = {0};
	size_t index = 77;

	(void)state;
	assert_int_equal(fixture_write(path, fixture_small(), FIXTURE_SMALL_COUNT, NULL), TF_OK);
	assert_int_equal(tf_package_open(path, &package, NULL), TF_OK);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(tf_package_find(package, names[i], &index, &err), TF_E_NOT_FOUND);
	assert_int_equal(index, 77);
	assert_non_null(strstr(err.text, "has no member '/'"));
	tf_package_close(package);
}

static void test_wrong_digest_names_member_and_digests(void **state)
{
	const char *path = fixture_path("digest.tfp");
	struct tf_package *package = NULL;
	struct tf_error err = {0};
	uint8_t wrong[TF_DIGEST_BYTES] = {0xAB};

	(void)state;
	assert_int_equal(fixture_write(path, fixture_small(), FIXTURE_SMALL_COUNT, NULL), TF_OK);
	assert_int_equal(tf_package_open(path, &package, NULL), TF_OK);
	assert_int_equal(tf_package_check_member(package, 1, wrong, &err), TF_E_DAMAGED);
	assert_non_null(strstr(err.text, "'constants/empty'"));
	assert_non_null(strstr(err.text, "e3b0c44298fc1c149afbf4c8996fb924"));
	assert_non_null(strstr(err.text, "ab000000000000000000000000000000"));
	assert_int_equal(tf_package_check_bytes(package, 1, NULL, 0, wrong, NULL), TF_E_DAMAGED);
	tf_package_close(package);
}

static void test_paths(void **state)
{
	static const char *const names[] = {
		"with space.tfp", "\303\274ber \346\227\245.tfp", "no-suffix", "quote'\".tfp"};
	struct tf_package *package;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *path = fixture_path(names[i]);

		assert_int_equal(fixture_write(path, fixture_small(), FIXTURE_SMALL_COUNT, NULL), TF_OK);
		assert_int_equal(chmod(path, 0444), 0);
		assert_int_equal(tf_package_open(path, &package, NULL), TF_OK);
		assert_int_equal(tf_package_verify(package, NULL), TF_OK);
		tf_package_close(package);
	}
}

static void refused(const char *path, enum tf_status wanted, const char *words)
{
	struct tf_package *package = NULL;
	struct tf_error err = {0};

	assert_int_equal(tf_package_open(path, &package, &err), wanted);
	assert_null(package);
	assert_non_null(strstr(err.text, path));
	if (!strstr(err.text, words))
		fail_msg("'%s' does not say '%s'", err.text, words);
}

static void test_files_that_are_no_packages(void **state)
{
	char text[5000];

	(void)state;
	memset(text, 'x', sizeof(text));
	refused(fixture_path("absent.tfp"), TF_E_NOT_FOUND, "No such file");
	refused(fixture_path(""), TF_E_INVALID, "a folder");
	refused("/dev/null", TF_E_INVALID, "a special file");
	assert_int_equal(mkfifo(fixture_path("fifo"), 0600), 0);
	refused(fixture_path("fifo"), TF_E_INVALID, "a special file");
	fixture_store(fixture_path("zero.tfp"), "", 0);
	refused(fixture_path("zero.tfp"), TF_E_INVALID, "file is empty");
	for (size_t bytes = 1; bytes < 300; bytes++) {
		fixture_store(fixture_path("text.tfp"), text, bytes);
		refused(fixture_path("text.tfp"), TF_E_INVALID, "not a package");
	}
	fixture_store(fixture_path("text.tfp"), text, sizeof(text));
	refused(fixture_path("text.tfp"), TF_E_INVALID, "not a package");
}

/* root may read everything, so the opening is done by a child that is nobody. */
static void test_no_permission(void **state)
{
	const char *path = fixture_path("secret.tfp");
	int status;
	pid_t child;

	(void)state;
	assert_int_equal(fixture_write(path, fixture_small(), FIXTURE_SMALL_COUNT, NULL), TF_OK);
	assert_int_equal(chmod(path, 0), 0);
	assert_int_equal(chmod(fixture_path(""), 0755), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct tf_package *package = NULL;
		struct tf_error err = {0};

		if (geteuid() == 0 && setuid(65534) != 0)
			_exit(2);
		_exit(tf_package_open(path, &package, &err) != TF_E_SYSTEM ||
			!strstr(err.text, "Permission denied") || package);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* What an open package was changed into under its reader is noticed: by cutting, by growing. */
static void test_file_changed_while_open(void **state)
{
	const char *path = fixture_path("changed.tfp");
	struct tf_package *package = NULL;
	struct tf_bytes bytes = {0};
	struct tf_error err = {0};
	uint8_t digest[TF_DIGEST_BYTES];
	off_t size;

	(void)state;
	assert_int_equal(fixture_write(path, fixture_small(), FIXTURE_SMALL_COUNT, NULL), TF_OK);
	assert_int_equal(tf_package_open(path, &package, NULL), TF_OK);
	size = (off_t)tf_package_file_bytes(package);
	assert_int_equal(truncate(path, size + 1), 0);
	assert_int_equal(tf_package_verify(package, &err), TF_E_DAMAGED);
	assert_non_null(strstr(err.text, "when it was opened"));
	assert_int_equal(truncate(path, 100), 0);
	assert_int_equal(tf_package_verify(package, NULL), TF_E_DAMAGED);
	assert_int_equal(tf_package_digest(package, digest, NULL), TF_E_DAMAGED);
	assert_int_equal(tf_package_read_member(package, 2, &bytes, &err), TF_E_DAMAGED);
	assert_non_null(strstr(err.text, "beyond the end of the file"));
	assert_null(bytes.data);
	tf_package_close(package);
}

static enum tf_status open_and_read(const char *path)
{
	struct tf_package *package = NULL;
	struct tf_bytes bytes = {0};
	uint8_t digest[TF_DIGEST_BYTES] = {0};
	enum tf_status status = tf_package_open(path, &package, NULL);

	if (status == TF_OK)
		status = tf_package_read_catalog(package, &bytes, NULL);
	if (status == TF_OK)
		status = tf_package_check_member(package, 2, digest, NULL) == TF_E_DAMAGED
			? tf_package_verify(package, NULL)
			: TF_E_NO_MEMORY;
	if (status == TF_OK)
		status = tf_package_digest(package, digest, NULL);
	tf_bytes_fini(&bytes);
	tf_package_close(package);
	return status;
}

static void test_every_allocation_may_fail(void **state)
{
	const char *path = fixture_path("alloc.tfp");
	enum tf_status status = TF_E_NO_MEMORY;
	uint64_t nth = 0;

	(void)state;
	assert_int_equal(fixture_write(path, fixture_small(), FIXTURE_SMALL_COUNT, NULL), TF_OK);
	while (status == TF_E_NO_MEMORY && nth < 1000) {
		tf_alloc_fail_at(++nth);
		status = open_and_read(path);
		tf_alloc_fail_at(0);
	}
	assert_int_equal(status, TF_OK);
	assert_true(nth > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_golden_package),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_threads_share_a_package),
		cmocka_unit_test(test_names_that_are_not_there),
		cmocka_unit_test(test_wrong_digest_names_member_and_digests),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_files_that_are_no_packages),
		cmocka_unit_test(test_no_permission),
		cmocka_unit_test(test_file_changed_while_open),
		cmocka_unit_test(test_every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
