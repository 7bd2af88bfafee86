/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks for tests: a window of segments in shared memory, and one thread or one process a rank.
 *
 * cmocka's asserts leave by longjmp and so belong to the main thread; a rank reports through
 * ranks_fail and the main thread asserts that nobody did.
 */
#ifndef TF_TESTS_COLLECTIVE_RANKS_H
#define TF_TESTS_COLLECTIVE_RANKS_H

#include <stdint.h>

#include "runtime/collective/collective.h"
#include "runtime/collective/kernels.h"

#define RANKS_TIMEOUT_NS INT64_C(20000000000) /* only a deadlock ends in it */
#define RANKS_GUARD      64 /* bytes after the output that must stay as they were */

struct ranks {
	uint32_t world;
	uint64_t operand_bytes; /* of one rank's input, at most */
	struct tf_layout layout;
	uint64_t base;
	uint64_t mapped_bytes;
	char *message; /* in shared memory; the first failure */
	uint32_t *failures;
};

/* One collective as all ranks call it. */
struct ranks_call {
	const struct tf_collective_kernel *kernel;
	enum tf_dtype dtype;
	enum tf_fill fill;
	uint64_t count, seed;
	uint32_t ctas;
	uint64_t chunk_bytes;
	uint32_t shift; /* elements by which the operands are off their alignment */
	int masked_off;
};

typedef void (*ranks_fn)(struct ranks *ranks, uint32_t rank, void *user);

/* Maps, plans for every kernel with `operand_bytes`, resets every rank. */
void ranks_init(struct ranks *ranks, uint32_t world, uint64_t operand_bytes, uint32_t first_epoch);
void ranks_fini(struct ranks *ranks);
void ranks_reset(struct ranks *ranks, uint64_t timeout_ns, uint32_t first_epoch);

/* Runs fn once a rank and waits for all. */
void ranks_threads(struct ranks *ranks, ranks_fn fn, void *user);
void ranks_processes(struct ranks *ranks, ranks_fn fn, void *user);

void ranks_fail(struct ranks *ranks, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

struct tf_control *ranks_control(const struct ranks *ranks, uint32_t rank);
uint8_t *ranks_input(const struct ranks *ranks, uint32_t rank);
uint8_t *ranks_output(const struct ranks *ranks, uint32_t rank);

/* Fills the input, calls, compares the output with the reference; reports what differs. */
void ranks_check(struct ranks *ranks, uint32_t rank, const struct ranks_call *call);
/* The call alone. */
void ranks_launch(struct ranks *ranks, uint32_t rank, const struct ranks_call *call);
/* For assert_int_equal in the main thread: prints the first message. */
uint32_t ranks_failures(struct ranks *ranks);

#endif
