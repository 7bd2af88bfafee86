/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The links between ranks as the identity's `topology.signature` carries them
 * (runtime/topology/topology.h describes the text). The text comes from a file that is not trusted.
 */
#ifndef TF_PREPARE_REPORT_REPORT_TOPOLOGY_H
#define TF_PREPARE_REPORT_REPORT_TOPOLOGY_H

#include <stdint.h>

#include "base/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_REPORT_LINK_BYTES  16 /* the longest name is "nvlink" */
#define TF_REPORT_MODEL_BYTES 16 /* "10de:2335" */
#define TF_REPORT_NOTE_BYTES  160

struct tf_report_link {
	char name[TF_REPORT_LINK_BYTES];
	uint32_t bandwidth_gbps; /* one way; 0: not known */
};

struct tf_report_topology {
	uint32_t ranks; /* that the matrix has: those of one host; 0: none is recorded */
	struct tf_report_link links[TF_WORLD_MAX][TF_WORLD_MAX]; /* from, to */
	char models[TF_WORLD_MAX][TF_REPORT_MODEL_BYTES];        /* "" where not recorded */
	char note[TF_REPORT_NOTE_BYTES]; /* why there is no matrix; "" where there is one */
};

/*
 * Takes a signature apart; NULL is none. A text that is not understood is no failure, because it
 * is for people: `ranks` is 0 then, and `note` says why.
 */
void tf_report_topology_parse(
	const char *signature, uint32_t world, struct tf_report_topology *out);

#ifdef __cplusplus
}
#endif
#endif
