/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's current context, in builds that know the driver; else nothing. */
#include "runtime/device/caller_context.h"

#include <stddef.h>

#if TF_HAVE_CUDA

#include "base/dynlib.h"
#include "runtime/device/cuda/cuda_context.h"

void tf_caller_context_learn(void)
{
	const struct tf_cuda_api *api;

	/* One that we cannot use is none that we change. */
	if (!tf_cuda_api_peek() && tf_dynlib_is_loaded("libcuda.so.1"))
		(void)!tf_cuda_api_open(&api, NULL);
}

void tf_caller_context_note(struct tf_caller_context *out)
{
	out->handle = tf_cuda_context_current();
}

void tf_caller_context_put_back(const struct tf_caller_context *noted)
{
	tf_cuda_context_put_back(noted->handle);
}

#else

void tf_caller_context_learn(void)
{
}

void tf_caller_context_note(struct tf_caller_context *out)
{
	out->handle = NULL;
}

void tf_caller_context_put_back(const struct tf_caller_context *noted)
{
	(void)noted;
}

#endif
