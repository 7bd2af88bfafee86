/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's copy is looked up by name: a device has loaded the library by then. */
#include "tests/device/planted_comm.h"

#include <dlfcn.h>
#include <string.h>

static enum tf_status copy(
	const void *from, void *to, uint64_t bytes, void *stream, struct tf_error *err)
{
	int (*to_driver)(uint64_t, uint64_t, size_t, void *) = NULL;
	void *driver;
	int code;

	if (!stream) {
		memcpy(to, from, bytes);
		return TF_OK;
	}
	driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	if (driver)
		*(void **)&to_driver = dlsym(driver, "cuMemcpyDtoDAsync_v2");
	if (!to_driver)
		return TF_FAIL(err, TF_E_UNAVAILABLE, "no driver to copy with");
	code = to_driver((uintptr_t)to, (uintptr_t)from, bytes, stream);
	dlclose(driver);
	if (code)
		return tf_error_set(err, TF_E_SYSTEM, "cuda", code, __FILE__, __LINE__,
			"cuMemcpyDtoDAsync failed: %d", code);
	return TF_OK;
}

static enum tf_status enqueue(struct tf_comm_caller *caller, uint32_t group, const void *from,
	void *to, void *stream, struct tf_error *err)
{
	struct planted_comm *planted = (struct planted_comm *)caller;
	uint32_t call = planted->call_count++;

	if (call < PLANTED_COMM_CALLS) {
		planted->calls[call].group = group;
		planted->calls[call].from = from;
		planted->calls[call].to = to;
		planted->calls[call].stream = stream;
	}
	TF_TRY(copy(from, to, planted->bytes, stream, err));
	if (planted->call_count == planted->fail_at)
		return TF_FAIL(err, TF_E_DISCONNECTED, "planted to fail");
	return TF_OK;
}

static void graph_ref(struct tf_comm_caller *caller)
{
	struct planted_comm *planted = (struct planted_comm *)caller;

	planted->refs++;
	planted->held++;
}

static void graph_unref(struct tf_comm_caller *caller)
{
	((struct planted_comm *)caller)->held--;
}

void planted_comm_init(struct planted_comm *planted, uint64_t bytes)
{
	memset(planted, 0, sizeof(*planted));
	planted->caller = (struct tf_comm_caller){
		.name = "planted", .enqueue = enqueue, .graph_ref = graph_ref, .graph_unref = graph_unref};
	planted->bytes = bytes;
}
