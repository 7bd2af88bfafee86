/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words between the supervisor and its ranks, over the command sockets
 * (runtime/link/channel.h). Both ends are the same process image, so a word is a plain struct and
 * carries no version.
 *
 * The supervisor gives one order at a time to a rank; the rank answers it with one of its own
 * words.
 *
 *   STEP        struct tf_step_order                    -> STEPPED  struct tf_step_report
 *   TENSOR_GET  struct tf_tensor_order                  -> TENSOR   the bytes
 *   TENSOR_PUT  struct tf_tensor_order, then the bytes  -> TENSOR   nothing
 *   DRIFT       nothing                                 -> SAMPLES* (rank 0), then DRIFTED
 *   DRAIN       nothing                                 -> the process ends with exit code 0
 *
 * Who looks at the machine (served_machine.h) says MACHINE once and ends.
 *
 * Unasked a rank says READY once, BEAT all the time, and FAILED (struct tf_error) as its last word.
 */
#ifndef TF_RUNTIME_SERVE_COMMAND_H
#define TF_RUNTIME_SERVE_COMMAND_H

#include <stdint.h>

#include "base/bytes.h"
#include "base/dtype.h"
#include "runtime/link/frame.h"
#include "runtime/session/session.h"

#ifdef __cplusplus
extern "C" {
#endif

enum tf_command {
	TF_COMMAND_STEP = TF_FRAME_USER,
	TF_COMMAND_TENSOR_GET,
	TF_COMMAND_TENSOR_PUT,
	TF_COMMAND_DRIFT,
	TF_COMMAND_DRAIN,
	/* from a rank */
	TF_COMMAND_BEAT,
	TF_COMMAND_READY,
	TF_COMMAND_STEPPED,
	TF_COMMAND_TENSOR,
	TF_COMMAND_SAMPLES,
	TF_COMMAND_DRIFTED,
	TF_COMMAND_FAILED,
	TF_COMMAND_MACHINE
};

/* A rank speaks this often within the timeout, so that one late word is no silence. */
#define TF_BEATS_A_TIMEOUT 4

/* Below a socket's own buffer, so that the supervisor never waits for a rank to read. */
#define TF_TENSOR_PUT_BYTES (UINT32_C(64) << 10)
#define TF_TENSOR_GET_BYTES (UINT32_C(512) << 10)

/* More would take days; it bounds the rank's memory for their times. */
#define TF_STEP_COUNT_MAX 1000000

/* Requests for so few steps are answered with each step's time. */
#define TF_STEP_TIMES_MAX 64

enum tf_step_check {
	TF_STEP_CHECK_EVERY = 0, /* fresh operands and a bytewise comparison at each step */
	TF_STEP_CHECK_LAST,      /* of the last step alone */
	TF_STEP_CHECK_NONE
};

struct tf_step_order {
	uint64_t rows, count, seed;
	uint32_t check; /* enum tf_step_check */
	uint32_t kept;  /* inputs stay as they are; check is NONE then */
};

/* Upper bounds of the buckets that step times are counted in; the last bucket has none. */
#define TF_STEP_BUCKETS 16
extern const int64_t tf_step_bucket_ns[TF_STEP_BUCKETS];

struct tf_rank_counters {
	uint64_t steps;
	uint64_t writer_calls[TF_WRITER_COUNT];
	uint64_t writer_bytes[TF_WRITER_COUNT];
	uint64_t barriers;
};

struct tf_step_report {
	uint64_t count, checked; /* steps run, and how many of them were compared */
	int64_t min_ns, median_ns, max_ns, total_ns;
	int64_t times_ns[TF_STEP_TIMES_MAX];   /* the first of them */
	uint64_t buckets[TF_STEP_BUCKETS + 1]; /* not cumulative */
	struct tf_rank_counters counters;
	uint32_t capacity;
	uint32_t pad;
};

struct tf_rank_ready {
	int64_t phase_ns[TF_PHASE_COUNT];
	uint64_t base;
	uint8_t digest[TF_DIGEST_BYTES];
	struct tf_rank_counters counters;
	uint32_t relocated;
	uint32_t pad;
};

struct tf_tensor_order {
	uint64_t off, bytes;
	uint32_t buffer;
	uint32_t pad;
};

struct tf_rank_beat {
	uint64_t done; /* steps finished in this order */
};

/* SAMPLES: (candidates, TF_PASSES) times from the candidate `first` on follow this. */
struct tf_samples_head {
	uint32_t first, count;
};

#define TF_SAMPLES_A_WORD 2048 /* 344 KB: within a frame */

#ifdef __cplusplus
}
#endif
#endif
