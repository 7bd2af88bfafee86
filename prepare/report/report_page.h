/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page: template, style, scripts and chart library that were built in, around the data. It
 * loads nothing; its policy forbids every request and every script and style but its own.
 */
#ifndef TF_PREPARE_REPORT_REPORT_PAGE_H
#define TF_PREPARE_REPORT_REPORT_PAGE_H

#include "base/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * TF_E_UNAVAILABLE where the build had no chart library, saying why and what to do; asked first, so
 * that nothing else is done in vain.
 */
TF_WARN_UNUSED enum tf_status tf_report_page_available(struct tf_error *err);

/*
 * Appends the page to `out`, which the caller frees in any case. `title` is text, not markup;
 * `data` is what tf_report_data made. TF_E_UNAVAILABLE as above, TF_E_NO_MEMORY.
 */
TF_WARN_UNUSED enum tf_status tf_report_page(
	const char *title, const struct tf_bytes *data, struct tf_bytes *out, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
