/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses without memory: at a place that all ranks agreed on, or wherever there is room. */
#include "runtime/device/cuda/cuda_reserve.h"

/*
 * The driver takes what fits from ranges that it has reserved before, and then ignores the address
 * asked for. How large these are depends on what the process has allocated: on driver 580, 16 MiB
 * were never where asked and 32 MiB always in a fresh process, but 300 MiB never where PyTorch had
 * made one tensor. A range that was offered elsewhere and given back is such a range too. So what
 * is offered is kept while the same is asked for again, and then more than any such range holds;
 * addresses cost nothing.
 */
#define RESERVE_BYTES       (UINT64_C(32) << 20)
#define RESERVE_AGAIN_BYTES (UINT64_C(64) << 30)
#define TRIES               3

/*
 * A range that the driver puts elsewhere is taken by something; the hint is no promise. The range
 * offered instead is in *out_elsewhere, whatever comes of it, or 0.
 */
static enum tf_status reserve_once(const struct tf_cuda_api *api, uint64_t base, uint64_t bytes,
	uint64_t granularity_bytes, uint64_t *out_base, CUdeviceptr *out_elsewhere,
	struct tf_error *err)
{
	struct tf_error local = {0};
	CUdeviceptr got = 0;
	enum tf_status status =
		TF_CU(api, &local, cuMemAddressReserve(&got, bytes, granularity_bytes, base, 0));

	*out_elsewhere = 0;
	if (status == TF_OK && (!base || got == base)) {
		*out_base = got;
		return TF_OK;
	}
	if (!base)
		return TF_FAIL(err, status, "cannot reserve %llu bytes of addresses: %s",
			(unsigned long long)bytes, local.text);
	if (status == TF_OK) {
		*out_elsewhere = got;
		return TF_FAIL(err, TF_E_MISFIT,
			"cannot reserve %llu bytes of addresses at 0x%llx: the range is taken, 0x%llx was "
			"offered",
			(unsigned long long)bytes, (unsigned long long)base, (unsigned long long)got);
	}
	return TF_FAIL(err, TF_E_MISFIT,
		"cannot reserve %llu bytes of addresses at 0x%llx: the range is taken or out of reach: %s",
		(unsigned long long)bytes, (unsigned long long)base, local.text);
}

enum tf_status tf_cuda_reserve(const struct tf_cuda_api *api, uint64_t base, uint64_t bytes,
	uint64_t granularity_bytes, uint64_t *out_base, uint64_t *out_bytes, struct tf_error *err)
{
	const uint64_t usual = bytes > RESERVE_BYTES ? bytes : RESERVE_BYTES;
	const uint64_t sizes[TRIES] = {
		usual, usual, usual > RESERVE_AGAIN_BYTES ? usual : RESERVE_AGAIN_BYTES};
	enum tf_status status = TF_E_MISFIT;
	CUdeviceptr elsewhere[TRIES];
	int tries = 0;

	/* the first refusal is the one told: it is of the size asked for */
	while (status == TF_E_MISFIT && tries < TRIES) {
		status = reserve_once(api, base, sizes[tries], granularity_bytes, out_base,
			&elsewhere[tries], tries ? NULL : err);
		tries++;
	}
	if (status == TF_OK)
		*out_bytes = sizes[tries - 1];
	while (tries--) {
		if (elsewhere[tries])
			(void)api->cuMemAddressFree(elsewhere[tries], sizes[tries]);
	}
	return status;
}
