/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An NCCL for tests of the communicator: libnccl.so.2 on host memory, whose ranks are processes
 * that meet in shared memory named after the unique id. As NCCL's own: a non-blocking communicator
 * begins and is polled; the split of one too; a blocking one returns once enqueued, but connects
 * its peers in its first call unless NCCL_RUNTIME_CONNECT is 0 when it is made; a family shares one
 * abort flag. What runs on a stream waits for all ranks, or for the abort.
 *
 * The environment says what goes wrong: FAKE_NCCL_FAIL (NAME:CODE; "later:CODE" fails what was
 * begun), FAKE_NCCL_HANG (NAME: a call that returns only after the abort, and never where there is
 * no communicator yet; FAKE_NCCL_SLOW: some time after it, and a split takes half a
 * second), FAKE_NCCL_VERSION, FAKE_NCCL_BITS (every sum's first element is off by a bit).
 *
 * FAKE_NCCL_LOG names a file that gets a line a call that counts, and VIOLATION where the caller
 * breaks a rule of NCCL's. On a NULL stream work is done, or aborted, when the call returns. What
 * has ended stays in memory, so that its use is seen.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/collective/collective.h"
#include "runtime/comm/nccl/nccl_api.h"
#include "tests/nccl/fake_stream.h"

#define EXPORT     __attribute__((visibility("default")))
#define SLOT_BYTES (UINT32_C(1) << 21) /* the largest input */

struct board {
	atomic_uint called[TF_WORLD_MAX]; /* meetings of calls that a rank has come to */
	atomic_uint worked[TF_WORLD_MAX]; /* of work on streams */
	uint8_t slots[TF_WORLD_MAX][SLOT_BYTES];
};

struct tf_nccl_comm {
	struct tf_nccl_comm *next, *parent; /* all of this process; NULL for a parent */
	struct board *board;
	char name[TF_NCCL_UNIQUE_ID_BYTES + 32];
	unsigned rank, world, calls, works, splits;
	int blocking, is_connected;
	atomic_int *aborted; /* of the family */
	atomic_int state, inside, pending, has_ended;
};

struct work {
	struct tf_nccl_comm *comm;
	struct CUstream_st *stream;
	enum tf_op op;
	enum tf_dtype dtype;
	uint64_t count; /* of the input */
	const void *from;
	void *to;
};

#define DECLARE(name, since, parameters) EXPORT int name parameters;
TF_NCCL_CALLS(DECLARE)
#undef DECLARE
#define DECLARE(name, since, parameters) EXPORT const char *name parameters;
TF_NCCL_TEXTS(DECLARE)
#undef DECLARE

static struct tf_nccl_comm *all_comms; /* reachable for ever; __atomic: ranks may be threads */

/* What the table looks for: this library takes the host's memory. */
EXPORT const char fake_nccl_runs_on_host = 1;

static void note(const char *fmt, ...) TF_PRINTF(1, 2);
static void note(const char *fmt, ...)
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

static int asked(const char *variable, const char *name)
{
	const char *text = getenv(variable);
	size_t length = strlen(name);

	if (!text || strncmp(text, name, length) != 0)
		return 0;
	return text[length] == ':' ? atoi(text + length + 1) : !text[length];
}

static int leave(struct tf_nccl_comm *comm, int result)
{
	if (comm)
		comm->inside--;
	return result;
}

/* Every call begins here, and ends in leave where it has a communicator. */
static int enter(struct tf_nccl_comm *comm, const char *name)
{
	if (comm && comm->has_ended)
		note("VIOLATION: %s on a communicator that has ended\n", name);
	if (comm)
		comm->inside++;
	if (asked("FAKE_NCCL_HANG", name)) {
		while (!(comm && *comm->aborted))
			usleep(1000);
		if (getenv("FAKE_NCCL_SLOW"))
			usleep(300000);
		return TF_NCCL_INTERNAL_ERROR;
	}
	return asked("FAKE_NCCL_FAIL", name);
}

#define ENTER(comm)                                                                                \
	do {                                                                                           \
		int result_ = enter(comm, __func__);                                                       \
		if (result_)                                                                               \
			return leave(comm, result_);                                                           \
	} while (0)

int ncclGetVersion(int *version)
{
	const char *text = getenv("FAKE_NCCL_VERSION");

	ENTER(NULL);
	*version = text ? atoi(text) : TF_NCCL_VERSION(2, 28, 9);
	return TF_NCCL_SUCCESS;
}

const char *ncclGetErrorString(int result)
{
	return result == TF_NCCL_REMOTE_ERROR ? "remote process exited or there was a network error"
										  : "a result of the fake's";
}

const char *ncclGetLastError(struct tf_nccl_comm *comm)
{
	(void)comm;
	return "";
}

int ncclGetUniqueId(struct tf_nccl_unique_id *id)
{
	static int made;

	ENTER(NULL);
	memset(id, 0, sizeof(*id));
	snprintf(id->internal, sizeof(id->internal), "/fake-nccl-%d-%d", (int)getpid(), made++);
	return TF_NCCL_SUCCESS;
}

/* 0 once all ranks came; 1 if the family was aborted first. */
static int meet(struct tf_nccl_comm *comm, atomic_uint *came, unsigned mine)
{
	atomic_store(&came[comm->rank], mine);
	for (unsigned r = 0; r < comm->world; r++) {
		while ((int)(atomic_load(&came[r]) - mine) < 0) {
			if (*comm->aborted)
				return 1;
			usleep(20);
		}
	}
	return 0;
}

static struct board *open_board(const char *name)
{
	int fd = shm_open(name, O_RDWR | O_CREAT, 0600);
	struct board *board;

	if (fd < 0 || ftruncate(fd, sizeof(*board)) < 0)
		abort();
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (board == MAP_FAILED)
		abort();
	return board;
}

static struct tf_nccl_comm *make(const char *name, int rank, int world)
{
	struct tf_nccl_comm *comm = calloc(1, sizeof(*comm));
	const char *connect = getenv("NCCL_RUNTIME_CONNECT");

	if (!comm)
		abort();
	snprintf(comm->name, sizeof(comm->name), "%s", name);
	comm->board = open_board(name);
	comm->rank = (unsigned)rank;
	comm->world = (unsigned)world;
	comm->is_connected = connect && strcmp(connect, "0") == 0;
	comm->state = TF_NCCL_IN_PROGRESS;
	comm->next = __atomic_load_n(&all_comms, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(
		&all_comms, &comm->next, comm, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return comm;
}

struct birth {
	struct tf_nccl_comm *comm, *ready; /* whose state says so */
	struct tf_nccl_comm **out;         /* a split's, set when it is there */
};

static void *be_born(void *user)
{
	struct birth *birth = user;
	struct tf_nccl_comm *comm = birth->comm;
	int failed = meet(comm, comm->board->called, ++comm->calls);

	if (birth->out && getenv("FAKE_NCCL_SLOW"))
		usleep(500000);
	/* Everybody has it open; the name may go, and does so with whoever is first. */
	shm_unlink(comm->name);
	if (birth->out && !failed)
		__atomic_store_n(birth->out, comm, __ATOMIC_RELEASE);
	comm->state = failed ? TF_NCCL_INTERNAL_ERROR : TF_NCCL_SUCCESS;
	if (failed || !birth->out)
		birth->ready->state = comm->state;
	birth->ready->pending--;
	free(birth);
	return NULL;
}

static void bear(struct tf_nccl_comm *comm, struct tf_nccl_comm *ready, struct tf_nccl_comm **out)
{
	struct birth *birth = calloc(1, sizeof(*birth));
	pthread_t thread;

	if (!birth)
		abort();
	*birth = (struct birth){comm, ready, out};
	ready->pending++;
	if (!out) /* a parent may be through before its split is handed over */
		ready->state = TF_NCCL_IN_PROGRESS;
	if (pthread_create(&thread, NULL, be_born, birth) != 0)
		abort();
	pthread_detach(thread);
}

int ncclCommInitRankConfig(struct tf_nccl_comm **comm, int world, struct tf_nccl_unique_id id,
	int rank, struct tf_nccl_config *config)
{
	const char *connect = getenv("NCCL_RUNTIME_CONNECT");
	struct tf_nccl_comm *made;

	ENTER(NULL);
	note("rank %d: init, NCCL_RUNTIME_CONNECT=%s\n", rank, connect ? connect : "");
	if (config->size != sizeof(*config) || config->magic != TF_NCCL_CONFIG_MAGIC ||
		world > TF_WORLD_MAX)
		return TF_NCCL_INVALID_ARGUMENT;
	if (config->blocking != 0)
		note("VIOLATION: a parent that blocks\n");
	made = make(id.internal, rank, world);
	made->aborted = calloc(1, sizeof(*made->aborted));
	if (!made->aborted)
		abort();
	__atomic_store_n(comm, made, __ATOMIC_RELEASE);
	bear(made, made, NULL);
	return TF_NCCL_IN_PROGRESS;
}

int ncclCommSplit(struct tf_nccl_comm *comm, int color, int key, struct tf_nccl_comm **split,
	struct tf_nccl_config *config)
{
	char name[sizeof(comm->name) + 16];
	struct tf_nccl_comm *made;

	ENTER(comm);
	if (color != 0 || key != (int)comm->rank)
		note("VIOLATION: a split that reorders ranks\n");
	if (config->blocking != 1 || config->split_share != 1)
		note("VIOLATION: a split that does not block, or does not share\n");
	snprintf(name, sizeof(name), "%s-%u", comm->name, comm->splits++);
	made = make(name, key, (int)comm->world);
	made->parent = comm;
	made->blocking = config->blocking == 1;
	made->aborted = comm->aborted;
	bear(made, comm, split);
	return leave(comm, TF_NCCL_IN_PROGRESS);
}

int ncclCommGetAsyncError(struct tf_nccl_comm *comm, int *result)
{
	int later = asked("FAKE_NCCL_FAIL", "later");

	ENTER(comm);
	*result = later ? later : (int)comm->state;
	return leave(comm, TF_NCCL_SUCCESS);
}

static int end(struct tf_nccl_comm *comm, const char *how)
{
	note("rank %u: %s %s\n", comm->rank, how, comm->parent ? "split" : "parent");
	while (comm->pending)
		usleep(100);
	comm->has_ended = 1;
	munmap(comm->board, sizeof(*comm->board));
	return leave(comm, TF_NCCL_SUCCESS);
}

int ncclCommFinalize(struct tf_nccl_comm *comm)
{
	ENTER(comm);
	return leave(comm, TF_NCCL_SUCCESS);
}

int ncclCommDestroy(struct tf_nccl_comm *comm)
{
	ENTER(comm);
	if (comm->parent && comm->parent->has_ended)
		note("VIOLATION: the parent was destroyed before the split\n");
	return end(comm, "destroy");
}

int ncclCommAbort(struct tf_nccl_comm *comm)
{
	ENTER(comm);
	if (comm->parent && !comm->parent->has_ended)
		note("VIOLATION: the split was aborted before the parent\n");
	if (comm->parent && comm->inside > 1)
		note("VIOLATION: the split was freed under a call\n");
	*comm->aborted = 1;
	return end(comm, "abort");
}

static void run(void *user)
{
	const struct work *work = user;
	struct tf_nccl_comm *comm = work->comm;
	struct board *board = comm->board;
	const void *inputs[TF_WORLD_MAX];

	if (!*comm->aborted) {
		memcpy(board->slots[comm->rank], work->from, work->count * tf_dtype_bytes(work->dtype));
		for (unsigned r = 0; r < comm->world; r++)
			inputs[r] = board->slots[r];
		if (meet(comm, board->worked, ++comm->works) == 0) {
			tf_reference(
				work->op, work->dtype, comm->world, comm->rank, work->count, inputs, work->to);
			if (getenv("FAKE_NCCL_BITS") && work->op != TF_OP_ALL_GATHER)
				*(uint8_t *)work->to ^= 1;
			(void)meet(comm, board->worked, ++comm->works);
		}
	}
	comm->pending--;
}

/* 1: aborted while it waited for its peers. */
static int connect_peers(struct tf_nccl_comm *comm)
{
	if (!comm->is_connected && meet(comm, comm->board->called, ++comm->calls))
		return 1;
	comm->is_connected = 1;
	return 0;
}

static void *launch(void *user)
{
	struct work *work = user;
	struct tf_nccl_comm *comm = work->comm;
	int failed = connect_peers(comm);

	comm->pending++;
	if (failed) {
		comm->pending--;
		free(work);
	} else if (work->stream) {
		fake_stream_push(work->stream, run, work);
	} else {
		run(work);
		free(work);
		failed = *comm->aborted;
	}
	comm->state = failed ? TF_NCCL_INTERNAL_ERROR : TF_NCCL_SUCCESS;
	comm->pending--;
	return NULL;
}

static int enqueue(const struct work *what)
{
	struct tf_nccl_comm *comm = what->comm;
	struct work *work;
	pthread_t thread;

	if (what->count * tf_dtype_bytes(what->dtype) > SLOT_BYTES)
		return leave(comm, TF_NCCL_INVALID_ARGUMENT);
	work = malloc(sizeof(*work));
	if (!work)
		abort();
	*work = *what;
	comm->pending++;
	if (comm->blocking) {
		launch(work);
		return leave(comm, (int)comm->state);
	}
	comm->state = TF_NCCL_IN_PROGRESS;
	if (pthread_create(&thread, NULL, launch, work) != 0)
		abort();
	pthread_detach(thread);
	return leave(comm, TF_NCCL_IN_PROGRESS);
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
	struct work work = {comm, stream, TF_OP_ALL_REDUCE, dtype_of(dtype), count, from, to};

	ENTER(comm);
	return op == TF_NCCL_SUM ? enqueue(&work) : leave(comm, TF_NCCL_INVALID_ARGUMENT);
}

int ncclAllGather(const void *from, void *to, size_t send_count, int dtype,
	struct tf_nccl_comm *comm, struct CUstream_st *stream)
{
	struct work work = {comm, stream, TF_OP_ALL_GATHER, dtype_of(dtype), send_count, from, to};

	ENTER(comm);
	return enqueue(&work);
}

int ncclReduceScatter(const void *from, void *to, size_t receive_count, int dtype, int op,
	struct tf_nccl_comm *comm, struct CUstream_st *stream)
{
	struct work work = {
		comm, stream, TF_OP_REDUCE_SCATTER, dtype_of(dtype), receive_count, from, to};

	ENTER(comm);
	work.count *= comm->world;
	return op == TF_NCCL_SUM ? enqueue(&work) : leave(comm, TF_NCCL_INVALID_ARGUMENT);
}

int ncclGroupStart(void)
{
	ENTER(NULL);
	return TF_NCCL_SUCCESS;
}

int ncclGroupEnd(void)
{
	ENTER(NULL);
	return TF_NCCL_SUCCESS;
}

int ncclMemAlloc(void **out, size_t bytes)
{
	(void)out, (void)bytes;
	return TF_NCCL_INVALID_USAGE;
}

int ncclMemFree(void *memory)
{
	(void)memory;
	return TF_NCCL_INVALID_USAGE;
}

int ncclCommWindowRegister(
	struct tf_nccl_comm *comm, void *memory, size_t bytes, struct tf_nccl_window **out, int flags)
{
	(void)comm, (void)memory, (void)bytes, (void)out, (void)flags;
	return TF_NCCL_INVALID_USAGE;
}

int ncclCommWindowDeregister(struct tf_nccl_comm *comm, struct tf_nccl_window *window)
{
	(void)comm, (void)window;
	return TF_NCCL_INVALID_USAGE;
}
