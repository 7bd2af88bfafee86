/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way from the fake NCCL to the fake driver (tests/device), and what is said of it to the
 * runtime: whether this library takes the host's memory.
 */
#include <dlfcn.h>

#include "tests/nccl/fake_stream.h"

#define EXPORT __attribute__((visibility("default")))

/*
 * What the table looks for: 1 where work runs on the host's own streams. A process that opens this
 * library before the driver would be told wrongly, so nothing may do so on GPUs.
 */
EXPORT int fake_nccl_runs_on_host = 1;

/* NULL: not loaded, or not the fake one. The driver stays loaded for the process's life. */
static void *driver_symbol(const char *name)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	void *symbol = driver ? dlsym(driver, name) : (void *)0;

	if (driver)
		dlclose(driver);
	return symbol;
}

__attribute__((constructor)) static void look_for_driver(void)
{
	fake_nccl_runs_on_host = !driver_symbol("fake_enqueue");
}

int fake_stream_is_driver(void)
{
	return !fake_nccl_runs_on_host;
}

int fake_stream_to_driver(
	struct CUstream_st *stream, fake_work_fn run, const void *work, size_t bytes)
{
	int (*enqueue)(struct CUstream_st *, fake_work_fn, const void *, size_t);

	*(void **)&enqueue = driver_symbol("fake_enqueue");
	return enqueue(stream, run, work, bytes);
}

int fake_stream_is_captured(struct CUstream_st *stream)
{
	int (*is_captured)(struct CUstream_st *);

	*(void **)&is_captured = driver_symbol("fake_is_captured");
	return is_captured && is_captured(stream);
}

int fake_stream_held(void)
{
	int (*held)(void);

	*(void **)&held = driver_symbol("fake_calls_held");
	return held ? held() : 0;
}
