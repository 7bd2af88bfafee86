/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   init, split - all ranks meet - there - destroy or abort - ended
 *
 * Of a communicator that blocks the meeting is in the call, of another one on a thread.
 */
#include "tests/nccl/fake_communicator.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/deadline.h"
#include "tests/nccl/fake_stream.h"

#define PEER_NS (20 * TF_NS_PER_S) /* far above what a busy machine needs to start a rank */
#define YIELDS  20000              /* a peer that runs comes within these */

static struct tf_nccl_comm *all_comms; /* reachable for ever; __atomic: ranks may be threads */

int fake_meet(struct tf_nccl_comm *comm, int *came, int mine, int is_bounded)
{
	int64_t deadline = is_bounded ? tf_deadline_after(PEER_NS) : TF_DEADLINE_NEVER;
	unsigned polls = 0;

	fake_store(&came[comm->rank], mine);
	for (unsigned r = 0; r < comm->world; r++) {
		while (fake_load(&came[r]) < mine) {
			if (fake_load(comm->aborted))
				return 1;
			if (tf_deadline_passed(deadline))
				_exit(97);
			if (polls++ < YIELDS)
				sched_yield();
			else
				usleep(20);
		}
	}
	return 0;
}

/* The file of a family's boards, by its id; -1: whoever made the id is gone. */
static int open_boards(const struct tf_nccl_unique_id *id)
{
	char path[64];
	struct stat info;
	int pid, made, fd;

	if (sscanf(id->internal, FAKE_ID, &pid, &made) != 2)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, made);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &info) < 0 || info.st_size != (off_t)FAKE_BOARDS_BYTES)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Everybody has the boards open: the id's own descriptor may go. */
static void close_id(const struct tf_nccl_unique_id *id)
{
	int pid, made;

	if (sscanf(id->internal, FAKE_ID, &pid, &made) == 2 && pid == (int)getpid())
		close(made);
}

static struct tf_nccl_comm *make(
	int file, unsigned board, int rank, int world, const struct tf_nccl_config *config)
{
	struct tf_nccl_comm *comm = calloc(1, sizeof(*comm));
	const char *connect = getenv("NCCL_RUNTIME_CONNECT");

	if (!comm)
		abort();
	comm->board = mmap(NULL, sizeof(*comm->board), PROT_READ | PROT_WRITE, MAP_SHARED, file,
		(off_t)(board * FAKE_BOARD_BYTES));
	if (comm->board == MAP_FAILED)
		abort();
	comm->file = -1;
	comm->rank = (unsigned)rank;
	comm->world = (unsigned)world;
	comm->blocking = config->blocking != 0;
	comm->is_connected = connect && strcmp(connect, "0") == 0;
	fake_store(&comm->state, TF_NCCL_IN_PROGRESS);
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
	int failed = fake_meet(comm, comm->board->called, ++comm->calls, comm->is_alone);
	int state;

	if (birth->out && getenv("FAKE_NCCL_SLOW"))
		usleep(500000);
	if (!comm->parent && comm->rank == 0)
		close_id(&comm->id);
	state = failed ? TF_NCCL_INTERNAL_ERROR : TF_NCCL_SUCCESS;
	fake_store(&comm->state, state);
	if (birth->out) /* one that failed, too */
		__atomic_store_n(birth->out, comm, __ATOMIC_RELEASE);
	fake_store(&birth->ready->state, state);
	fake_add(&birth->ready->pending, -1);
	free(birth);
	return NULL;
}

/* On the calling thread where `ready` blocks; else its state says when it is through. */
static int bear(struct tf_nccl_comm *comm, struct tf_nccl_comm *ready, struct tf_nccl_comm **out)
{
	struct birth *birth = calloc(1, sizeof(*birth));
	pthread_t thread;

	if (!birth)
		abort();
	*birth = (struct birth){comm, ready, out};
	fake_add(&ready->pending, 1);
	if (ready->blocking) {
		be_born(birth);
		return fake_load(&comm->state);
	}
	fake_store(&ready->state, TF_NCCL_IN_PROGRESS);
	if (pthread_create(&thread, NULL, be_born, birth) != 0)
		abort();
	pthread_detach(thread);
	return TF_NCCL_IN_PROGRESS;
}

