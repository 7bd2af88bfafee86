/* SPDX-License-Identifier: Apache-2.0 */
/*
 * package_corpus FOLDER: writes the fuzzer's first inputs. corpus/small of a released format is
 * also what container_test opens as a golden package: it is never written again while that format
 * is read.
 */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "packages/tar_member.h"
#include "tests/packages/package_fixture.h"

static char folder[800];

static const char *path_of(const char *name)
{
	static char path[1024];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

/* A member as fuzz_package's raw form has it: count of blocks, header, one block of data. */
static int put_raw(struct tf_bytes *raw, const char *name)
{
	uint8_t header[TF_TAR_HEADER_BYTES];
	size_t header_bytes = tf_tar_header_build(name, 512, header);
	void *data;

	return tf_bytes_append(raw, "\1", 1, NULL) == TF_OK &&
		tf_bytes_append(raw, header, header_bytes, NULL) == TF_OK &&
		tf_bytes_extend(raw, 512, &data, NULL) == TF_OK;
}

static int write_raw(void)
{
	struct tf_bytes raw = {0};
	void *end;
	int ok = tf_bytes_append(&raw, "R", 1, NULL) == TF_OK && put_raw(&raw, TF_PACKAGE_CATALOG) &&
		put_raw(&raw, "a/b") && tf_bytes_append(&raw, "\1", 1, NULL) == TF_OK &&
		tf_bytes_extend(&raw, TF_TAR_END_BYTES, &end, NULL) == TF_OK;

	if (ok)
		fixture_store(path_of("raw"), raw.data, raw.size);
	tf_bytes_fini(&raw);
	return ok;
}

int main(int argc, char **argv)
{
	struct tf_error err = {0};
	struct tf_bytes small;

	if (argc != 2 || strlen(argv[1]) >= sizeof(folder))
		return 2;
	strcpy(folder, argv[1]);
	if (fixture_write(path_of("small"), fixture_small(), FIXTURE_SMALL_COUNT, &err) != TF_OK ||
		fixture_write(path_of("catalog"), fixture_small(), 1, &err) != TF_OK) {
		fprintf(stderr, "package_corpus: %s\n", err.text);
		return 1;
	}
	small = fixture_load(path_of("small"));
	fixture_store(path_of("cut"), small.data, small.size / 2);
	fixture_store(path_of("tail"), small.data + small.size / 2, small.size - small.size / 2);
	small.data[20] ^= 4;
	fixture_store(path_of("flipped"), small.data, small.size);
	fixture_store(path_of("empty"), "", 0);
	tf_bytes_fini(&small);
	return write_raw() ? 0 : 1;
}
