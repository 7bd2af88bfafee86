/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that a rank does with a CUDA device, in order, and captures on its stream: what is
 * told when a call of the driver fails, that each of them may fail, and that nothing is left.
 */
#include "tests/device/cuda_device_cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cuda.h>
#include <sodium.h>

#include "base/deadline.h"
#include "catalog/program.h"
#include "runtime/device/cuda/cuda_capture.h"
#include "runtime/device/cuda/cuda_plain.h"
#include "tests/device/device_kernels.h"
#include "tests/device/planted_comm.h"

#define UUID_OF_0 "GPU-10101010-1010-1010-1010-101010101010"

static const struct tf_device_ops *const ops = &tf_cuda_device_ops;

/* Everything that a rank does with a device, in order; what was made is in it. */
struct work {
	struct tf_device *device, *guest;
	struct tf_window *window;
	struct tf_module_handle *module;
	struct tf_stream *stream;
	struct tf_exec *exec;
	struct planted_comm planted;
	int fd;
	struct tf_error err;
};

static enum tf_status make_window(struct work *work)
{
	const uint8_t token[TF_WINDOW_TOKEN_BYTES] = "work";

	TF_TRY(ops->segment_create(work->device, 2 * MIB, &work->fd, &work->err));
	TF_TRY(ops->window_open(work->device, token, 0, 2 * MIB, 1, &work->window, &work->err));
	return ops->window_map(work->window, 0, work->fd, 2 * MIB, &work->err);
}

static enum tf_status make_graph(struct work *work, uint8_t *memory, struct tf_launch_call *call)
{
	const struct tf_exec_node nodes[] = {
		{.kind = TF_NODE_KERNEL, .launch = *call},
		{.kind = TF_NODE_COPY, .to = memory + 64, .from = memory, .bytes = 8},
		{.kind = TF_NODE_SET, .to = memory + 128, .bytes = 8, .value = 7},
		{.kind = TF_NODE_EMPTY},
		{.kind = TF_NODE_COMM,
			.caller = &work->planted.caller,
			.to = memory + 2048,
			.from = memory + 64},
	};
	const struct tf_exec_edge edges[] = {
		{.from = 0, .to = 1}, {.from = 1, .to = 2}, {.from = 1, .to = 4}};

	return ops->graph_build(work->device, nodes, 5, edges, 3, &work->exec, &work->err);
}

static enum tf_status run_work(struct work *work)
{
	const uint8_t image[] = "image";
	uint8_t digest[32], *memory;
	struct test_store_args args = {.value = 42};
	struct tf_launch_call call = {
		.grid = {1, 1, 1}, .block = {1, 1, 1}, .args = &args, .args_bytes = sizeof(args)};
	const void *note = NULL;
	uint64_t found = 0;

	planted_comm_init(&work->planted, 8);
	crypto_hash_sha256(digest, image, sizeof(image));
	TF_TRY(ops->open(0, &work->device, &work->err));
	TF_TRY(make_window(work));
	memory = (uint8_t *)(uintptr_t)ops->window_base(work->window);
	args.to = (uint64_t *)(uintptr_t)memory;
	TF_TRY(ops->module_load(work->device, image, sizeof(image), digest, &work->module, &work->err));
	TF_TRY(ops->kernel_find(work->module, "test_store", sizeof(args), &call.kernel, &work->err));
	TF_TRY(ops->stream_create(work->device, &work->stream, &work->err));
	TF_TRY(make_graph(work, memory, &call));
	TF_TRY(ops->stream_launch(work->stream, &call, &work->err));
	TF_TRY(ops->stream_copy(work->stream, memory + 256, memory, 8, &work->err));
	TF_TRY(ops->stream_comm(work->stream,
		&(struct tf_comm_call){&work->planted.caller, 0, memory, memory + 3072, 8}, &work->err));
	TF_TRY(ops->stream_set(work->stream, memory + 512, 1, 8, &work->err));
	TF_TRY(ops->stream_graph(work->stream, work->exec, &work->err));
	TF_TRY(ops->stream_note(work->stream, memory, 8, &note, &work->err));
	TF_TRY(ops->stream_wait(work->stream, tf_deadline_after(TF_NS_PER_S), &work->err));
	TF_TRY(ops->write(work->device, memory + 1024, memory, 8, &work->err));
	TF_TRY(ops->read(work->device, &found, memory + 2048, 8, &work->err));
	assert_int_equal(found, 42);
	TF_TRY(ops->read(work->device, &found, memory + 3072, 8, &work->err));
	assert_int_equal(found, 42);
	TF_TRY(ops->read(work->device, &found, memory + 64, 8, &work->err));
	assert_int_equal(found, 42);
	assert_memory_equal(note, &found, sizeof(found));
	TF_TRY(ops->graph_enqueue(work->exec, CU_STREAM_PER_THREAD, &work->err));
	TF_TRY(ops->guest_open(UUID_OF_0, &work->guest, &work->err));
	return TF_OK;
}

