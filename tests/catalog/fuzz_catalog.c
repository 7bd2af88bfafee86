/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of the catalog's reader. An input that starts with "SQLite" is a catalog. Any other
 * is a list of changes to the sample's catalog, 4 bytes each: offset (3 bytes, little-endian,
 * modulo the size) and a mask for the byte there; so that small inputs reach every table. What is
 * read must pass tf_program_check.
 */
#include "tests/catalog/fuzz_catalog.h"

#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "catalog/catalog_read.h"
#include "tests/catalog/catalog_image.h"

static int ignore_row(void *user, int columns, char *const *names, char *const *values)
{
	(void)user;
	for (int i = 0; i < columns; i++) {
		if (!names[i] || (values[i] && strlen(values[i]) > 1u << 22))
			abort();
	}
	return 0;
}

static void read_catalog(const uint8_t *bytes, size_t size)
{
	static const char sql[] =
		"SELECT * FROM picks UNION ALL SELECT *, 0,0,0,0,0,0,0,0,0 FROM samples";

	for (unsigned parts = 0; parts < 4; parts += 3) {
		struct tf_program program = {0};
		struct tf_error err = {0};

		if (tf_catalog_read(bytes, size, parts, &program, &err) != TF_OK) {
			if (!err.text[0] || program.world)
				abort();
		} else if (tf_program_check(&program, &err) != TF_OK) {
			abort();
		}
		tf_program_fini(&program);
	}
	if (tf_catalog_query(
			bytes, size, sql, tf_deadline_after(TF_NS_PER_S), ignore_row, NULL, NULL) != TF_OK)
		return;
}

/* The sample's catalog, made once and kept for the process. */
static const struct tf_bytes *sample_image(void)
{
	static struct tf_bytes image;

	if (!image.data)
		catalog_image_make(&image);
	return &image;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tf_bytes *image = sample_image();
	uint8_t *copy;

	if (size >= 6 && !memcmp(data, "SQLite", 6)) {
		read_catalog(data, size);
		return 0;
	}
	copy = malloc(image->size);
	if (!copy)
		abort();
	memcpy(copy, image->data, image->size);
	for (size_t i = 0; i + 4 <= size; i += 4)
		copy[(data[i] | (size_t)data[i + 1] << 8 | (size_t)data[i + 2] << 16) % image->size] ^=
			data[i + 3];
	read_catalog(copy, image->size);
	free(copy);
	return 0;
}
