/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of POST /v1/steps. JSON is read by SQLite's own functions over an in-memory connection
 * that is opened once; nothing is ever stored in it.
 */
#ifndef TF_RUNTIME_SERVE_STEP_REQUEST_H
#define TF_RUNTIME_SERVE_STEP_REQUEST_H

#include <stddef.h>

#include "base/error.h"
#include "runtime/serve/command.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Six short members; anything longer is a mistake. */
#define TF_STEP_BODY_MAX 4096

struct tf_step_reader;

/* TF_E_NO_MEMORY; TF_E_SYSTEM: SQLite refused, or was built without JSON. */
TF_WARN_UNUSED enum tf_status tf_step_reader_create(
	struct tf_step_reader **out, struct tf_error *err);
void tf_step_reader_destroy(struct tf_step_reader *reader); /* takes NULL */

/*
 * Reads one object with the members rows (required), count, seed, check, inputs. `body` need not
 * end in anything. TF_E_USAGE names the member, what was found and what is allowed: not JSON, no
 * object, an unknown or repeated member, a wrong type, rows outside of 1..largest, count outside of
 * 1..TF_STEP_COUNT_MAX, kept inputs with a check.
 */
TF_WARN_UNUSED enum tf_status tf_step_request_read(struct tf_step_reader *reader, const char *body,
	size_t bytes, uint32_t largest, struct tf_step_order *out, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
