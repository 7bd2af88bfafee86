/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Temporary files that become their target by rename.
 * 1. The folder is held open, so that a rename or a changed working directory cannot lead
 *    elsewhere.
 * 2. The target is not touched before the rename.
 * 3. Nothing but a regular file, or a link to one, is ever replaced: a device or a FIFO serves
 *    others.
 * 4. Temporaries of other processes are never removed: on a shared folder a process that is not
 *    here may run on another machine.
 */
#include "packages/temporary_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"

#define NAME_FORM   "tfprep-%ld-%016" PRIx64 ".tmp"
#define TRIES_MAX   16    /* 64 random bits do not meet twice */
#define STALE_MAX   8     /* lines of report that a person still reads */
#define ENTRIES_MAX 65536 /* of a folder looked through: this is a courtesy, not a duty */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The folder with its slash, "" for the current one: a prefix for names. */
static int folder_length(const char *path)
{
	return (int)(base_name(path) - path);
}

/*
 * Whether `name` leads to an open file of this process, as /dev/stdout does: the rename would put a
 * file in the link's place, for every process.
 */
static int is_descriptor(int folder_fd, const char *name)
{
	static const char proc[] = "/proc/";
	char to[sizeof(proc)] = {0};

	return readlinkat(folder_fd, name, to, sizeof(to) - 1) == (ssize_t)sizeof(to) - 1 &&
		strcmp(to, proc) == 0;
}

static enum tf_status check_target(int folder_fd, const char *target, struct tf_error *err)
{
	const char *name = base_name(target);
	struct stat found;
	int exists;

	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return TF_FAIL(err, TF_E_USAGE, "cannot write '%s': it names no file", target);
	exists = fstatat(folder_fd, name, &found, 0) == 0;
	if (exists && S_ISDIR(found.st_mode))
		return TF_FAIL(err, TF_E_USAGE, "cannot write '%s': it is a folder", target);
	if (is_descriptor(folder_fd, name) || (exists && !S_ISREG(found.st_mode)))
		return TF_FAIL(err, TF_E_USAGE,
			"cannot write '%s': it is a special file, which a regular one would replace", target);
	return TF_OK;
}

static enum tf_status open_folder(const char *target, int *out_fd, struct tf_error *err)
{
	int length = folder_length(target);
	char *folder = length ? tf_strndup(target, (size_t)length) : tf_strdup("./");
	enum tf_status status = TF_OK;
	int fd = -1;

	if (!folder)
		return TF_FAIL(err, TF_E_NO_MEMORY, "cannot write '%s': no memory", target);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		status = TF_FAIL(
			err, TF_E_NOT_FOUND, "cannot write '%s': there is no folder '%s'", target, folder);
	else if (fd < 0)
		status = TF_FAIL_ERRNO(err, "cannot write '%s': folder '%s'", target, folder);
	else
		*out_fd = fd;
	tf_free(folder);
	return status;
}

/* The process that a temporary's name tells of, or 0. */
static long owner_of(const char *name)
{
	uint64_t random = 0;
	long pid = 0;
	int end = 0;

	if (sscanf(name, "tfprep-%ld-%16" SCNx64 ".tmp%n", &pid, &random, &end) != 2)
		return 0;
	return end > 0 && !name[end] && pid > 0 ? pid : 0;
}

