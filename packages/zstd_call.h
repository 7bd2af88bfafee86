/* SPDX-License-Identifier: Apache-2.0 */
/* libzstd's results as statuses: the text of the call and the library's own words. */
#ifndef TF_PACKAGES_ZSTD_CALL_H
#define TF_PACKAGES_ZSTD_CALL_H

#include <zstd.h>
#include <zstd_errors.h>

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The status of a result that ZSTD_isError knows: TF_E_NO_MEMORY, or else `status`. */
static inline enum tf_status tf_zstd_fail(size_t result, enum tf_status status, const char *call,
	const char *file, int line, struct tf_error *err)
{
	int native = (int)ZSTD_getErrorCode(result);

	if (native == ZSTD_error_memory_allocation)
		status = TF_E_NO_MEMORY;
	return tf_error_set(
		err, status, "zstd", native, file, line, "%s: %s", call, ZSTD_getErrorName(result));
}

/* Stores the result of `call` in `to`; leaves the function with `status` if it is an error. */
#define TF_ZSTD(err, status, to, call)                                                             \
	do {                                                                                           \
		(to) = (call);                                                                             \
		if (ZSTD_isError(to))                                                                      \
			return tf_zstd_fail((to), (status), #call, __FILE__, __LINE__, (err));                 \
	} while (0)

#ifdef __cplusplus
}
#endif
#endif
