/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filling the table of NCCL's functions, and turning its codes into errors.
 *
 * 1. Nothing but ncclGetVersion is looked up before the version has been found new enough, so an
 *    old library is refused by its version and not by the first function that it lacks.
 * 2. `table` is complete and constant once `table_is_full`; both change under the lock.
 */
#include "runtime/comm/nccl/nccl_api.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/dynlib.h"

static const char *const sonames[] = {"libnccl.so.2", "libnccl.so", NULL};

struct version_entry {
	int (*get_version)(int *version);
};

static const struct tf_dynlib_symbol version_symbols[] = {
	{"ncclGetVersion", offsetof(struct version_entry, get_version), 0},
	{NULL, 0, 0},
};

struct symbol {
	const char *name;
	int since;
	size_t table_off;
};

static const struct symbol symbols[] = {
#define TF_ROW(name, since, parameters) {#name, since, offsetof(struct tf_nccl_api, name)},
	TF_NCCL_CALLS(TF_ROW) TF_NCCL_TEXTS(TF_ROW)
#undef TF_ROW
};

#define SYMBOL_COUNT (sizeof(symbols) / sizeof(symbols[0]))

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tf_nccl_api table;
static int table_is_full;

const char *tf_nccl_version_text(int version, char *out)
{
	snprintf(out, TF_NCCL_VERSION_BYTES, "%d.%d.%d", version / 10000, version / 100 % 100,
		version % 100);
	return out;
}

static enum tf_status check_version(
	const struct version_entry *entry, int *out, struct tf_error *err)
{
	char found[TF_NCCL_VERSION_BYTES], wanted[TF_NCCL_VERSION_BYTES];
	int version = 0, result = entry->get_version(&version);

	if (result != TF_NCCL_SUCCESS)
		return tf_error_set(err, TF_E_UNAVAILABLE, "nccl", result, __FILE__, __LINE__,
			"NCCL: ncclGetVersion failed with code %d", result);
	/* Up to 2.8 a version was written with four digits, which is below all that count here. */
	if (version < TF_NCCL_VERSION_MIN)
		return TF_FAIL(err, TF_E_UNAVAILABLE, "NCCL is of version %s, this build needs %s or newer",
			version < TF_NCCL_VERSION(1, 0, 0) ? "2.8 or older"
											   : tf_nccl_version_text(version, found),
			tf_nccl_version_text(TF_NCCL_VERSION_MIN, wanted));
	*out = version;
	return TF_OK;
}

/* Every function that a library of this version has. */
static enum tf_status resolve(int version, struct tf_nccl_api *filled, struct tf_error *err)
{
	struct tf_dynlib_symbol wanted[SYMBOL_COUNT + 2] = {{NULL, 0, 0}};
	char text[TF_NCCL_VERSION_BYTES];
	size_t count = 0;
	void *library; /* stays open */
	enum tf_status status;

	for (size_t i = 0; i < SYMBOL_COUNT; i++) {
		if (symbols[i].since <= version)
			wanted[count++] = (struct tf_dynlib_symbol){symbols[i].name, symbols[i].table_off, 0};
	}
	wanted[count] = (struct tf_dynlib_symbol){
		"fake_nccl_runs_on_host", offsetof(struct tf_nccl_api, runs_on_host), 1};
	status = tf_dynlib_open(sonames, wanted, filled, sizeof(*filled), &library, err);
	if (status != TF_OK)
		tf_error_prefix(err, "NCCL %s", tf_nccl_version_text(version, text));
	return status;
}

/* Under the lock. A library that will not do is closed: nothing of it has run. */
static enum tf_status fill_table(struct tf_error *err)
{
	struct version_entry entry = {0};
	struct tf_nccl_api filled = {0};
	void *library = NULL;
	enum tf_status status;
	int version = 0;

	TF_TRY(tf_dynlib_open(sonames, version_symbols, &entry, sizeof(entry), &library, err));
	status = check_version(&entry, &version, err);
	if (status == TF_OK)
		status = resolve(version, &filled, err);
	tf_dynlib_close(library);
	if (status != TF_OK)
		return status;
	filled.version = version;
	table = filled;
	table_is_full = 1;
	return TF_OK;
}

enum tf_status tf_nccl_api_open(const struct tf_nccl_api **out, struct tf_error *err)
{
	enum tf_status status = TF_OK;

	pthread_mutex_lock(&table_lock);
	if (!table_is_full)
		status = fill_table(err);
	pthread_mutex_unlock(&table_lock);
	if (status == TF_OK)
		*out = &table;
	return status;
}

enum tf_status tf_nccl_check(const struct tf_nccl_api *api, int result, const char *call,
	struct tf_error *err, const char *file, int line)
{
	const char *words, *last;

	if (result == TF_NCCL_SUCCESS || result == TF_NCCL_IN_PROGRESS)
		return TF_OK;
	words = api->ncclGetErrorString(result);
	last = api->ncclGetLastError(NULL);
	return tf_error_set(err, result == TF_NCCL_REMOTE_ERROR ? TF_E_DISCONNECTED : TF_E_SYSTEM,
		"nccl", result, file, line, "%s failed: %s (%d)%s%s", call,
		words ? words : "no reason given", result, last && last[0] ? ": " : "", last ? last : "");
}
