/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report's data: one JSON object made of a package's program, which is all the page knows.
 * `version` is TF_REPORT_DATA_VERSION; within a version, members are only added. Times are integer
 * nanoseconds as in the catalog.
 */
#ifndef TF_PREPARE_REPORT_REPORT_DATA_H
#define TF_PREPARE_REPORT_REPORT_DATA_H

#include "base/json.h"
#include "catalog/program.h"
#include "prepare/report/report_load.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_REPORT_DATA_VERSION 1

/*
 * Above these the page would be too large for a phone, and the data says in `shown` that it holds
 * less. 100,000 samples take less than 3 MB with their candidates; startup-81 has a tenth of that.
 * Without single samples their bounds remain. 5,000 candidates without samples take about 2 MB; of
 * more, a group keeps its pick and what was sampled afresh, and says how many it left out.
 */
#define TF_REPORT_SAMPLES_MAX    100000
#define TF_REPORT_CANDIDATES_MAX 5000

/* What the data is made of; all borrowed for the call. */
struct tf_report_source {
	const char *name; /* the package's file name, without folders */
	uint64_t bytes;   /* of the file */
	uint8_t sha256[TF_DIGEST_BYTES];
	uint64_t catalog_bytes;
	uint8_t catalog_sha256[TF_DIGEST_BYTES];
	const char *tool_version;
	const struct tf_program *program;  /* with startup graph and samples */
	const struct tf_report_load *load; /* NULL: none was measured */
	/* 0 takes the limits above; a test sets its own. */
	uint32_t samples_max, candidates_max;
};

/*
 * Appends the object to `out`, which the caller frees in any case. No '<' stands in it, so that it
 * may lie in an HTML script element. TF_E_NO_MEMORY, TF_E_LIMIT.
 */
TF_WARN_UNUSED enum tf_status tf_report_data(
	const struct tf_report_source *source, struct tf_bytes *out, struct tf_error *err);

/*
 * The part `groups`, with every candidate and its samples. For tf_report_data. TF_E_NO_MEMORY; a
 * failed write stays in json->status.
 */
TF_WARN_UNUSED enum tf_status tf_report_groups(
	struct tf_json *json, const struct tf_report_source *source, struct tf_error *err);

/* Whether `source` is above its limits: single samples, or candidates, are left out. */
int tf_report_drops_samples(const struct tf_report_source *source);
int tf_report_drops_candidates(const struct tf_report_source *source);

#ifdef __cplusplus
}
#endif
#endif
