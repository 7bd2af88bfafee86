/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a group is over: one cause out of everything that its ranks said, did not say, and how they
 * ended.
 */
#ifndef TF_RUNTIME_SERVE_RANK_VERDICT_H
#define TF_RUNTIME_SERVE_RANK_VERDICT_H

#include "runtime/serve/rank_crew.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether a failure only follows from the loss of a peer, so that the cause lies elsewhere. */
int tf_verdict_is_consequence(enum tf_status status);

/*
 * The cause, by weight: a death without words; a silence; a failure of a rank's own; the loss of a
 * peer that a rank told of. `out` names the rank, when it was, and which others ended by it.
 */
void tf_verdict_reach(const struct tf_crew *crew, int64_t now_ns, struct tf_error *out);

#ifdef __cplusplus
}
#endif
#endif
