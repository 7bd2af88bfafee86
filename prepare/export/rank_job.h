/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one rank's process does for `tfprep tune` and `tfprep export`: plan, open, tune, capture,
 * and hand the catalog over. Speaks to the parent over its command socket in the words below.
 */
#ifndef TF_PREPARE_EXPORT_RANK_JOB_H
#define TF_PREPARE_EXPORT_RANK_JOB_H

#include "ladders/ladder.h"
#include "prepare/links/links.h"
#include "prepare/tune/tune.h"
#include "prepare/workload/workload.h"
#include "runtime/link/frame.h"
#include "runtime/link/link.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Words from a rank to the parent. Same machine and binary, so structs travel as they are. */
enum tf_job_word {
	TF_JOB_PROGRESS = TF_FRAME_USER, /* struct tf_job_progress; rank 0 only */
	TF_JOB_DONE,                     /* struct tf_job_done; every rank */
	TF_JOB_FAILED                    /* struct tf_error: status and text */
};

struct tf_job_progress {
	char what[16];
	uint64_t done, total;
};

struct tf_job_done {
	int64_t open_ns, release_ns, steps_capture_ns, catalog_ns;
	struct tf_tune_times tune;
	uint32_t aggregate;
	uint64_t catalog_bytes; /* rank 0: written to catalog_fd */
	uint64_t segment_bytes;
	char no_peer_access[256]; /* why ranks do not use each other's memory; empty: they do */
};

struct tf_rank_job {
	const struct tf_workload *workload;
	const struct tf_ladder *ladder;
	const struct tf_links *links; /* emulated; host device only; or NULL */
	const char *device;
	uint32_t device_count; /* rank r takes device r modulo this; 0: all take the first */
	int64_t timeout_ns;
	int no_peer_access;          /* by option */
	int nccl;                    /* its rungs are candidates too */
	int catalog_fd;              /* a memory file; rank 0 writes the catalog's bytes */
	const char *const *identity; /* further identity rows: key, value, ..., NULL; or NULL */
};

/*
 * Body of a rank's process: returns its exit code (enum tf_exit). `user` is a const struct
 * tf_rank_job *.
 */
int tf_rank_job_run(void *user, uint32_t rank, struct tf_link *link, int command_fd);

#ifdef __cplusplus
}
#endif
#endif
