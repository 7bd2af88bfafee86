/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An NCCL for tests: libnccl.so.2 whose ranks meet in a file of shared memory, and whose work runs
 * where the fake driver (tests/device) runs kernels. What it shows and where it fails is in the
 * environment:
 *
 * FAKE_NCCL_VERSION, FAKE_NCCL_FAIL (NAME:CODE, a function that fails), FAKE_NCCL_HANG (NAME, a
 * function that never returns), FAKE_NCCL_LATE (1: work that never ends), FAKE_NCCL_NO_WINDOW (1:
 * windows are NULL), FAKE_NCCL_BITS (a number that every sum's first element is off by, in units of
 * the last place).
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/deadline.h"
#include "runtime/collective/collective.h"
#include "runtime/comm/nccl/nccl_api.h"

#define EXPORT     __attribute__((visibility("default")))
#define SLOT_BYTES (1u << 20) /* the largest input */
#define WAIT_NS    (20 * TF_NS_PER_S)

/* In shared memory. */
struct board {
	atomic_uint arrived[TF_WORLD_MAX]; /* barriers that a rank has come to */
	uint8_t slots[TF_WORLD_MAX][SLOT_BYTES];
};

struct tf_nccl_comm {
	struct board *board;
	unsigned rank, world, barriers;
};

struct work {
	struct tf_nccl_comm *comm;
	enum tf_op op;
	enum tf_dtype dtype;
	uint64_t count; /* of the input */
	const void *from;
	void *to;
};

/* Every exported function, with the table's types. */
#define DECLARE(name, since, parameters) EXPORT int name parameters;
TF_NCCL_CALLS(DECLARE)
#undef DECLARE
#define DECLARE(name, since, parameters) EXPORT const char *name parameters;
TF_NCCL_TEXTS(DECLARE)
#undef DECLARE

static int asked(const char *variable, const char *name)
{
	const char *text = getenv(variable);
	size_t length = strlen(name);

	if (!text || strncmp(text, name, length) != 0)
		return 0;
	return text[length] == ':' ? atoi(text + length + 1) : !text[length];
}

static int enter(const char *name)
{
	while (asked("FAKE_NCCL_HANG", name))
		pause();
	return asked("FAKE_NCCL_FAIL", name);
}

#define ENTER()                                                                                    \
	do {                                                                                           \
		int result_ = enter(__func__);                                                             \
		if (result_)                                                                               \
			return result_;                                                                        \
	} while (0)

static int number(const char *name, int otherwise)
{
	const char *text = getenv(name);

	return text ? atoi(text) : otherwise;
}

int ncclGetVersion(int *version)
{
	ENTER();
	*version = number("FAKE_NCCL_VERSION", TF_NCCL_VERSION(2, 28, 3));
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
	static int made;

	ENTER();
	memset(id, 0, sizeof(*id));
	snprintf(id->internal, sizeof(id->internal), "/fake-nccl-%d-%d", (int)getpid(), made++);
	return TF_NCCL_SUCCESS;
}

/* A peer that is gone ends this process: nothing of NCCL's could go on. */
static void meet(struct tf_nccl_comm *comm)
{
	int64_t deadline = tf_deadline_after(WAIT_NS);
	unsigned mine = ++comm->barriers;

	atomic_store(&comm->board->arrived[comm->rank], mine);
	for (unsigned r = 0; r < comm->world; r++) {
		while ((int)(atomic_load(&comm->board->arrived[r]) - mine) < 0) {
			if (tf_deadline_passed(deadline))
				_exit(97);
			sched_yield();
		}
	}
}

