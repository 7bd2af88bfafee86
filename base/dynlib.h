/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Libraries opened at run time. A user of one keeps an X-macro list of its symbols and a table
 * struct of pointers; tf_dynlib_open fills the table or says which library or symbol is missing.
 */
#ifndef TF_BASE_DYNLIB_H
#define TF_BASE_DYNLIB_H

#include <stddef.h>

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_dynlib_symbol {
	const char *name;
	size_t table_off; /* offsetof the function pointer in the table struct */
	int optional;     /* absent: the pointer stays NULL */
};

/*
 * Opens the first of `sonames` (ends with NULL; SONAME before development name) that loads, and
 * resolves `symbols` (ends with a NULL name) into `table`.
 * TF_E_UNAVAILABLE: no such library (the text lists every name tried and the loader's words), or a
 * symbol that is not optional is missing (the text names it and the library that was opened).
 * TF_E_NO_MEMORY; TF_E_INTERNAL: a symbol lies outside the table. `table` is untouched on
 * failure; on success its members that are no symbols are zero. *out_handle is closed with
 * tf_dynlib_close.
 */
TF_WARN_UNUSED enum tf_status tf_dynlib_open(const char *const *sonames,
	const struct tf_dynlib_symbol *symbols, void *table, size_t table_bytes, void **out_handle,
	struct tf_error *err);

/* Takes NULL. */
void tf_dynlib_close(void *handle);

/* Whether this process has the library already; loads nothing. */
int tf_dynlib_is_loaded(const char *soname);

/* Test hook: resolving the n-th symbol from now fails; 0 switches it off. */
void tf_dynlib_fail_at(unsigned nth);

#ifdef __cplusplus
}
#endif
#endif
