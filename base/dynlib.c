/* SPDX-License-Identifier: Apache-2.0 */
/* dlopen with a list of names and all-or-nothing symbol tables. */
#include "base/dynlib.h"
#include "base/alloc.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static unsigned fail_countdown;

void tf_dynlib_fail_at(unsigned nth)
{
	fail_countdown = nth;
}

static void *resolve(void *handle, const char *name)
{
	if (fail_countdown && --fail_countdown == 0)
		return NULL;
	return dlsym(handle, name);
}

/* Adds "'NAME': the loader's words" to `tried`; what does not fit is cut with the error's text. */
static void note_failure(char *tried, size_t bytes, const char *soname)
{
	const char *words = dlerror();
	size_t used = strlen(tried);

	snprintf(tried + used, bytes - used, "%s'%s': %s", used ? "; " : "", soname,
		words ? words : "no reason given");
}

static enum tf_status open_first(
	const char *const *sonames, void **out_handle, const char **out_soname, struct tf_error *err)
{
	char tried[TF_ERROR_TEXT_BYTES] = "";

	for (; *sonames; sonames++) {
		void *handle = dlopen(*sonames, RTLD_NOW | RTLD_LOCAL);

		if (handle) {
			*out_handle = handle;
			*out_soname = *sonames;
			return TF_OK;
		}
		note_failure(tried, sizeof(tried), *sonames);
	}
	return TF_FAIL(
		err, TF_E_UNAVAILABLE, "cannot open %s", tried[0] ? tried : "a library without a name");
}

static enum tf_status resolve_all(void *handle, const char *soname,
	const struct tf_dynlib_symbol *symbols, uint8_t *filled, size_t table_bytes,
	struct tf_error *err)
{
	for (; symbols->name; symbols++) {
		void *address = resolve(handle, symbols->name);

		if (!address && !symbols->optional)
			return TF_FAIL(
				err, TF_E_UNAVAILABLE, "'%s' lacks the symbol '%s'", soname, symbols->name);
		if (symbols->table_off + sizeof(address) > table_bytes)
			return TF_FAIL(err, TF_E_INTERNAL, "symbol '%s' lies outside its table", symbols->name);
		memcpy(filled + symbols->table_off, &address, sizeof(address));
	}
	return TF_OK;
}

enum tf_status tf_dynlib_open(const char *const *sonames, const struct tf_dynlib_symbol *symbols,
	void *table, size_t table_bytes, void **out_handle, struct tf_error *err)
{
	enum tf_status status;
	const char *soname = NULL;
	void *handle = NULL;
	uint8_t *filled;

	TF_TRY(open_first(sonames, &handle, &soname, err));
	filled = tf_calloc(1, table_bytes);
	if (!filled) {
		status = TF_FAIL(err, TF_E_NO_MEMORY, "no memory for the symbols of '%s'", soname);
		goto fail;
	}
	status = resolve_all(handle, soname, symbols, filled, table_bytes, err);
	if (status != TF_OK)
		goto fail;
	memcpy(table, filled, table_bytes);
	tf_free(filled);
	*out_handle = handle;
	return TF_OK;
fail:
	tf_free(filled);
	dlclose(handle);
	return status;
}

void tf_dynlib_close(void *handle)
{
	if (handle)
		dlclose(handle);
}

int tf_dynlib_is_loaded(const char *soname)
{
	void *handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);

	if (!handle) {
		(void)dlerror();
		return 0;
	}
	dlclose(handle);
	return 1;
}
