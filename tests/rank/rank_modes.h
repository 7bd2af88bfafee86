/* SPDX-License-Identifier: Apache-2.0 */
/* What a rank does in each mode of the rank program, and judges itself. */
#ifndef TF_TESTS_RANK_RANK_MODES_H
#define TF_TESTS_RANK_RANK_MODES_H

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

#define RANK_MODES                                                                                 \
	"sum, timeout, timeout-scatter, eof, eof-scatter, missing, exchange, disagree, eager, device"

/*
 * TF_OK: what must happen happened; a line on stdout says what was seen. TF_E_USAGE: no such mode.
 * The rank that stalls or leaves does so by ending its process with 0.
 */
TF_WARN_UNUSED enum tf_status rank_mode_run(struct rank_job *job, struct tf_error *err);

#endif
