/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fake driver's contexts: a primary one a device, counted, and those that a caller makes. Which
 * one is current is a thread's own; with none, or one that has ended, the driver's answer is an
 * error.
 */
#include "tests/device/fake_driver.h"

#include <stdlib.h>

#define DEVICES_MAX 8
#define MADE_MAX    8

struct context {
	CUdevice device;
	int retains; /* of a primary context; 1 for one that was made, until it is destroyed */
};

static struct context primaries[DEVICES_MAX], made[MADE_MAX];
static __thread struct context *current;

static int stale_uses;

/* For tests: how often a context that had ended was made current. */
__attribute__((visibility("default"))) int fake_stale_uses(void);

int fake_stale_uses(void)
{
	return __atomic_load_n(&stale_uses, __ATOMIC_SEQ_CST);
}

/* For tests. */
__attribute__((visibility("default"))) int fake_primary_retains(int device);

int fake_primary_retains(int device)
{
	return __atomic_load_n(&primaries[device].retains, __ATOMIC_SEQ_CST);
}

static int is_alive(const struct context *context)
{
	return context && __atomic_load_n(&context->retains, __ATOMIC_SEQ_CST) > 0;
}

CUresult fake_cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
	FAKE_MAY_FAIL("cuDevicePrimaryCtxRetain");
	if (device >= DEVICES_MAX)
		return CUDA_ERROR_INVALID_DEVICE;
	__atomic_store_n(&primaries[device].device, device, __ATOMIC_RELAXED);
	__atomic_add_fetch(&primaries[device].retains, 1, __ATOMIC_SEQ_CST);
	*context = (CUcontext)(uintptr_t)&primaries[device];
	return CUDA_SUCCESS;
}

CUresult fake_cuDevicePrimaryCtxRelease(CUdevice device)
{
	return __atomic_sub_fetch(&primaries[device].retains, 1, __ATOMIC_SEQ_CST) < 0
		? CUDA_ERROR_INVALID_CONTEXT
		: CUDA_SUCCESS;
}

CUresult fake_cuCtxCreate(CUcontext *out, unsigned flags, CUdevice device)
{
	(void)flags;
	for (int i = 0; i < MADE_MAX; i++) {
		int none = 0;

		if (!__atomic_compare_exchange_n(
				&made[i].retains, &none, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			continue;
		made[i].device = device;
		current = &made[i];
		*out = (CUcontext)(uintptr_t)current;
		return CUDA_SUCCESS;
	}
	return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult fake_cuCtxDestroy(CUcontext context)
{
	struct context *ended = (struct context *)(uintptr_t)context;

	if (!is_alive(ended))
		return CUDA_ERROR_INVALID_CONTEXT;
	__atomic_store_n(&ended->retains, 0, __ATOMIC_SEQ_CST);
	if (current == ended)
		current = NULL;
	return CUDA_SUCCESS;
}

CUcontext fake_current(void)
{
	return (CUcontext)(uintptr_t)current;
}

CUresult fake_cuCtxGetCurrent(CUcontext *out)
{
	FAKE_MAY_FAIL("cuCtxGetCurrent");
	*out = fake_current();
	return CUDA_SUCCESS;
}

CUresult fake_cuCtxGetDevice(CUdevice *out)
{
	FAKE_MAY_FAIL("cuCtxGetDevice");
	if (!is_alive(current))
		return current ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_CONTEXT;
	*out = __atomic_load_n(&current->device, __ATOMIC_RELAXED);
	return CUDA_SUCCESS;
}

CUresult fake_cuCtxSetCurrent(CUcontext context)
{
	FAKE_MAY_FAIL("cuCtxSetCurrent");
	if (context && !is_alive((struct context *)(uintptr_t)context)) {
		__atomic_add_fetch(&stale_uses, 1, __ATOMIC_SEQ_CST);
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	}
	current = (struct context *)(uintptr_t)context;
	return CUDA_SUCCESS;
}
