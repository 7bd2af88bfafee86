/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damage: every flipped byte and every cut of a package is found by verification, and what a
 * damaged package still lets load is what was written. Well-formed files that break a rule are
 * refused.
 */
#include "packages/container_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <sodium.h>

#include "packages/frame_write.h"
#include "packages/tar_member.h"
#include "tests/packages/package_fixture.h"

/* Where the seal says its version: other bytes there are a newer container's. */
static size_t version_at(const struct tf_bytes *file)
{
	size_t entries = tf_get_le32(file->data + file->size - 9);

	return file->size - 9 - 12 * entries - 8 - 80 + 12;
}

static void check_damaged(
	const struct tf_bytes *file, size_t bytes, size_t at, const uint8_t right[TF_DIGEST_BYTES])
{
	uint8_t loaded[TF_DIGEST_BYTES];
	struct tf_error err = {0};
	enum tf_status status = fixture_read_all(file->data, bytes, loaded, &err);
	size_t version = version_at(file);

	if (status == TF_E_VERSION && at >= version && at < version + 4)
		return;
	if (status != TF_E_DAMAGED && status != TF_E_INVALID)
		fail_msg("byte %zu of %zu: %s: '%s'", at, bytes, tf_status_name(status), err.text);
	assert_true(strncmp(err.text, "'memory': ", 10) == 0 ||
		strncmp(err.text, "cannot open 'memory': ", 22) == 0);
	if (!sodium_is_zero(loaded, sizeof(loaded)))
		assert_memory_equal(loaded, right, sizeof(loaded));
}

static struct tf_bytes write_and_load(
	const struct fixture_member *members, size_t count, uint8_t right[TF_DIGEST_BYTES])
{
	const char *path = fixture_path("damage.tfp");
	struct tf_bytes file;

	assert_int_equal(fixture_write(path, members, count, NULL), TF_OK);
	file = fixture_load(path);
	assert_int_equal(fixture_read_all(file.data, file.size, right, NULL), TF_OK);
	return file;
}

static void flip_and_check(
	struct tf_bytes *file, size_t at, uint8_t mask, const uint8_t right[TF_DIGEST_BYTES])
{
	file->data[at] ^= mask;
	check_damaged(file, file->size, at, right);
	file->data[at] ^= mask;
}

static void test_every_byte_of_a_small_package(void **state)
{
	uint8_t right[TF_DIGEST_BYTES];
	struct tf_bytes file = write_and_load(fixture_small(), FIXTURE_SMALL_COUNT, right);

	(void)state;
	for (size_t at = 0; at < file.size; at++) {
		flip_and_check(&file, at, (uint8_t)(1 << at % 8), right);
		flip_and_check(&file, at, 0xFF, right);
	}
	tf_bytes_fini(&file);
}

static void test_every_cut_of_a_small_package(void **state)
{
	uint8_t right[TF_DIGEST_BYTES];
	struct tf_bytes file = write_and_load(fixture_small(), FIXTURE_SMALL_COUNT, right);
	struct tf_bytes longer = {0};

	(void)state;
	for (size_t bytes = 0; bytes < file.size; bytes++)
		check_damaged(&file, bytes, bytes, right);
	/* Something before and something behind. */
	assert_int_equal(tf_bytes_append(&longer, "", 1, NULL), TF_OK);
	assert_int_equal(tf_bytes_append(&longer, file.data, file.size, NULL), TF_OK);
	assert_int_equal(fixture_read_all(longer.data, longer.size, NULL, NULL), TF_E_DAMAGED);
	assert_int_equal(tf_bytes_append(&longer, "", 1, NULL), TF_OK);
	assert_int_not_equal(fixture_read_all(longer.data + 1, longer.size - 1, NULL, NULL), TF_OK);
	tf_bytes_fini(&longer);
	tf_bytes_fini(&file);
}

