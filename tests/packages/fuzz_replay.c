/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The main of a fuzzer built without libFuzzer: runs it on every file of the folders named as
 * arguments.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* 1 if the entry is a file and was run, 0 if it is none, -1 if it cannot be read. */
static int run_entry(int folder_fd, const char *name)
{
	int fd = openat(folder_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat file;
	uint8_t *data;
	int ran = 0;

	if (fd < 0 || fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) {
		if (fd >= 0)
			close(fd);
		return fd < 0 ? -1 : 0;
	}
	data = tf_calloc((size_t)file.st_size, 1);
	if (!data || read(fd, data, (size_t)file.st_size) != file.st_size)
		ran = -1;
	else
		ran = LLVMFuzzerTestOneInput(data, (size_t)file.st_size) == 0 ? 1 : -1;
	tf_free(data);
	close(fd);
	return ran;
}

static int run_folder(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int total = 0;

	while (folder && (entry = readdir(folder))) {
		int ran = run_entry(dirfd(folder), entry->d_name);

		if (ran < 0) {
			fprintf(stderr, "cannot run '%s/%s'\n", path, entry->d_name);
			total = 0;
			break;
		}
		total += ran;
	}
	if (folder)
		closedir(folder);
	return total;
}

/* Fails where a folder has nothing to run: a corpus that went away must be noticed. */
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int ran = run_folder(argv[i]);

		printf("%s: %d inputs\n", argv[i], ran);
		if (ran == 0)
			return 1;
	}
	return argc > 1 ? 0 : 2;
}
