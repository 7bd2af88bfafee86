/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An NCCL for tests: libnccl.so.2 on host memory, whose ranks are processes that meet in shared
 * memory that the unique id leads to. As NCCL's own: a communicator whose configuration says
 * blocking = 0 begins and is polled, the split of one too; every other one is there when the call
 * returns. A blocking one returns once enqueued, but connects its peers in its first call unless
 * NCCL_RUNTIME_CONNECT is 0 when it is made; a family shares one abort flag. What runs on a stream
 * waits for all ranks, or for the abort.
 *
 * Where the fake driver (tests/device) is loaded, work runs where it runs kernels, captured into
 * its graphs too; else on the streams of fake_stream.h, and on a NULL stream before the call
 * returns.
 *
 * The environment says what goes wrong:
 *   FAKE_NCCL_VERSION    a number
 *   FAKE_NCCL_FAIL       NAME:CODE, a function that fails; "later:CODE" fails what was begun,
 *                        "captured:CODE" collectives in a capture
 *   FAKE_NCCL_HANG       NAME, a call that returns only after the abort, and never where there is
 *                        no communicator yet
 *   FAKE_NCCL_TOUCH      1: it reads what the last collective was given, as a kernel would
 *   FAKE_NCCL_SLOW       it returns some time after the abort, and a split takes half a second
 *   FAKE_NCCL_TAKES      NAME:MS, a call that takes so long, and then does what it should
 *   FAKE_NCCL_LATE       1: work that ends with the abort only
 *   FAKE_NCCL_NO_WINDOW  1: windows are NULL
 *   FAKE_NCCL_BITS       what every sum's first element is off by, in units of the last place
 *   FAKE_NCCL_NAN        1: every NaN of a sum is a GPU's own, not the numerics class's
 *   FAKE_NCCL_LOG        a file that gets a line a call that counts, and VIOLATION where the caller
 *                        breaks a rule of NCCL's
 * What has ended stays in memory, so that its use is seen.
 */
#ifndef TF_TESTS_NCCL_FAKE_COMMUNICATOR_H
#define TF_TESTS_NCCL_FAKE_COMMUNICATOR_H

#include <stdint.h>

#include "runtime/collective/collective.h"
#include "runtime/comm/nccl/nccl_api.h"

#define FAKE_SLOT_BYTES (UINT32_C(1) << 21) /* the largest input */

/* Read and written by fake_load and fake_store alone, but for the slots. */
struct fake_board {
	int called[TF_WORLD_MAX]; /* meetings of calls that a rank has come to */
	int worked[TF_WORLD_MAX]; /* of work on streams */
	uint8_t slots[TF_WORLD_MAX][FAKE_SLOT_BYTES];
};

struct tf_nccl_comm {
	struct tf_nccl_comm *next, *parent; /* all of this process; NULL for a parent */
	struct fake_board *board;
	int file; /* a parent: of the boards; else -1 */
	struct tf_nccl_unique_id id;
	unsigned rank, world, splits;
	int calls, works;
	int blocking, is_connected;
	int shares;        /* a parent: its splits have its abort flag */
	const void *given; /* to the family's last collective; __atomic */
	int is_alone;      /* nothing aborts it: it, and its parent, block */
	/* read and written by fake_load, fake_store and fake_add alone */
	int *aborted; /* of the family */
	int state, inside, pending, has_ended;
};

/*
 * A family's boards, the parent's first, in a file without a name, which goes with the last
 * process that has it: what is killed leaves nothing behind. An id says where its maker has it
 * open.
 */
#define FAKE_BOARDS       8
#define FAKE_BOARD_BYTES  ((sizeof(struct fake_board) + UINT64_C(0xffff)) & ~UINT64_C(0xffff))
#define FAKE_BOARDS_BYTES (FAKE_BOARDS * FAKE_BOARD_BYTES)
#define FAKE_ID           "fake-nccl-%d-%d" /* process, descriptor */

/* Every exported function, with the table's types. */
#define FAKE_DECLARE(name, since, parameters)                                                      \
	__attribute__((visibility("default"))) int name parameters;
TF_NCCL_CALLS(FAKE_DECLARE)
#undef FAKE_DECLARE
#define FAKE_DECLARE(name, since, parameters)                                                      \
	__attribute__((visibility("default"))) const char *name parameters;
TF_NCCL_TEXTS(FAKE_DECLARE)
#undef FAKE_DECLARE

/* What other threads, or processes, read and write too. */
static inline int fake_load(const int *value)
{
	return __atomic_load_n(value, __ATOMIC_SEQ_CST);
}

static inline void fake_store(int *value, int to)
{
	__atomic_store_n(value, to, __ATOMIC_SEQ_CST);
}

static inline void fake_add(int *value, int what)
{
	__atomic_add_fetch(value, what, __ATOMIC_SEQ_CST);
}

/* A line of the log. */
void fake_note(const char *fmt, ...) TF_PRINTF(1, 2);

/* The number in the environment, or `otherwise`. */
int fake_asked_number(const char *variable, int otherwise);

/* What the environment says of the function `name`: 0 is nothing, 1 for a name without a code. */
int fake_asked(const char *variable, const char *name);

/* Every call begins with the one, and ends with the other where it has a communicator. */
int fake_enter(struct tf_nccl_comm *comm, const char *name);
int fake_leave(struct tf_nccl_comm *comm, int result);

#define FAKE_ENTER(comm)                                                                           \
	do {                                                                                           \
		int result_ = fake_enter(comm, __func__);                                                  \
		if (result_)                                                                               \
			return fake_leave(comm, result_);                                                      \
	} while (0)

/*
 * 0 once all ranks came to their meeting `mine`; 1 if the family was aborted first. Where
 * `is_bounded` a peer that does not come ends this process: nothing else could.
 */
int fake_meet(struct tf_nccl_comm *comm, int *came, int mine, int is_bounded);

#endif