/* Data with many encodings of equal length: there a flip may change the frame and not its bytes. */
static void test_bytes_of_a_periodic_package(void **state)
{
	const struct fixture_member *medium = fixture_medium();
	const struct fixture_member members[] = {
		{TF_PACKAGE_CATALOG, medium[3].data, 20000}, {"a", medium[2].data, 20000}};
	uint8_t right[TF_DIGEST_BYTES];
	struct tf_bytes file = write_and_load(members, 2, right);

	(void)state;
	for (size_t at = 0; at < file.size; at++) {
		for (int bit = 0; bit < 8; bit++)
			flip_and_check(&file, at, (uint8_t)(1 << bit), right);
	}
	tf_bytes_fini(&file);
}

static void test_bytes_and_cuts_of_a_larger_package(void **state)
{
	uint8_t right[TF_DIGEST_BYTES];
	struct tf_bytes file = write_and_load(fixture_medium(), FIXTURE_MEDIUM_COUNT, right);

	(void)state;
	for (size_t at = 0; at < file.size; at += 997)
		flip_and_check(&file, at, (uint8_t)(1 << at % 8), right);
	for (size_t bytes = 0; bytes < file.size; bytes += 4096)
		check_damaged(&file, bytes, bytes, right);
	tf_bytes_fini(&file);
}

/* A range of a crafted package: a member's header, data and padding, or any other bytes. */
struct range {
	const char *name; /* NULL: `data` is the whole range */
	const char *data;
	size_t bytes;
	char padding;   /* the byte behind the data instead of 0 */
	uint64_t claim; /* the size in the header, if not 0 */
};

#define CATALOG                                                                                    \
	{                                                                                              \
		.name = TF_PACKAGE_CATALOG, .data = "sql", .bytes = 3                                      \
	}
#define END                                                                                        \
	{                                                                                              \
		.data = end, .bytes = sizeof(end)                                                          \
	}

static const char end[TF_TAR_END_BYTES];

static void put_range(struct tf_zframe_writer *writer, const struct range *range)
{
	uint8_t header[TF_TAR_HEADER_BYTES];
	struct tf_bytes bytes = {0};
	void *padding;

	if (range->name) {
		uint64_t size = range->claim ? range->claim : range->bytes;
		size_t header_bytes = tf_tar_header_build(range->name, size, header);

		assert_int_equal(tf_bytes_append(&bytes, header, header_bytes, NULL), TF_OK);
	}
	assert_int_equal(tf_bytes_append(&bytes, range->data, range->bytes, NULL), TF_OK);
	assert_int_equal(
		tf_bytes_extend(&bytes, (512 - bytes.size % 512) % 512, &padding, NULL), TF_OK);
	if (range->padding)
		*(char *)padding = range->padding;
	tf_zframe_writer_begin(writer, bytes.size, 0);
	assert_int_equal(tf_zframe_writer_push(writer, bytes.data, bytes.size, NULL), TF_OK);
	tf_bytes_fini(&bytes);
}

/* The file of these ranges, with checksums, seal and seek table all right. */
static struct tf_bytes craft(const struct range *ranges, size_t count)
{
	struct tf_temporary temporary = TF_TEMPORARY_NONE;
	struct tf_zframe_writer writer = {0};
	struct tf_bytes file;

	assert_int_equal(tf_temporary_open(fixture_path("craft.tfp"), &temporary, NULL), TF_OK);
	assert_int_equal(tf_zframe_writer_init(&writer, &temporary, NULL), TF_OK);
	crypto_hash_sha256(
		writer.table.catalog_sha256, (const uint8_t *)ranges[0].data, ranges[0].bytes);
	for (size_t i = 0; i < count; i++)
		put_range(&writer, &ranges[i]);
	assert_int_equal(tf_zframe_writer_finish(&writer, NULL), TF_OK);
	file = fixture_load(temporary.path);
	tf_zframe_writer_fini(&writer);
	tf_temporary_close(&temporary);
	return file;
}

static void check_refused(
	const struct range *ranges, size_t count, enum tf_status wanted, const char *words)
{
	struct tf_bytes file = craft(ranges, count);
	struct tf_error err = {0};
	enum tf_status status = fixture_read_all(file.data, file.size, NULL, &err);

	if (status != wanted || (words && !strstr(err.text, words)))
		fail_msg(
			"%s: '%s', not '%s'", tf_status_name(status), err.text, words ? words : "any text");
	tf_bytes_fini(&file);
}

