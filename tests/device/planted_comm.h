/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A communication library for tests: a call copies its input to its output, records who asked, and
 * fails when it is told to. On CUDA, the fake driver or the real one, it enqueues the copy.
 */
#ifndef TF_TESTS_DEVICE_PLANTED_COMM_H
#define TF_TESTS_DEVICE_PLANTED_COMM_H

#include "runtime/device/comm_caller.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PLANTED_COMM_CALLS 32 /* that are recorded */

struct planted_comm {
	struct tf_comm_caller caller; /* named "planted" */
	uint64_t bytes;               /* that a call copies */
	uint32_t fail_at;             /* the call that fails behind its copy, from 1; 0: none */
	uint32_t call_count;
	struct {
		uint32_t group;
		const void *from;
		void *to, *stream;
	} calls[PLANTED_COMM_CALLS];
	uint32_t refs; /* of graphs, so far */
	int held;      /* of graphs, now */
};

void planted_comm_init(struct planted_comm *planted, uint64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
