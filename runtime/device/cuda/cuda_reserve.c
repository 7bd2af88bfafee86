/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses without memory: at a place that all ranks agreed on, or wherever there is room. */
#include "runtime/device/cuda/cuda_reserve.h"

#include <sys/mman.h>

/*
 * The driver takes what fits from ranges that it has reserved before, and then ignores the address
 * asked for. How large these are depends on what the process has allocated: on driver 580, 16 MiB
 * were never where asked and 32 MiB always in a fresh process, but 300 MiB never where PyTorch had
 * made one tensor. So an address that is ignored although nothing is there is asked for again with
 * more than any such range holds; addresses cost nothing. Not so where something is there: the
 * large range would be had elsewhere, and kept by the driver for what comes next.
 */
#define RESERVE_BYTES       (UINT64_C(32) << 20)
#define RESERVE_AGAIN_BYTES (UINT64_C(64) << 30)

/* A range that the driver puts elsewhere is taken by something; the hint is no promise. */
static enum tf_status reserve_once(const struct tf_cuda_api *api, uint64_t base, uint64_t bytes,
	uint64_t granularity_bytes, uint64_t *out_base, struct tf_error *err)
{
	struct tf_error local = {0};
	CUdeviceptr got = 0;
	enum tf_status status =
		TF_CU(api, &local, cuMemAddressReserve(&got, bytes, granularity_bytes, base, 0));

	if (status == TF_OK && (!base || got == base)) {
		*out_base = got;
		return TF_OK;
	}
	if (status == TF_OK)
		(void)api->cuMemAddressFree(got, bytes);
	if (!base)
		return TF_FAIL(err, status, "cannot reserve %llu bytes of addresses: %s",
			(unsigned long long)bytes, local.text);
	if (status == TF_OK)
		return TF_FAIL(err, TF_E_MISFIT,
			"cannot reserve %llu bytes of addresses at 0x%llx: the range is taken, 0x%llx was "
			"offered",
			(unsigned long long)bytes, (unsigned long long)base, (unsigned long long)got);
	return TF_FAIL(err, TF_E_MISFIT,
		"cannot reserve %llu bytes of addresses at 0x%llx: the range is taken or out of reach: %s",
		(unsigned long long)bytes, (unsigned long long)base, local.text);
}

/* By the kernel, who knows of the driver's reservations too. */
static int is_free(uint64_t base, uint64_t bytes)
{
	void *at = (void *)(uintptr_t)base;
	void *got = mmap(at, bytes, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (got == MAP_FAILED)
		return 0;
	munmap(got, bytes);
	return got == at; /* kernels before 4.17 take it for a hint */
}

enum tf_status tf_cuda_reserve(const struct tf_cuda_api *api, uint64_t base, uint64_t bytes,
	uint64_t granularity_bytes, uint64_t *out_base, uint64_t *out_bytes, struct tf_error *err)
{
	uint64_t reserved_bytes = bytes > RESERVE_BYTES ? bytes : RESERVE_BYTES;
	enum tf_status status =
		reserve_once(api, base, reserved_bytes, granularity_bytes, out_base, err);

	if (status == TF_E_MISFIT && bytes < RESERVE_AGAIN_BYTES && is_free(base, reserved_bytes) &&
		reserve_once(api, base, RESERVE_AGAIN_BYTES, granularity_bytes, out_base, NULL) == TF_OK) {
		reserved_bytes = RESERVE_AGAIN_BYTES;
		status = TF_OK;
	}
	if (status == TF_OK)
		*out_bytes = reserved_bytes;
	return status;
}
