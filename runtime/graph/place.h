/* SPDX-License-Identifier: Apache-2.0 */
/* Which places of the segments a graph of a program may touch. */
#ifndef TF_RUNTIME_GRAPH_PLACE_H
#define TF_RUNTIME_GRAPH_PLACE_H

#include "catalog/program.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_places {
	const struct tf_program *program; /* borrowed */
	uint32_t *by_off;                 /* (buffer_count): buffers by rising offset */
};

/* TF_E_INVALID: the layout's parts pass the segment. TF_E_NO_MEMORY. */
TF_WARN_UNUSED enum tf_status tf_places_init(
	struct tf_places *places, const struct tf_program *program, struct tf_error *err);
void tf_places_fini(struct tf_places *places);

/*
 * TF_E_INVALID unless [off, off + bytes) of the segment of peer (0: the rank itself) lies inside
 * one part of control, protocol or startup memory, or inside one declared buffer; a peer's buffer
 * must be visible to peers and lie in the exchange part. The text names the place and what is
 * wrong with it.
 */
TF_WARN_UNUSED enum tf_status tf_places_check(const struct tf_places *places, uint32_t peer,
	uint64_t off, uint64_t bytes, struct tf_error *err);

/*
 * The declared buffer that holds a foreign kernel's address: TF_E_INVALID unless it lies in the
 * rank's own segment (peer 0), in a buffer that is none of the protocol's.
 */
TF_WARN_UNUSED enum tf_status tf_places_find_own(const struct tf_places *places, uint32_t peer,
	uint64_t off, uint32_t *out_buffer, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
