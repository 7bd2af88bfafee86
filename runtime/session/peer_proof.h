/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proof that ranks reach each other's memory as they are told they do: data goes both ways over
 * every ordered pair, all pairs at once, before anything else uses the window.
 */
#ifndef TF_RUNTIME_SESSION_PEER_PROOF_H
#define TF_RUNTIME_SESSION_PEER_PROOF_H

#include "catalog/program.h"
#include "runtime/link/link.h"
#include "runtime/session/rank_window.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Each rank's device writes a pattern of (writer, reader, nonce) into every peer's segment and
 * reads another one from it; what arrives is compared. Uses the flag region, which must be reset
 * afterwards. The window is connected; nothing runs on any rank. Collective: all ranks return the
 * same.
 *
 * TF_E_MISFIT: a pattern is wrong or missing; the text names the pair, the direction and what was
 * seen. TF_E_TIMEOUT: not done within `timeout_ns`. TF_E_INVALID: the layout has no room for it.
 * Else what the device or the link failed with.
 */
TF_WARN_UNUSED enum tf_status tf_peer_proof(const struct tf_rank_window *window,
	struct tf_device *device, struct tf_link *link, const struct tf_layout *layout,
	int64_t timeout_ns, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
