/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One case of the communicator against the fake: two processes open it, sum once and close it, or
 * fail where the scene says. The fake's log of both ranks is the witness.
 */
#ifndef TF_TESTS_NCCL_NCCL_SCENE_H
#define TF_TESTS_NCCL_NCCL_SCENE_H

#include <stdio.h>

#include "base/deadline.h"
#include "runtime/comm/nccl/nccl_communicator.h"
#include "tests/rank/rank_device.h"

#define COUNT      256
#define TIMEOUT_NS (5 * TF_NS_PER_S) /* of a rank; two cores may be shared by many */

/* After which what hangs is ended, and the test with it. */
extern int64_t limit_ns;

/* What a rank has once the collective of its scene is done. */
struct act {
	struct tf_nccl_communicator *comm;
	struct rank_device *device;
	struct tf_link *link;
};

/* One case: what the environment says on both ranks, what the ranks do, what they must see. */
struct scene {
	const char *fail, *hang; /* of the fake */
	int faulty;              /* the rank that FAIL and HANG are for; -1: both */
	const char *connect;     /* NCCL_RUNTIME_CONNECT, or unset */
	int keep_apart, slow;
	int late;  /* the call returns behind its bound, and did what it should */
	int tells; /* what tells the peers takes its time */
	int64_t timeout_ns;
	enum tf_status open, enqueue, wait, close; /* TF_OK: what must happen; the first failure ends */
	int (*also)(const struct act *act);        /* 0, or 1 and a line on stderr (MUST) */
	const char *text;                          /* in the error of the faulty rank, or NULL */
};

/* Of what runs on a rank: stderr says which line found what it must not. */
#define MUST(condition)                                                                            \
	do {                                                                                           \
		if (!(condition)) {                                                                        \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
			return 1;                                                                              \
		}                                                                                          \
	} while (0)

/* The collective of every scene: COUNT elements of `at`, to the COUNT behind them. */
TF_WARN_UNUSED enum tf_status all_reduce(const struct act *act, float *at, struct tf_error *err);

/*
 * Both ranks play the scene; what one of them must not see, a rank that is still there after
 * limit_ns and a broken rule of NCCL's fail the test. What follows looks at this scene's log.
 */
void run(const struct scene *scene);

/* How often that stands in it. */
unsigned count(const char *what);
/* A rank's line before another one of the same rank. */
void assert_order(unsigned rank, const char *first, const char *second);
/* Of the two ranks that end: the peers are told once, then the parent goes, then the split. */
void assert_ended(void);

#endif