static void end_work(struct work *work)
{
	assert_int_equal(work->planted.held, work->exec != NULL);
	ops->graph_destroy(work->exec);
	assert_int_equal(work->planted.held, 0);
	ops->stream_destroy(work->stream);
	ops->module_unload(work->module);
	ops->window_close(work->window);
	if (work->fd >= 0)
		close(work->fd);
	ops->close(work->guest);
	ops->close(work->device);
}

static void check_work(const char *failing, enum tf_status expected, const char *words)
{
	struct work work = {.fd = -1};
	enum tf_status status;

	setenv("FAKE_CUDA_FAIL", failing, 1);
	status = run_work(&work);
	unsetenv("FAKE_CUDA_FAIL");
	assert_int_equal(status, work.err.status);
	check_text(&work.err, expected, words);
	end_work(&work);
}

void test_texts(void **state)
{
	(void)state;
	check_work("cuMemCreate:1", TF_E_SYSTEM,
		"a segment of 2097152 bytes on device 0: cuMemCreate(&handle, bytes, &prop, 0) failed: "
		"CUDA_ERROR_INVALID_VALUE (1): invalid argument");
	check_work("cuMemCreate:2", TF_E_NO_MEMORY, "a code unknown to the driver (2)");
	check_work("cuMemCreate:801", TF_E_UNSUPPORTED, "(801)");
	check_work("cuStreamQuery:700", TF_E_SYSTEM, "; the device is lost to this process");
	check_work("cuMemImportFromShareableHandle:1", TF_E_MISFIT, "is no segment of a CUDA device");
	check_work("cuMemMap:1", TF_E_SYSTEM, "cuMemMap(address, bytes, 0, handle, 0)");
	check_work("cuLibraryGetKernel:500", TF_E_NOT_FOUND, "kernel 'test_store': it is not in");
	check_work("cuGraphAddMemcpyNode:1", TF_E_SYSTEM, "node 1: cuGraphAddMemcpyNode(");
	check_work("cuGraphInstantiateWithParams:1", TF_E_SYSTEM,
		"node 4 (result 2): cuGraphInstantiateWithParams(");
	check_work("cuStreamBeginCapture:1", TF_E_SYSTEM, "node 4: cuStreamBeginCapture(");
	check_work("cuStreamEndCapture:1", TF_E_SYSTEM, "node 4: cuStreamEndCapture(");
	check_work("cuGraphAddChildGraphNode:1", TF_E_SYSTEM,
		"node 4: comm 'planted' of group 0: cuGraphAddChildGraphNode(");
	check_work("cuLaunchKernelEx:1", TF_E_SYSTEM, "stream: kernel 'test_store': cuLaunchKernelEx(");
}

/* Each call of the driver fails in turn: the work says so, and nothing is left behind. */
void test_every_failure(void **state)
{
	int failures = 0;

	(void)state;
	for (size_t i = 0; i < cuda_name_count; i++) {
		struct work work = {.fd = -1};
		char failing[64];
		enum tf_status status;

		snprintf(failing, sizeof(failing), "%s:999", cuda_names[i]);
		setenv("FAKE_CUDA_FAIL", failing, 1);
		status = run_work(&work);
		unsetenv("FAKE_CUDA_FAIL");
		if (status != TF_OK) {
			assert_int_equal(status, work.err.status);
			assert_non_null(strstr(work.err.text, cuda_names[i]));
			assert_int_equal(work.err.native, 999);
			failures++;
		}
		end_work(&work);
		work = (struct work){.fd = -1};
		if (run_work(&work) != TF_OK)
			fail_msg("after '%s': %s", cuda_names[i], work.err.text);
		end_work(&work);
	}
	assert_true(failures >= 37);
}