static void report_stale(int folder_fd, const char *target)
{
	int own = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = own < 0 ? NULL : fdopendir(own);
	struct dirent *entry;
	int stale = 0;

	if (!folder) {
		if (own >= 0)
			close(own);
		return;
	}
	for (int i = 0; i < ENTRIES_MAX && stale < STALE_MAX && (entry = readdir(folder)); i++) {
		long pid = owner_of(entry->d_name);

		if (pid == 0 || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
			continue;
		stale++;
		tf_log(TF_LOG_WARN,
			"'%.*s%s' was left by process %ld, which does not run here any more: it can be removed "
			"unless that process runs on another machine",
			folder_length(target), target, entry->d_name, pid);
	}
	closedir(folder);
}

/* One try at a fresh name. EEXIST goes back as TF_OK without a descriptor. */
static enum tf_status create(struct tf_temporary *file, struct tf_error *err)
{
	uint64_t random;

	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return TF_FAIL_ERRNO(err, "cannot write '%s': getrandom", file->target);
	tf_free(file->path);
	file->path = tf_asprintf(
		"%.*s" NAME_FORM, folder_length(file->target), file->target, (long)getpid(), random);
	if (!file->path)
		return TF_FAIL(err, TF_E_NO_MEMORY, "cannot write '%s': no memory", file->target);
	file->fd = openat(file->folder_fd, base_name(file->path),
		O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (file->fd < 0 && errno != EEXIST)
		return TF_FAIL_ERRNO(
			err, "cannot write '%s': cannot create '%s'", file->target, file->path);
	return TF_OK;
}

static enum tf_status open_file(
	const char *target, int name_stale, struct tf_temporary *out, struct tf_error *err)
{
	struct tf_temporary file = TF_TEMPORARY_NONE;
	enum tf_status status = open_folder(target, &file.folder_fd, err);

	if (status != TF_OK)
		return status;
	status = check_target(file.folder_fd, target, err);
	if (status != TF_OK)
		goto fail;
	file.target = tf_strdup(target);
	if (!file.target) {
		status = TF_FAIL(err, TF_E_NO_MEMORY, "cannot write '%s': no memory", target);
		goto fail;
	}
	if (name_stale)
		report_stale(file.folder_fd, target);
	for (int i = 0; status == TF_OK && file.fd < 0 && i < TRIES_MAX; i++)
		status = create(&file, err);
	if (status == TF_OK && file.fd < 0)
		status = TF_FAIL(err, TF_E_SYSTEM, "cannot write '%s': '%s' and %d names like it exist",
			target, file.path, TRIES_MAX - 1);
	if (status != TF_OK)
		goto fail;
	*out = file;
	return TF_OK;
fail:
	tf_temporary_close(&file);
	return status;
}

enum tf_status tf_temporary_open(const char *target, struct tf_temporary *out, struct tf_error *err)
{
	return open_file(target, 1, out, err);
}

enum tf_status tf_temporary_try(const char *target, struct tf_error *err)
{
	struct tf_temporary file = TF_TEMPORARY_NONE;

	TF_TRY(open_file(target, 0, &file, err));
	tf_temporary_close(&file);
	return TF_OK;
}

enum tf_status tf_temporary_write(
	struct tf_temporary *file, const void *data, size_t bytes, struct tf_error *err)
{
	const char *from = data;

	while (bytes > 0) {
		ssize_t n = write(file->fd, from, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return TF_FAIL_ERRNO(err, "cannot write '%s': write to '%s'", file->target, file->path);
		from += n;
		bytes -= (size_t)n;
	}
	return TF_OK;
}

enum tf_status tf_temporary_sync(struct tf_temporary *file, struct tf_error *err)
{
	if (fsync(file->fd) != 0)
		return TF_FAIL_ERRNO(err, "cannot write '%s': sync of '%s'", file->target, file->path);
	return TF_OK;
}

enum tf_status tf_temporary_rename(struct tf_temporary *file, struct tf_error *err)
{
	if (renameat(
			file->folder_fd, base_name(file->path), file->folder_fd, base_name(file->target)) != 0)
		return TF_FAIL_ERRNO(err, "cannot write '%s': rename of '%s'", file->target, file->path);
	file->renamed = 1;
	/*
	 * EINVAL: a file system without such a sync keeps the order of renames by itself or not at all.
	 */
	if (fsync(file->folder_fd) != 0 && errno != EINVAL)
		return TF_FAIL_ERRNO(
			err, "'%s' is in place, but its folder cannot be synced", file->target);
	return TF_OK;
}

void tf_temporary_close(struct tf_temporary *file)
{
	if (file->fd >= 0) {
		if (!file->renamed)
			unlinkat(file->folder_fd, base_name(file->path), 0);
		close(file->fd);
	}
	if (file->folder_fd >= 0)
		close(file->folder_fd);
	tf_free(file->path);
	tf_free(file->target);
	*file = TF_TEMPORARY_NONE;
}
