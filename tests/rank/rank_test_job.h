/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one rank of the rank program was asked to do, and what its modes have in common: the link,
 * the communicator, a line of output. The last rank is the one that stalls, leaves, stays away or
 * disagrees.
 */
#ifndef TF_TESTS_RANK_RANK_TEST_JOB_H
#define TF_TESTS_RANK_RANK_TEST_JOB_H

#include "runtime/comm/nccl/nccl_communicator.h"
#include "tests/rank/rank_device.h"

struct rank_job {
	const char *mode, *device_kind;
	int64_t timeout_ns;
	uint32_t rows_max;     /* exchange */
	uint32_t row_elements; /* exchange */
	double least_ratio;    /* eager; 0: any */
	int across;            /* the ranks are known to be on several hosts */
	/* of this rank */
	struct tf_link *link;
	struct rank_device device;
};

int rank_job_is_odd_one(const struct rank_job *job);

/* `before`: called ahead of each step of the start-up, or NULL; its user is the job. */
TF_WARN_UNUSED enum tf_status rank_job_open_comm(struct rank_job *job, int keep_apart,
	void (*before)(void *, enum tf_nccl_step), struct tf_nccl_communicator **out,
	struct tf_error *err);

/* A barrier, with room for a rank that stalls for as long as the mode asks. */
TF_WARN_UNUSED enum tf_status rank_job_meet(struct rank_job *job, struct tf_error *err);

/* Closes it once all ranks are done with theirs, however busy the machine. */
TF_WARN_UNUSED enum tf_status rank_job_close_comm(
	struct rank_job *job, struct tf_nccl_communicator *comm, struct tf_error *err);

/* A line on stdout with the rank and the mode before it; TF_OK. */
enum tf_status rank_job_tell(struct rank_job *job, const char *fmt, ...) TF_PRINTF(2, 3);

/* Milliseconds, to be told. */
double rank_job_ms(int64_t ns);

#endif