#define CHECK(wanted, words, ...)                                                                  \
	do {                                                                                           \
		const struct range ranges_[] = {__VA_ARGS__};                                              \
		check_refused(ranges_, sizeof(ranges_) / sizeof(ranges_[0]), (wanted), (words));           \
	} while (0)

static void test_rules_of_the_member_list(void **state)
{
	static const struct range a = {.name = "a", .data = "1", .bytes = 1};
	static const struct range b = {.name = "b", .data = "2", .bytes = 1};
	static const struct range up = {.name = "../b", .data = "2", .bytes = 1};
	static const struct range root = {.name = "/b", .data = "2", .bytes = 1};

	(void)state;
	CHECK(TF_OK, NULL, CATALOG, a, b, END);
	CHECK(TF_OK, NULL, CATALOG, END);
	CHECK(TF_E_INVALID, "'a' follows 'b': not sorted", CATALOG, b, a, END);
	CHECK(TF_E_INVALID, "member 'a' is there twice", CATALOG, a, a, END);
	CHECK(TF_E_INVALID, "is there twice", CATALOG, a, CATALOG, END);
	CHECK(TF_E_INVALID, "first member is 'a'", a, b, END);
	CHECK(TF_E_INVALID, "member name is not", CATALOG, up, END);
	CHECK(TF_E_INVALID, "member name is not", CATALOG, root, END);
}

static void test_rules_of_the_tar_stream(void **state)
{
	static const char zeros[2048] = {0};
	static const char ones[TF_TAR_END_BYTES] = {[700] = 1};
	static const struct range padded = {.name = "a", .data = "1", .bytes = 1, .padding = 'x'};
	static const struct range short_end = {.data = zeros, .bytes = 512};
	static const struct range long_end = {.data = zeros, .bytes = 2048};
	static const struct range bad_end = {.data = ones, .bytes = sizeof(ones)};
	static const struct range less = {.name = "a", .data = "1", .bytes = 1, .claim = 513};
	static const struct range more = {.name = "a", .data = zeros, .bytes = 513, .claim = 1};
	static const struct range big = {.name = "a", .data = zeros, .bytes = 9, .claim = 1ull << 35};
	static const struct range full = {
		.name = TF_PACKAGE_CATALOG, .data = zeros, .bytes = 9, .claim = 1ull << 30};
	static const struct range bomb = {
		.name = TF_PACKAGE_CATALOG, .data = zeros, .bytes = 9, .claim = (1ull << 30) + 1};

	(void)state;
	CHECK(TF_E_DAMAGED, "padding behind the data is not zero", CATALOG, padded, END);
	CHECK(TF_E_DAMAGED, "last frame has 512 bytes", CATALOG, short_end);
	CHECK(TF_E_DAMAGED, "last frame has 2048 bytes", CATALOG, long_end);
	CHECK(TF_E_DAMAGED, "end the archive are not zero", CATALOG, bad_end);
	CHECK(TF_E_DAMAGED, "member 'a': frame 1 has 1024 bytes, not 1536", CATALOG, less, END);
	CHECK(TF_E_DAMAGED, "member 'a': frame 1 has 1536 bytes, not 1024", CATALOG, more, END);
	CHECK(TF_E_DAMAGED, "member 'a': frame 1", CATALOG, big, END);
	CHECK(TF_E_DAMAGED, "member 'catalog.sqlite': frame 0", full, END);
	CHECK(TF_E_LIMIT, "'catalog.sqlite' has 1073741825 bytes, at most 1073741824", bomb, END);
	CHECK(TF_E_INVALID, "frame 1 at byte", CATALOG, END, END);
	CHECK(TF_E_INVALID, "seek table", {.data = zeros, .bytes = 0});
}

