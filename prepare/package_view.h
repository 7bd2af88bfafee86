/* SPDX-License-Identifier: Apache-2.0 */
/* A package opened for looking at: the container, its catalog's bytes and the program in them. */
#ifndef TF_PREPARE_PACKAGE_VIEW_H
#define TF_PREPARE_PACKAGE_VIEW_H

#include "catalog/program.h"
#include "packages/container_read.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_package_view {
	struct tf_package *package;
	struct tf_bytes catalog;
	struct tf_program program;               /* with the startup graph and the samples */
	uint8_t catalog_sha256[TF_DIGEST_BYTES]; /* as in the seal */
	uint8_t file_sha256[TF_DIGEST_BYTES];    /* only after tf_package_view_verify */
};

/*
 * Opens `path` and reads the catalog against the digest of the seal. `view` is {0} before and
 * finied by the caller in any case. Statuses as tf_package_open and tf_package_read_catalog.
 */
TF_WARN_UNUSED enum tf_status tf_package_view_open(
	struct tf_package_view *view, const char *path, struct tf_error *err);

/* Reads the program, all parts; the reader runs tf_program_check. Statuses as tf_catalog_read. */
TF_WARN_UNUSED enum tf_status tf_package_view_program(
	struct tf_package_view *view, struct tf_error *err);

/* Reads the whole file and checks all of it; sets file_sha256. Statuses as tf_package_verify. */
TF_WARN_UNUSED enum tf_status tf_package_view_verify(
	struct tf_package_view *view, struct tf_error *err);

void tf_package_view_fini(struct tf_package_view *view);

/* How many capacities the groups have, and how many nodes all graphs have together. */
uint32_t tf_program_capacity_count(const struct tf_program *program);
uint64_t tf_program_node_count(const struct tf_program *program);

/* The stage whose numbers decided (0 first, 1 second), -1 if the candidate was never sampled. */
int tf_candidate_stage(const struct tf_group_candidate *entry);

#ifdef __cplusplus
}
#endif
#endif
