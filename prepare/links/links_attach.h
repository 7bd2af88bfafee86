/* SPDX-License-Identifier: Apache-2.0 */
/* Emulated links on a rank of the host device: its time, what its links offer, and what the
 * program says of it. */
#ifndef TF_PREPARE_LINKS_LINKS_ATTACH_H
#define TF_PREPARE_LINKS_LINKS_ATTACH_H

#include "prepare/links/link_clock.h"
#include "runtime/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Attaches a new clock to this thread, and takes from properties->capabilities what the links of
 * the first `world` ranks do not offer. TF_E_MISFIT: the links have fewer ranks. TF_E_USAGE: not
 * the host device.
 */
TF_WARN_UNUSED enum tf_status tf_links_attach(const struct tf_links *links, uint32_t rank,
	uint32_t world, struct tf_device_properties *properties, struct tf_link_clock **out,
	struct tf_error *err);

/* Ends a clock of this thread. Takes NULL. */
void tf_links_detach(struct tf_link_clock *clock);

/*
 * Identity of a planned program: "links", "links.sha256", "links.seed", and the topology's
 * signature ends in ";emulated=NAME". TF_E_UNSUPPORTED: the model does not know the writer of a
 * candidate.
 */
TF_WARN_UNUSED enum tf_status tf_links_describe(
	const struct tf_links *links, struct tf_program *program, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
