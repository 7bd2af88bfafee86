/* SPDX-License-Identifier: Apache-2.0 */
/* What the environment asks the fake NCCL for, its log, and the calls that have no communicator. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/nccl/fake_communicator.h"

void fake_note(const char *fmt, ...)
{
	const char *path = getenv("FAKE_NCCL_LOG");
	char line[256];
	va_list args;
	int fd, size;

	if (!path)
		return;
	va_start(args, fmt);
	size = vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);
	if (fd < 0 || write(fd, line, (size_t)size) != size)
		abort();
	close(fd);
}

int fake_asked_number(const char *variable, int otherwise)
{
	const char *text = getenv(variable);

	return text ? atoi(text) : otherwise;
}

int fake_asked(const char *variable, const char *name)
{
	const char *text = getenv(variable);
	size_t length = strlen(name);

	if (!text || strncmp(text, name, length) != 0)
		return 0;
	return text[length] == ':' ? atoi(text + length + 1) : !text[length];
}

int fake_leave(struct tf_nccl_comm *comm, int result)
{
	if (comm)
		fake_add(&comm->inside, -1);
	return result;
}

/* Until the abort. */
static void hang(const struct tf_nccl_comm *comm)
{
	int touches = fake_asked_number("FAKE_NCCL_TOUCH", 0);

	while (!(comm && fake_load(comm->aborted))) {
		const volatile char *given = comm ? __atomic_load_n(&comm->given, __ATOMIC_ACQUIRE) : NULL;

		if (touches && given)
			(void)*given;
		usleep(touches ? 0 : 1000);
	}
}

int fake_enter(struct tf_nccl_comm *comm, const char *name)
{
	if (comm && fake_load(&comm->has_ended))
		fake_note("VIOLATION: %s on a communicator that has ended\n", name);
	if (comm)
		fake_add(&comm->inside, 1);
	if (fake_asked("FAKE_NCCL_HANG", name)) {
		hang(comm);
		if (getenv("FAKE_NCCL_SLOW"))
			usleep(300000);
		return TF_NCCL_INTERNAL_ERROR;
	}
	usleep((useconds_t)fake_asked("FAKE_NCCL_TAKES", name) * 1000);
	return fake_asked("FAKE_NCCL_FAIL", name);
}

int ncclGetVersion(int *version)
{
	FAKE_ENTER(NULL);
	*version = fake_asked_number("FAKE_NCCL_VERSION", TF_NCCL_VERSION(2, 28, 9));
	return TF_NCCL_SUCCESS;
}

const char *ncclGetErrorString(int result)
{
	return result == TF_NCCL_INTERNAL_ERROR ? "internal error"
		: result == TF_NCCL_REMOTE_ERROR    ? "remote process exited or there was a network error"
											: "a result of the fake's";
}

const char *ncclGetLastError(struct tf_nccl_comm *comm)
{
	(void)comm;
	return getenv("FAKE_NCCL_FAIL") ? "it was told to" : "";
}

int ncclGetUniqueId(struct tf_nccl_unique_id *id)
{
	int fd;

	FAKE_ENTER(NULL);
	fd = memfd_create("fake-nccl", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, (off_t)FAKE_BOARDS_BYTES) < 0)
		abort();
	memset(id, 0, sizeof(*id));
	snprintf(id->internal, sizeof(id->internal), FAKE_ID, (int)getpid(), fd);
	return TF_NCCL_SUCCESS;
}

int ncclGroupStart(void)
{
	FAKE_ENTER(NULL);
	return TF_NCCL_SUCCESS;
}

int ncclGroupEnd(void)
{
	FAKE_ENTER(NULL);
	return TF_NCCL_SUCCESS;
}
