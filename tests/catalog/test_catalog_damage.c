/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damaged catalogs: cut, flipped and tangled. Each must end in an error that says why, or in a
 * program that passes tf_program_check; never in a crash (the sanitizers watch), never in a read
 * without end.
 */
#include "tests/catalog/sample_catalog.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "catalog/catalog_read.h"
#include "catalog/catalog_write.h"
#include "tests/catalog/catalog_image.h"
#include "tests/catalog/sample_program.h"

#define ALL (TF_CATALOG_STARTUP | TF_CATALOG_SAMPLES)

static void put_be32(uint8_t *to, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		to[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* Cut short, and cut short by someone who corrects the header's page count. */
static void truncation_is_found(void **state)
{
	struct tf_bytes copy = {0};

	(void)state;
	assert_int_equal(tf_bytes_append(&copy, sample_catalog.data, sample_catalog.size, NULL), TF_OK);
	for (size_t size = 100; size < sample_catalog.size; size += 337)
		sample_catalog_refused(sample_catalog.data, size, TF_E_DAMAGED, "its header says");
	for (size_t pages = 1; pages < sample_catalog.size / 4096; pages++) {
		struct tf_program out = {0};
		struct tf_error err = {0};

		put_be32(copy.data + 28, (uint32_t)pages);
		assert_int_not_equal(tf_catalog_read(copy.data, pages * 4096, ALL, &out, &err), TF_OK);
		assert_true(err.text[0] != '\0');
	}
	tf_bytes_fini(&copy);
}

static void odd_headers_are_refused(void **state)
{
	struct tf_bytes copy = {0};

	(void)state;
	assert_int_equal(tf_bytes_append(&copy, sample_catalog.data, sample_catalog.size, NULL), TF_OK);
	copy.data[18] = copy.data[19] = 2;
	sample_catalog_refused(
		copy.data, copy.size, TF_E_INVALID, "journal versions are 2 and 2, not 1");
	copy.data[18] = copy.data[19] = 1;
	copy.data[16] = 0x30;
	sample_catalog_refused(copy.data, copy.size, TF_E_DAMAGED, "page size is 12288");
	tf_bytes_fini(&copy);
}

/*
 * A flipped byte is an error, nothing (free space), or another value that is legal in its place:
 * which one, only a digest could tell, and the package has one of every member. What is read must
 * have passed the check.
 */
static void flipped_bytes_never_crash(void **state)
{
	static const uint8_t masks[] = {0xff, 0x01, 0x80};
	uint32_t refused_count = 0, same = 0, other = 0, filled = 0;
	struct tf_program sample;
	struct tf_bytes copy = {0};

	(void)state;
	sample_program_make(&sample);
	assert_int_equal(tf_bytes_append(&copy, sample_catalog.data, sample_catalog.size, NULL), TF_OK);
	for (size_t at = 0; at < sample_catalog.size; at++) {
		struct tf_program read = {0};
		struct tf_error err = {0};
		uint8_t mask = masks[at % 3];

		/*
		 * the header whole, then every 7th byte that holds something, then a few of the free space
		 */
		if (at >= 100 && (sample_catalog.data[at] ? ++filled % 7 : at % 997))
			continue;
		copy.data[at] ^= mask;
		if (tf_catalog_read(copy.data, copy.size, ALL, &read, &err) != TF_OK) {
			assert_int_equal(strncmp(err.text, "catalog: ", 9), 0);
			refused_count++;
		} else {
			assert_int_equal(tf_program_check(&read, &err), TF_OK);
			if (sample_program_difference(&sample, &read))
				other++;
			else
				same++;
		}
		tf_program_fini(&read);
		copy.data[at] ^= mask;
	}
	print_message("%u refused, %u the same, %u legal and different\n", refused_count, same, other);
	assert_true(refused_count > 1000 && same > 100 && other > 0);
	tf_program_fini(&sample);
	tf_bytes_fini(&copy);
}

/* Byte of the database where the page that holds a table's root starts. */
static size_t root_of(const struct tf_bytes *bytes, const char *table)
{
	struct tf_bytes answer;
	char sql[128];
	unsigned page = 0;

	snprintf(sql, sizeof(sql), "SELECT rootpage FROM sqlite_schema WHERE name = '%s'", table);
	catalog_image_ask(bytes, sql, &answer);
	assert_int_equal(sscanf((const char *)answer.data, "%u", &page), 1);
	tf_bytes_fini(&answer);
	return (size_t)(page - 1) * 4096;
}

/*
 * Every child of an interior page becomes `child`: (kind, cells at 3, cell pointers from 12, a
 * child in 4 bytes).
 */
static void set_children(uint8_t *page, uint32_t child)
{
	uint32_t cells = (uint32_t)page[3] << 8 | page[4];

	put_be32(page + 8, child);
	for (uint32_t i = 0; i < cells; i++)
		put_be32(page + ((size_t)page[12 + 2 * i] << 8 | page[13 + 2 * i]), child);
}

/*
 * Pages that refer to themselves or to one leaf over and over: an endless table to a naive reader.
 */
static void circular_pages_end(void **state)
{
	static const char *const tables[] = {
		"node", "edge", "sample", "launch", "launch_word", "candidate"};
	struct tf_program program;
	struct tf_bytes large = {0}, copy;

	(void)state;
	sample_program_make_large(&program);
	assert_int_equal(tf_catalog_write(&program, &large, NULL), TF_OK);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		size_t root = root_of(&large, tables[i]);
		uint32_t self = (uint32_t)(root / 4096 + 1);
		uint32_t last = (uint32_t)large.data[root + 8] << 24 |
			(uint32_t)large.data[root + 9] << 16 | (uint32_t)large.data[root + 10] << 8 |
			large.data[root + 11];

		assert_true(
			large.data[root] == 2 || large.data[root] == 5); /* interior, or it proves nothing */
		for (int way = 0; way < 2; way++) {
			struct tf_program out = {0};

			memset(&copy, 0, sizeof(copy));
			assert_int_equal(tf_bytes_append(&copy, large.data, large.size, NULL), TF_OK);
			set_children(copy.data + root, way ? self : last);
			assert_int_not_equal(tf_catalog_read(copy.data, copy.size, ALL, &out, NULL), TF_OK);
			tf_bytes_fini(&copy);
		}
	}
	tf_program_fini(&program);
	tf_bytes_fini(&large);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(truncation_is_found),
		cmocka_unit_test(odd_headers_are_refused),
		cmocka_unit_test(flipped_bytes_never_crash),
		cmocka_unit_test(circular_pages_end),
	};

	return cmocka_run_group_tests(tests, sample_catalog_make, sample_catalog_drop);
}
