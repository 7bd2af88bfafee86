/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tar headers: the same bytes as libarchive's for any name and size, and nothing else is accepted.
 */
#include "packages/tar_member.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <archive.h>
#include <archive_entry.h>
#include <cmocka.h>

struct sink {
	uint8_t data[8192];
	size_t size;
	int closed;
};

static la_ssize_t on_bytes(struct archive *archive, void *user, const void *data, size_t bytes)
{
	struct sink *sink = user;

	(void)archive;
	if (sink->closed)
		return -1;
	assert_true(sink->size + bytes <= sizeof(sink->data));
	memcpy(sink->data + sink->size, data, bytes);
	sink->size += bytes;
	return (la_ssize_t)bytes;
}

static void header_by_libarchive(const char *name, uint64_t bytes, struct sink *sink)
{
	struct archive *archive = archive_write_new();
	struct archive_entry *entry = archive_entry_new();

	memset(sink, 0, sizeof(*sink));
	assert_int_equal(archive_write_set_format_pax_restricted(archive), ARCHIVE_OK);
	assert_int_equal(archive_write_set_bytes_per_block(archive, 0), ARCHIVE_OK);
	assert_int_equal(archive_write_open(archive, sink, NULL, on_bytes, NULL), ARCHIVE_OK);
	archive_entry_set_pathname(entry, name);
	archive_entry_set_size(entry, (la_int64_t)bytes);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_mtime(entry, 0, 0);
	assert_int_equal(archive_write_header(archive, entry), ARCHIVE_OK);
	sink->closed = 1;
	archive_write_close(archive);
	archive_write_free(archive);
	archive_entry_free(entry);
}

static const uint64_t sizes[] = {0, 1, 511, 512, 513, UINT64_C(0777777777), (UINT64_C(1) << 33) - 1,
	UINT64_C(1) << 33, UINT64_C(9999999999), UINT64_C(10000000000), TF_PACKAGE_MEMBER_BYTES_MAX};

static void same_as_libarchive(const char *name)
{
	struct sink sink;
	uint8_t built[TF_TAR_HEADER_BYTES];
	char parsed[TF_PACKAGE_NAME_MAX + 1];
	uint64_t bytes;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t size = tf_tar_header_build(name, sizes[i], built);

		header_by_libarchive(name, sizes[i], &sink);
		assert_int_equal(size, sink.size);
		assert_memory_equal(built, sink.data, size);
		assert_int_equal(size, tf_tar_header_bytes(sizes[i]));
		assert_int_equal(size, tf_tar_header_wanted(built));
		assert_int_equal(tf_tar_header_parse(built, parsed, &bytes, NULL), TF_OK);
		assert_string_equal(parsed, name);
		assert_int_equal(bytes, sizes[i]);
	}
}

/* Names of every length, with a slash at every place. */
static void test_same_as_libarchive(void **state)
{
	char name[TF_PACKAGE_NAME_MAX + 1];

	(void)state;
	same_as_libarchive(TF_PACKAGE_CATALOG);
	same_as_libarchive("a/b/c/d+e_f-g.h");
	for (int length = 1; length <= TF_PACKAGE_NAME_MAX; length++) {
		memset(name, 'n', sizeof(name));
		name[length] = '\0';
		same_as_libarchive(name);
	}
	for (int slash = 1; slash < TF_PACKAGE_NAME_MAX - 1; slash++) {
		memset(name, 'n', sizeof(name));
		name[TF_PACKAGE_NAME_MAX] = '\0';
		name[slash] = '/';
		same_as_libarchive(name);
	}
}

static void test_any_other_bit_is_refused(void **state)
{
	static const uint64_t two[] = {700, UINT64_C(1) << 33};
	uint8_t header[TF_TAR_HEADER_BYTES];
	char name[TF_PACKAGE_NAME_MAX + 1];
	uint64_t bytes;

	(void)state;
	for (int i = 0; i < 2; i++) {
		size_t size = tf_tar_header_build("modules/x", two[i], header);

		for (size_t bit = 0; bit < 8 * size; bit++) {
			uint8_t room[TF_TAR_HEADER_BYTES] = {0};
			enum tf_status status;

			memcpy(room, header, size);
			room[bit / 8] ^= (uint8_t)(1 << bit % 8);
			status = tf_tar_header_parse(room, name, &bytes, NULL);
			assert_true(status == TF_E_DAMAGED || status == TF_E_INVALID);
		}
	}
}

static void test_names(void **state)
{
	static const char *const good[] = {"a", "a/b", "a.b", ".a", "...", "a/..b", "A9_+-.x", "-"};
	static const char *const bad[] = {"", "/", "/a", "a/", "a//b", ".", "..", "a/..", "../a",
		"a/../b", "./a", "a/.", "a b", "a\\b", "a\nb", "\303\244", "a:b", "\x7f"};
	char name[TF_PACKAGE_NAME_MAX + 2];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(tf_tar_name_is_valid(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(tf_tar_name_is_valid(bad[i]));
	memset(name, 'x', sizeof(name));
	name[TF_PACKAGE_NAME_MAX + 1] = '\0';
	assert_false(tf_tar_name_is_valid(name));
	name[TF_PACKAGE_NAME_MAX] = '\0';
	assert_true(tf_tar_name_is_valid(name));
}

static void test_bad_name_in_a_right_header(void **state)
{
	static const char *const bad[] = {"/etc/passwd", "../x", "a/../../b", "a b"};
	uint8_t header[TF_TAR_HEADER_BYTES];
	char name[TF_PACKAGE_NAME_MAX + 1];
	uint64_t bytes;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		tf_tar_header_build(bad[i], 5, header);
		assert_int_equal(tf_tar_header_parse(header, name, &bytes, NULL), TF_E_INVALID);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_as_libarchive),
		cmocka_unit_test(test_any_other_bit_is_refused),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_bad_name_in_a_right_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
