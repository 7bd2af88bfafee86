/* SPDX-License-Identifier: Apache-2.0 */
/* The links of an emulated machine, for people and for scripts. */
#ifndef TF_PREPARE_LINKS_PRINT_H
#define TF_PREPARE_LINKS_PRINT_H

#include <stdio.h>

#include "prepare/links/links.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Class, figures of the device, what pairs of the first `world` ranks have and share.
 * `no_peer_access`: ranks may not use each other's memory, whatever the links offer.
 */
void tf_links_print_table(
	FILE *to, const struct tf_links *links, uint32_t world, int no_peer_access);

/* The same as one JSON document with "version": 1. TF_E_SYSTEM: cannot be written. */
TF_WARN_UNUSED enum tf_status tf_links_print_json(FILE *to, const struct tf_links *links,
	uint32_t world, int no_peer_access, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