static void test_catalog_digest_of_the_seal(void **state)
{
	static const struct range ranges[] = {CATALOG, END};
	struct tf_bytes file = craft(ranges, 2);
	struct tf_error err = {0};

	(void)state;
	file.data[version_at(&file) + 4] ^= 1;
	assert_int_equal(fixture_read_all(file.data, file.size, NULL, &err), TF_E_DAMAGED);
	assert_non_null(strstr(err.text, "member 'catalog.sqlite' has SHA-256 "));
	tf_bytes_fini(&file);
}

/*
 * A frame header with the bit that decoders pass over, and the seal made right again: the header is
 * not the derived one, so zstd must not get to see the frame.
 */
static void test_other_frame_header(void **state)
{
	static const struct range ranges[] = {CATALOG, END};
	struct tf_bytes file = craft(ranges, 2);
	size_t body = version_at(&file) - 12;
	struct tf_error err = {0};

	(void)state;
	file.data[4] |= 0x10;
	crypto_hash_sha256(file.data + body + 48, file.data, body);
	assert_int_equal(fixture_read_all(file.data, file.size, NULL, &err), TF_E_DAMAGED);
	assert_non_null(strstr(err.text, "zstd frame header is not the one of a frame of 1024 bytes"));
	file.data[4] ^= 0x10;
	crypto_hash_sha256(file.data + body + 48, file.data, body);
	assert_int_equal(fixture_read_all(file.data, file.size, NULL, &err), TF_OK);
	tf_bytes_fini(&file);
}

static void test_newer_container(void **state)
{
	static const struct range ranges[] = {CATALOG, END};
	struct tf_bytes file = craft(ranges, 2);
	struct tf_error err = {0};

	(void)state;
	tf_put_le32(file.data + version_at(&file), TF_PACKAGE_VERSION + 1);
	assert_int_equal(fixture_read_all(file.data, file.size, NULL, &err), TF_E_VERSION);
	assert_non_null(strstr(err.text, "container version is 2, this build reads up to 1"));
	tf_put_le32(file.data + version_at(&file), 0);
	assert_int_equal(fixture_read_all(file.data, file.size, NULL, &err), TF_E_DAMAGED);
	tf_bytes_fini(&file);
}

/* The seek table's checksum, changed together with nothing else, is noticed at load. */
static void test_checksum_of_the_table(void **state)
{
	static const struct range ranges[] = {CATALOG, END};
	struct tf_bytes file = craft(ranges, 2);
	struct tf_error err = {0};
	uint8_t loaded[TF_DIGEST_BYTES];

	(void)state;
	file.data[file.size - 9 - 3 * 12 + 8] ^= 1;
	assert_int_equal(fixture_read_all(file.data, file.size, loaded, &err), TF_E_DAMAGED);
	assert_non_null(strstr(err.text, "the seek table says 0x"));
	assert_true(sodium_is_zero(loaded, sizeof(loaded)));
	tf_bytes_fini(&file);
}

/* Counts that no file of this size can have are refused before memory is asked for. */
static void test_count_of_the_table(void **state)
{
	static const uint32_t counts[] = {0, 1, 2, 4, 100, UINT32_MAX, UINT32_MAX / 12 + 1};
	static const struct range ranges[] = {CATALOG, END};
	struct tf_bytes file = craft(ranges, 2);

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		tf_put_le32(file.data + file.size - 9, counts[i]);
		assert_int_equal(fixture_read_all(file.data, file.size, NULL, NULL), TF_E_DAMAGED);
	}
	tf_bytes_fini(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_byte_of_a_small_package),
		cmocka_unit_test(test_every_cut_of_a_small_package),
		cmocka_unit_test(test_bytes_of_a_periodic_package),
		cmocka_unit_test(test_bytes_and_cuts_of_a_larger_package),
		cmocka_unit_test(test_rules_of_the_member_list),
		cmocka_unit_test(test_rules_of_the_tar_stream),
		cmocka_unit_test(test_catalog_digest_of_the_seal),
		cmocka_unit_test(test_other_frame_header),
		cmocka_unit_test(test_newer_container),
		cmocka_unit_test(test_checksum_of_the_table),
		cmocka_unit_test(test_count_of_the_table),
	};

	return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