int ncclCommInitRankConfig(struct tf_nccl_comm **comm, int world, struct tf_nccl_unique_id id,
	int rank, struct tf_nccl_config *config)
{
	struct tf_nccl_comm *made;
	int fd;

	ENTER();
	if (config->size != sizeof(*config) || config->magic != TF_NCCL_CONFIG_MAGIC ||
		config->version > TF_NCCL_VERSION_MIN || config->blocking == 0 || world > TF_WORLD_MAX)
		return TF_NCCL_INVALID_ARGUMENT;
	fd = shm_open(id.internal, O_RDWR | O_CREAT, 0600);
	made = calloc(1, sizeof(*made));
	if (fd < 0 || !made || ftruncate(fd, sizeof(struct board)) < 0)
		return TF_NCCL_SYSTEM_ERROR;
	made->board = mmap(NULL, sizeof(struct board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (made->board == MAP_FAILED)
		return TF_NCCL_SYSTEM_ERROR;
	made->rank = (unsigned)rank;
	made->world = (unsigned)world;
	meet(made);
	if (!rank)
		shm_unlink(id.internal);
	*comm = made;
	return TF_NCCL_SUCCESS;
}

int ncclCommSplit(struct tf_nccl_comm *comm, int color, int key, struct tf_nccl_comm **split,
	struct tf_nccl_config *config)
{
	(void)comm, (void)color, (void)key, (void)split, (void)config;
	ENTER();
	return TF_NCCL_INVALID_USAGE;
}

int ncclCommGetAsyncError(struct tf_nccl_comm *comm, int *result)
{
	(void)comm;
	ENTER();
	*result = asked("FAKE_NCCL_FAIL", "later");
	return TF_NCCL_SUCCESS;
}

int ncclCommFinalize(struct tf_nccl_comm *comm)
{
	(void)comm;
	ENTER();
	return TF_NCCL_SUCCESS;
}

int ncclCommDestroy(struct tf_nccl_comm *comm)
{
	ENTER();
	munmap(comm->board, sizeof(*comm->board));
	free(comm);
	return TF_NCCL_SUCCESS;
}

int ncclCommAbort(struct tf_nccl_comm *comm)
{
	ENTER();
	munmap(comm->board, sizeof(*comm->board));
	free(comm);
	return TF_NCCL_SUCCESS;
}

static void spoil(const struct work *work)
{
	int bits = number("FAKE_NCCL_BITS", 0);
	uint32_t whole;
	uint16_t half;

	if (work->op == TF_OP_ALL_GATHER)
		return;
	if (work->dtype == TF_DTYPE_F32) {
		memcpy(&whole, work->to, sizeof(whole));
		whole += (uint32_t)bits;
		memcpy(work->to, &whole, sizeof(whole));
		return;
	}
	memcpy(&half, work->to, sizeof(half));
	half = (uint16_t)(half + bits);
	memcpy(work->to, &half, sizeof(half));
}

static void run(void *user)
{
	const struct work *work = user;
	struct tf_nccl_comm *comm = work->comm;
	const void *inputs[TF_WORLD_MAX];

	while (number("FAKE_NCCL_LATE", 0))
		pause();
	memcpy(comm->board->slots[comm->rank], work->from, work->count * tf_dtype_bytes(work->dtype));
	meet(comm);
	for (unsigned r = 0; r < comm->world; r++)
		inputs[r] = comm->board->slots[r];
	tf_reference(work->op, work->dtype, comm->world, comm->rank, work->count, inputs, work->to);
	spoil(work);
	meet(comm);
}

static int enqueue(const struct work *work, struct CUstream_st *stream)
{
	int (*to_driver)(struct CUstream_st *, void (*)(void *), const void *, size_t) = NULL;
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

	if (work->count * tf_dtype_bytes(work->dtype) > SLOT_BYTES)
		return TF_NCCL_INVALID_ARGUMENT;
	if (driver)
		*(void **)&to_driver = dlsym(driver, "fake_enqueue");
	if (!to_driver || to_driver(stream, run, work, sizeof(*work)))
		return TF_NCCL_UNHANDLED_CUDA_ERROR;
	dlclose(driver);
	return TF_NCCL_SUCCESS;
}

static enum tf_dtype dtype_of(int dtype)
{
	return dtype == TF_NCCL_FLOAT32 ? TF_DTYPE_F32
		: dtype == TF_NCCL_FLOAT16  ? TF_DTYPE_F16
									: TF_DTYPE_BF16;
}

int ncclAllReduce(const void *from, void *to, size_t count, int dtype, int op,
	struct tf_nccl_comm *comm, struct CUstream_st *stream)
{
	struct work work = {comm, TF_OP_ALL_REDUCE, dtype_of(dtype), count, from, to};

	ENTER();
	return op == TF_NCCL_SUM ? enqueue(&work, stream) : TF_NCCL_INVALID_ARGUMENT;
}

int ncclAllGather(const void *from, void *to, size_t send_count, int dtype,
	struct tf_nccl_comm *comm, struct CUstream_st *stream)
{
	struct work work = {comm, TF_OP_ALL_GATHER, dtype_of(dtype), send_count, from, to};

	ENTER();
	return enqueue(&work, stream);
}

int ncclReduceScatter(const void *from, void *to, size_t receive_count, int dtype, int op,
	struct tf_nccl_comm *comm, struct CUstream_st *stream)
{
	struct work work = {comm, TF_OP_REDUCE_SCATTER, dtype_of(dtype), receive_count, from, to};

	ENTER();
	work.count *= comm->world;
	return op == TF_NCCL_SUM ? enqueue(&work, stream) : TF_NCCL_INVALID_ARGUMENT;
}

int ncclGroupStart(void)
{
	ENTER();
	return TF_NCCL_SUCCESS;
}

int ncclGroupEnd(void)
{
	ENTER();
	return TF_NCCL_SUCCESS;
}

int ncclMemAlloc(void **out, size_t bytes)
{
	ENTER();
	*out = aligned_alloc(TF_NCCL_WIN_ALIGNMENT_BYTES, bytes);
	return *out ? TF_NCCL_SUCCESS : TF_NCCL_UNHANDLED_CUDA_ERROR;
}

int ncclMemFree(void *memory)
{
	ENTER();
	free(memory);
	return TF_NCCL_SUCCESS;
}

int ncclCommWindowRegister(
	struct tf_nccl_comm *comm, void *memory, size_t bytes, struct tf_nccl_window **out, int flags)
{
	(void)comm;
	ENTER();
	if ((uintptr_t)memory % TF_NCCL_WIN_ALIGNMENT_BYTES || !bytes ||
		flags != TF_NCCL_WIN_COLL_SYMMETRIC)
		return TF_NCCL_INVALID_ARGUMENT;
	*out = number("FAKE_NCCL_NO_WINDOW", 0) ? NULL : (struct tf_nccl_window *)memory;
	return TF_NCCL_SUCCESS;
}

int ncclCommWindowDeregister(struct tf_nccl_comm *comm, struct tf_nccl_window *window)
{
	(void)comm, (void)window;
	ENTER();
	return TF_NCCL_SUCCESS;
}