/* Launches `value` into `to` on the work's stream, and ends the capture. */
static enum tf_status capture_store(
	struct work *work, uint64_t *to, uint64_t value, struct tf_exec **out)
{
	struct test_store_args args = {.to = to, .value = value};
	struct tf_launch_call call = {
		.grid = {1, 1, 1}, .block = {1, 1, 1}, .args = &args, .args_bytes = sizeof(args)};

	TF_TRY(ops->kernel_find(work->module, "test_store", sizeof(args), &call.kernel, &work->err));
	TF_TRY(tf_cuda_capture_begin(work->stream, &work->err));
	TF_TRY(ops->stream_launch(work->stream, &call, &work->err));
	return tf_cuda_capture_end(work->stream, out, &work->err);
}

static enum tf_status no_tap(void *user, const struct tf_exec_node *node, struct tf_error *err)
{
	(void)user, (void)node, (void)err;
	return TF_OK;
}

/*
 * What is launched in a capture runs with the graph and not before, on memory outside the window.
 */
void test_capture(void **state)
{
	int64_t soon = tf_deadline_after(10 * TF_NS_PER_S);
	struct work work = {.fd = -1};
	struct tf_exec *exec = NULL;
	uint64_t found = 0, before = 1;
	void *memory = NULL, *native = NULL;

	(void)state;
	assert_int_equal(run_work(&work), TF_OK);
	assert_int_equal(tf_cuda_capture_stream(work.stream, &native, &work.err), TF_OK);
	assert_non_null(native);
	assert_int_equal(tf_cuda_plain_alloc(work.device, 64, &memory, &work.err), TF_OK);
	assert_int_equal(tf_cuda_plain_write(work.device, memory, &before, 8, &work.err), TF_OK);
	assert_int_equal(capture_store(&work, memory, 42, &exec), TF_OK);
	assert_int_equal(ops->stream_wait(work.stream, soon, &work.err), TF_OK);
	assert_int_equal(tf_cuda_plain_read(work.device, &found, memory, 8, &work.err), TF_OK);
	assert_int_equal(found, 1);
	assert_int_equal(ops->stream_graph(work.stream, exec, &work.err), TF_OK);
	assert_int_equal(ops->stream_wait(work.stream, soon, &work.err), TF_OK);
	assert_int_equal(tf_cuda_plain_read(work.device, &found, memory, 8, &work.err), TF_OK);
	assert_int_equal(found, 42);
	ops->stream_tap(work.stream, no_tap, NULL);
	assert_int_equal(ops->stream_graph(work.stream, exec, &work.err), TF_E_UNSUPPORTED);
	ops->stream_tap(work.stream, NULL, NULL);
	ops->graph_destroy(exec);
	/* A capture that is given up leaves the stream as it was. */
	assert_int_equal(tf_cuda_capture_begin(work.stream, &work.err), TF_OK);
	assert_int_equal(tf_cuda_capture_begin(work.stream, &work.err), TF_E_SYSTEM);
	tf_cuda_capture_cancel(work.stream);
	assert_int_equal(ops->stream_graph(work.stream, work.exec, &work.err), TF_OK);
	tf_cuda_plain_free(work.device, memory);
	tf_cuda_plain_free(work.device, NULL);
	end_work(&work);
}

void test_capture_failures(void **state)
{
	static const struct {
		const char *failing, *words;
	} cases[] = {
		{"cuStreamBeginCapture:1", "cuStreamBeginCapture("},
		{"cuStreamEndCapture:1", "cuStreamEndCapture("},
		{"cuGraphInstantiateWithParams:1", "cuGraphInstantiateWithParams("},
		{"cuGraphUpload:1", "cuGraphUpload("},
		{"cuLaunchKernelEx:1", "cuLaunchKernelEx("},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct work work = {.fd = -1};
		struct tf_exec *exec = NULL;
		uint64_t unused = 0;

		assert_int_equal(run_work(&work), TF_OK);
		setenv("FAKE_CUDA_FAIL", cases[i].failing, 1);
		assert_int_equal(capture_store(&work, &unused, 1, &exec), TF_E_SYSTEM);
		unsetenv("FAKE_CUDA_FAIL");
		check_text(&work.err, TF_E_SYSTEM, cases[i].words);
		assert_null(exec);
		tf_cuda_capture_cancel(work.stream);
		end_work(&work);
	}
}
