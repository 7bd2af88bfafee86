/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the public calls share. */
#ifndef TF_RUNTIME_TFRUN_PRIVATE_H
#define TF_RUNTIME_TFRUN_PRIVATE_H

#include <tfrun/tfrun.h>

#include "runtime/session/session.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tfrun_session {
	struct tf_link *link;
	struct tf_session *inner;
	int64_t load_ns;
};

/* The public status for an inner one; the text goes along where there is an error to take it. */
enum tfrun_status tf_tfrun_hand_over(
	enum tf_status status, const struct tf_error *inner, struct tfrun_error *error);

#ifdef __cplusplus
}
#endif
#endif
