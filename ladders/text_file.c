/* SPDX-License-Identifier: Apache-2.0 */
/* Reading bounded text files; finding built-in ones. */
#include "ladders/text_file.h"
#include "base/near_miss.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_BYTES 16384

static enum tf_status check_kind(int fd, const char *path, struct tf_error *err)
{
	struct stat info;

	if (fstat(fd, &info))
		return TF_FAIL_ERRNO(err, "cannot read '%s'", path);
	if (S_ISDIR(info.st_mode))
		return TF_FAIL(err, TF_E_INVALID, "cannot read '%s': it is a directory", path);
	if (!S_ISREG(info.st_mode))
		return TF_FAIL(err, TF_E_INVALID, "cannot read '%s': it is not a regular file", path);
	return TF_OK;
}

static enum tf_status read_all(
	int fd, const char *path, size_t max_bytes, struct tf_bytes *out, struct tf_error *err)
{
	char block[READ_BYTES];
	size_t total = 0;

	for (;;) {
		ssize_t got = read(fd, block, sizeof(block));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return TF_FAIL_ERRNO(err, "cannot read '%s'", path);
		if (got == 0)
			return TF_OK;
		total += (size_t)got;
		if (total > max_bytes)
			return TF_FAIL(err, TF_E_INVALID,
				"cannot read '%s': longer than %zu bytes, the most allowed", path, max_bytes);
		TF_TRY(tf_bytes_append(out, block, (size_t)got, err));
	}
}

enum tf_status tf_text_file_read(
	const char *path, size_t max_bytes, struct tf_bytes *out, struct tf_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	enum tf_status status;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return TF_FAIL(err, TF_E_NOT_FOUND, "cannot read '%s': there is no such file", path);
	if (fd < 0)
		return TF_FAIL_ERRNO(err, "cannot read '%s'", path);
	status = check_kind(fd, path, err);
	if (status == TF_OK)
		status = read_all(fd, path, max_bytes, out, err);
	close(fd);
	return status;
}

const struct tf_text_file *tf_text_file_find(const struct tf_text_file *files, const char *name)
{
	for (; files->name; files++) {
		if (!strcmp(files->name, name))
			return files;
	}
	return NULL;
}

enum tf_status tf_text_file_fail_unknown(const struct tf_text_file *files, const char *what,
	const char *name, const char *also, struct tf_error *err)
{
	char allowed[512] = "";
	struct tf_near_miss miss = {.word = name, .word_length = strlen(name)};
	const char *near;
	size_t used = 0;

	for (; files->name; files++) {
		int wanted =
			snprintf(allowed + used, sizeof(allowed) - used, "%s%s", used ? ", " : "", files->name);

		used += wanted > 0 ? (size_t)wanted : 0;
		used = used < sizeof(allowed) ? used : sizeof(allowed) - 1;
		tf_near_miss_offer(&miss, files->name, strlen(files->name));
	}
	near = miss.best;
	return TF_FAIL(err, TF_E_NOT_FOUND, "no built-in %s '%.80s'%s%s%s, allowed: %s%s", what, name,
		near ? ", did you mean '" : "", near ? near : "", near ? "'" : "", allowed, also);
}
