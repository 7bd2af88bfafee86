/* SPDX-License-Identifier: Apache-2.0 */
/* Files for the topology tests. */
#include "tests/topology/topology_fixture.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *tf_fixture_data(const char *name)
{
	static char path[PATH_MAX];

	assert_true(snprintf(path, sizeof(path), "%s/%s", TF_TOPOLOGY_DATA, name) < PATH_MAX);
	return path;
}

char *tf_fixture_load(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t size = 0, got;
	FILE *to = open_memstream(&text, &size);
	char block[4096];

	assert_non_null(file);
	assert_non_null(to);
	while ((got = fread(block, 1, sizeof(block), file)))
		assert_int_equal(fwrite(block, 1, got, to), got);
	assert_false(ferror(file));
	fclose(file);
	assert_int_equal(fclose(to), 0);
	return text;
}

void tf_fixture_write(const char *root, const char *path, const char *text)
{
	char full[PATH_MAX];
	FILE *file;

	assert_true(snprintf(full, sizeof(full), "%s/%s", root, path) < PATH_MAX);
	for (char *slash = strchr(full + strlen(root) + 1, '/'); slash;
		 slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		assert_true(!mkdir(full, 0700) || errno == EEXIST);
		*slash = '/';
	}
	file = fopen(full, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

void tf_fixture_make_folder(char *out, size_t size)
{
	const char *base = getenv("TMPDIR");

	assert_true(snprintf(out, size, "%s/tf-topology-XXXXXX", base ? base : "/tmp") < (int)size);
	assert_non_null(mkdtemp(out));
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

void tf_fixture_remove_folder(const char *path)
{
	assert_int_equal(nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

char tf_fixture_folder[256], tf_fixture_edited[320];

int tf_fixture_set_up(void **state)
{
	(void)state;
	tf_fixture_make_folder(tf_fixture_folder, sizeof(tf_fixture_folder));
	snprintf(tf_fixture_edited, sizeof(tf_fixture_edited), "%s/edited.xml", tf_fixture_folder);
	return 0;
}

int tf_fixture_tear_down(void **state)
{
	(void)state;
	tf_fixture_remove_folder(tf_fixture_folder);
	return 0;
}

/* A copy of `text` with each `from` replaced; frees `text`. */
static char *replace_all(char *text, const char *from, const char *to)
{
	char *out = NULL, *at = text, *hit;
	size_t size = 0;
	FILE *file = open_memstream(&out, &size);

	assert_non_null(file);
	assert_non_null(strstr(text, from));
	while ((hit = strstr(at, from))) {
		fprintf(file, "%.*s%s", (int)(hit - at), at, to);
		at = hit + strlen(from);
	}
	fputs(at, file);
	assert_int_equal(fclose(file), 0);
	free(text);
	return out;
}

void tf_fixture_edit(const char *name, const char *to, const char *const *pairs)
{
	char *text = tf_fixture_load(tf_fixture_data(name));
	FILE *file;

	for (; *pairs; pairs += 2)
		text = replace_all(text, pairs[0], pairs[1]);
	file = fopen(to, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	free(text);
}

struct tf_topology *tf_fixture_read(const char *path)
{
	const struct tf_topology_options options = {.size = sizeof(options), .xml_path = path};
	struct tf_topology *topology = NULL;
	struct tf_error err = {0};
	enum tf_status status = tf_topology_read(&options, &topology, &err);

	if (status != TF_OK)
		print_error("%s\n", err.text);
	assert_int_equal(status, TF_OK);
	return topology;
}
