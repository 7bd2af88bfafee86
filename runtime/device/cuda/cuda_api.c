/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filling the table of the driver's functions, and turning its codes into errors.
 *
 * Invariant: `table` is complete and constant once `table_is_full`; both change under the lock,
 * the flag last.
 */
#include "runtime/device/cuda/cuda_api.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/dynlib.h"

static const char *const sonames[] = {"libcuda.so.1", NULL};

struct entry_points {
	PFN_cuGetProcAddress_v12000 get_proc_address;
	PFN_cuDriverGetVersion_v2020 driver_get_version;
};

/* The version is asked by name, so that a driver too old for the other one can be named as such. */
static const struct tf_dynlib_symbol entry_symbols[] = {
	{"cuDriverGetVersion", offsetof(struct entry_points, driver_get_version), 0},
	{"cuGetProcAddress_v2", offsetof(struct entry_points, get_proc_address), 1},
	{NULL, 0, 0},
};

struct symbol {
	const char *name;
	int version;
	size_t table_off;
};

static const struct symbol symbols[] = {
#define TF_ROW(name, version) {#name, version, offsetof(struct tf_cuda_api, name)},
	TF_CUDA_SYMBOLS(TF_ROW)
#undef TF_ROW
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tf_cuda_api table;
static int table_is_full;
static struct entry_points entry_points;

static enum tf_status check_version(struct tf_error *err)
{
	int version = 0;
	CUresult code = entry_points.driver_get_version(&version);

	if (code != CUDA_SUCCESS)
		return tf_error_set(err, TF_E_UNAVAILABLE, "cuda", (int)code, __FILE__, __LINE__,
			"'libcuda.so.1': cuDriverGetVersion failed with code %d", (int)code);
	if (version < TF_CUDA_DRIVER_MIN || !entry_points.get_proc_address)
		return TF_FAIL(err, TF_E_UNAVAILABLE,
			"the driver is of CUDA %d.%d, this build needs %d.%d or newer", version / 1000,
			version % 1000 / 10, TF_CUDA_DRIVER_MIN / 1000, TF_CUDA_DRIVER_MIN % 1000 / 10);
	return TF_OK;
}

static enum tf_status resolve(struct tf_cuda_api *filled, struct tf_error *err)
{
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		const struct symbol *symbol = &symbols[i];
		CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
		void *address = NULL;
		CUresult code = entry_points.get_proc_address(
			symbol->name, &address, symbol->version, CU_GET_PROC_ADDRESS_DEFAULT, &found);

		if (code != CUDA_SUCCESS || found != CU_GET_PROC_ADDRESS_SUCCESS || !address)
			return tf_error_set(err, TF_E_UNAVAILABLE, "cuda", (int)code, __FILE__, __LINE__,
				"'libcuda.so.1' lacks '%s' of CUDA %d.%d%s", symbol->name, symbol->version / 1000,
				symbol->version % 1000 / 10,
				found == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT ? ": it has a newer one only"
																	: "");
		memcpy((char *)filled + symbol->table_off, &address, sizeof(address));
	}
	return TF_OK;
}

/* Under the lock. A library that will not do is closed: nothing of it has run. */
static enum tf_status fill_table(struct tf_error *err)
{
	struct tf_cuda_api filled = {0};
	void *library = NULL;
	enum tf_status status;

	TF_TRY(
		tf_dynlib_open(sonames, entry_symbols, &entry_points, sizeof(entry_points), &library, err));
	status = check_version(err);
	if (status == TF_OK)
		status = resolve(&filled, err);
	if (status != TF_OK) {
		tf_dynlib_close(library);
		return status;
	}
	table = filled;
	__atomic_store_n(&table_is_full, 1, __ATOMIC_RELEASE);
	return TF_OK;
}

enum tf_status tf_cuda_api_open(const struct tf_cuda_api **out, struct tf_error *err)
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

const struct tf_cuda_api *tf_cuda_api_peek(void)
{
	return __atomic_load_n(&table_is_full, __ATOMIC_ACQUIRE) ? &table : NULL;
}

static enum tf_status status_of(CUresult code)
{
	switch (code) {
	case CUDA_ERROR_OUT_OF_MEMORY:
		return TF_E_NO_MEMORY;
	case CUDA_ERROR_NOT_SUPPORTED:
		return TF_E_UNSUPPORTED;
	case CUDA_ERROR_STUB_LIBRARY:
	case CUDA_ERROR_DEVICE_UNAVAILABLE:
	case CUDA_ERROR_NO_DEVICE:
	case CUDA_ERROR_INVALID_DEVICE:
	case CUDA_ERROR_SYSTEM_NOT_READY:
	case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
	case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
		return TF_E_UNAVAILABLE;
	default:
		return TF_E_SYSTEM;
	}
}

/* Codes after which every further call in the context fails. */
static int loses_the_context(CUresult code)
{
	switch (code) {
	case CUDA_ERROR_ILLEGAL_ADDRESS:
	case CUDA_ERROR_LAUNCH_TIMEOUT:
	case CUDA_ERROR_ASSERT:
	case CUDA_ERROR_HARDWARE_STACK_ERROR:
	case CUDA_ERROR_ILLEGAL_INSTRUCTION:
	case CUDA_ERROR_MISALIGNED_ADDRESS:
	case CUDA_ERROR_INVALID_ADDRESS_SPACE:
	case CUDA_ERROR_INVALID_PC:
	case CUDA_ERROR_LAUNCH_FAILED:
	case CUDA_ERROR_ECC_UNCORRECTABLE:
		return 1;
	default:
		return 0;
	}
}

enum tf_status tf_cuda_check(const struct tf_cuda_api *api, CUresult code, const char *call,
	struct tf_error *err, const char *file, int line)
{
	const char *name = NULL, *words = NULL;

	if (code == CUDA_SUCCESS)
		return TF_OK;
	(void)api->cuGetErrorName(code, &name);
	(void)api->cuGetErrorString(code, &words);
	return tf_error_set(err, status_of(code), "cuda", (int)code, file, line,
		"%s failed: %s (%d): %s%s", call, name ? name : "a code unknown to the driver", (int)code,
		words ? words : "no reason given",
		loses_the_context(code) ? "; the device is lost to this process" : "");
}
