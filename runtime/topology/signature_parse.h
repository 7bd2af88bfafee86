/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A topology's signature (topology.h describes the text) taken apart, and two of them held against
 * each other. The text may come from a package, which is not trusted. Needs nothing of hwloc.
 */
#ifndef TF_RUNTIME_TOPOLOGY_SIGNATURE_PARSE_H
#define TF_RUNTIME_TOPOLOGY_SIGNATURE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_SIGNATURE_LINK_BYTES  16 /* the longest name is "nvlink" */
#define TF_SIGNATURE_MODEL_BYTES 16 /* "10de:2335" */

struct tf_signature_link {
	char name[TF_SIGNATURE_LINK_BYTES];
	uint32_t bandwidth_gbps; /* one way; 0: not known */
};

struct tf_signature {
	uint32_t ranks; /* that the matrix has: those of one host; 0: there is none */
	bool damaged;   /* there are links, and they are no square matrix of at most the world */
	struct tf_signature_link links[TF_WORLD_MAX][TF_WORLD_MAX]; /* from, to */
	char models[TF_WORLD_MAX][TF_SIGNATURE_MODEL_BYTES];        /* "" where not recorded */
};

/* Whether a text is of GPUs, so that links may be recorded in it; NULL is not. */
bool tf_signature_is_of_gpus(const char *text);

/* Takes a text apart; NULL is none. One that is not understood is no failure: see `damaged`. */
void tf_signature_parse(const char *text, uint32_t world, struct tf_signature *out);

/*
 * How the machine is not the one that the package was made on, for people: "rank 0 to rank 1:
 * package 'nvlink@478', machine 'sys', and 1 other pair". Models and links of ranks are compared,
 * each where both record it; the class is not, as it follows from the links. False: nothing
 * differs, and `out` is "". Cut at `size`.
 */
bool tf_signature_differs(
	const char *package, const char *machine, uint32_t world, char *out, size_t size);

#ifdef __cplusplus
}
#endif
#endif