int ncclCommInitRankConfig(struct tf_nccl_comm **comm, int world, struct tf_nccl_unique_id id,
	int rank, struct tf_nccl_config *config)
{
	const char *connect = getenv("NCCL_RUNTIME_CONNECT");
	struct tf_nccl_comm *made;
	int file;

	FAKE_ENTER(NULL);
	fake_note("rank %d: init, NCCL_RUNTIME_CONNECT=%s\n", rank, connect ? connect : "");
	if (config->size != sizeof(*config) || config->magic != TF_NCCL_CONFIG_MAGIC ||
		config->version > TF_NCCL_VERSION_MIN || world > TF_WORLD_MAX)
		return TF_NCCL_INVALID_ARGUMENT;
	file = open_boards(&id);
	if (file < 0)
		return TF_NCCL_SYSTEM_ERROR;
	made = make(file, 0, rank, world, config);
	made->file = file;
	made->id = id;
	made->is_alone = made->blocking;
	made->shares = config->split_share == 1;
	made->aborted = calloc(1, sizeof(*made->aborted));
	if (!made->aborted)
		abort();
	__atomic_store_n(comm, made, __ATOMIC_RELEASE);
	return bear(made, made, NULL);
}

int ncclCommSplit(struct tf_nccl_comm *comm, int color, int key, struct tf_nccl_comm **split,
	struct tf_nccl_config *config)
{
	struct tf_nccl_comm *made;

	FAKE_ENTER(comm);
	if (comm->blocking)
		fake_note("VIOLATION: a split of a parent that blocks: nothing bounds either\n");
	if (color != 0 || key != (int)comm->rank)
		fake_note("VIOLATION: a split that reorders ranks\n");
	if (config->blocking != 1)
		fake_note("VIOLATION: a split that does not block\n");
	if (!comm->shares) /* its own configuration says nothing about that */
		fake_note("VIOLATION: a split of a parent that does not share\n");
	if (comm->parent || ++comm->splits >= FAKE_BOARDS)
		return fake_leave(comm, TF_NCCL_INVALID_USAGE);
	made = make(comm->file, comm->splits, key, (int)comm->world, config);
	made->parent = comm;
	made->is_alone = comm->is_alone;
	made->aborted = comm->shares ? comm->aborted : calloc(1, sizeof(*made->aborted));
	if (!made->aborted)
		abort();
	if (bear(made, comm, split) == TF_NCCL_IN_PROGRESS)
		return fake_leave(comm, TF_NCCL_SUCCESS); /* as NCCL 2.28: it has begun */
	return fake_leave(comm, fake_load(&made->state));
}

int ncclCommGetAsyncError(struct tf_nccl_comm *comm, int *result)
{
	int later = fake_asked("FAKE_NCCL_FAIL", "later");

	FAKE_ENTER(comm);
	*result = later ? later : fake_load(&comm->state);
	return fake_leave(comm, TF_NCCL_SUCCESS);
}

static int end(struct tf_nccl_comm *comm, const char *how)
{
	fake_note("rank %u: %s %s\n", comm->rank, how, comm->parent ? "split" : "parent");
	while (fake_load(&comm->pending))
		usleep(100);
	fake_store(&comm->has_ended, 1);
	munmap(comm->board, sizeof(*comm->board));
	if (comm->file >= 0)
		close(comm->file);
	return fake_leave(comm, TF_NCCL_SUCCESS);
}

int ncclCommFinalize(struct tf_nccl_comm *comm)
{
	FAKE_ENTER(comm);
	return fake_leave(comm, TF_NCCL_SUCCESS);
}

int ncclCommDestroy(struct tf_nccl_comm *comm)
{
	FAKE_ENTER(comm);
	if (comm->parent && fake_load(&comm->parent->has_ended))
		fake_note("VIOLATION: the parent was destroyed before the split\n");
	if (fake_stream_held())
		fake_note("VIOLATION: graphs hold work of a communicator that is destroyed\n");
	return end(comm, "destroy");
}

int ncclCommAbort(struct tf_nccl_comm *comm)
{
	FAKE_ENTER(comm);
	if (comm->parent && !fake_load(&comm->parent->has_ended))
		fake_note("VIOLATION: the split was aborted before the parent\n");
	if (comm->parent && fake_load(&comm->inside) > 1)
		fake_note("VIOLATION: the split was freed under a call\n");
	fake_store(comm->aborted, 1);
	return end(comm, "abort");
}
