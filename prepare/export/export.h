/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tfprep tune` and `tfprep export`: ranks tune and capture, the parent writes the package, fresh
 * ranks prove it at another base, and only then it gets its name.
 */
#ifndef TF_PREPARE_EXPORT_EXPORT_H
#define TF_PREPARE_EXPORT_EXPORT_H

#include "prepare/export/rank_job.h"
#include "prepare/export/topology_choice.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_export_options {
	const char *workload;   /* a built-in's name or a path; NULL: decode-window */
	const char *capacities; /* "1,2,8" or NULL: all of the workload's */
	const char *ladder;     /* a path, or NULL: the class's own */
	const char *links;      /* emulated: a built-in's name or a path; or NULL */
	const char *links_seed; /* of their jitter, a number; NULL: the file's */
	const char *topology;   /* a class, or NULL / "auto" */
	const char *device;     /* "auto", "host", "cuda" */
	const char *out_path;   /* NULL: WORKLOAD-tpN-CLASS.tfp in the current folder */
	uint32_t world;
	int no_peer_access; /* ranks may not use each other's memory */
	int nccl;           /* the ladder's rungs of NCCL's are candidates too */
	int64_t timeout_ns;
	tf_progress_fn progress; /* or NULL */
	void *progress_user;
	const volatile int *interrupted; /* or NULL */
};

/* All durations are measured in this run. */
struct tf_export_result {
	struct tf_program
		program; /* as a reader of the catalog sees it, startup graph and samples included */
	struct tf_bytes catalog;
	struct tf_job_done job;
	struct tf_topology_choice machine;
	int64_t tune_ns; /* the ranks' whole job, with their start and end */
	int64_t write_ns, check_ns, publish_ns, total_ns;
	char *path; /* export only */
	uint64_t file_bytes;
	uint8_t digest[TF_DIGEST_BYTES];
};

/* The result is {0} before and finied by the caller in any case. */
TF_WARN_UNUSED enum tf_status tf_tune_only(
	const struct tf_export_options *options, struct tf_export_result *result, struct tf_error *err);
TF_WARN_UNUSED enum tf_status tf_export(
	const struct tf_export_options *options, struct tf_export_result *result, struct tf_error *err);
void tf_export_result_fini(struct tf_export_result *result);

#ifdef __cplusplus
}
#endif
#endif
