/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA device on the fake driver of this folder (found through LD_LIBRARY_PATH): what it
 * refuses and how it says so, and that every call of the driver may fail.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sodium.h>

#include "base/deadline.h"
#include "catalog/program.h"
#include "runtime/device/cuda/cuda_api.h"
#include "runtime/device/cuda/cuda_capture.h"
#include "runtime/device/cuda/cuda_images.h"
#include "runtime/device/cuda/cuda_plain.h"
#include "runtime/device/device.h"
#include "tests/device/device_kernels.h"
#include "tests/device/planted_comm.h"

#define MIB       (UINT64_C(1) << 20)
#define UUID_OF_0 "GPU-10101010-1010-1010-1010-101010101010"

static const struct tf_device_ops *const ops = &tf_cuda_device_ops;

static const char *const names[] = {
#define TF_NAME(name, version) #name,
	TF_CUDA_SYMBOLS(TF_NAME)
#undef TF_NAME
};

static void check_text(const struct tf_error *err, enum tf_status status, const char *words)
{
	if (err->status != status || !strstr(err->text, words))
		fail_msg("wanted %s \"%s\", got %s \"%s\"", tf_status_name(status), words,
			tf_status_name(err->status), err->text);
}

/* These two come first: the table is filled once a process. */
static void test_old_driver(void **state)
{
	const struct tf_device_ops *found = NULL;
	struct tf_error err = {0};

	(void)state;
	setenv("FAKE_CUDA_VERSION", "12030", 1);
	assert_int_equal(tf_device_ops_find("cuda", &found, &err), TF_E_UNAVAILABLE);
	check_text(&err, TF_E_UNAVAILABLE,
		"device 'cuda': the driver is of CUDA 12.3, this build needs 12.4 or newer");
	unsetenv("FAKE_CUDA_VERSION");
}

static void test_missing_functions(void **state)
{
	const struct tf_device_ops *found = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct tf_error err = {0};
		char words[128];

		setenv("FAKE_CUDA_MISSING", names[i], 1);
		snprintf(
			words, sizeof(words), "device 'cuda': 'libcuda.so.1' lacks '%s' of CUDA", names[i]);
		assert_int_equal(tf_device_ops_find("cuda", &found, &err), TF_E_UNAVAILABLE);
		check_text(&err, TF_E_UNAVAILABLE, words);
		assert_null(found);
	}
	unsetenv("FAKE_CUDA_MISSING");
}

static void check_open_refused(const char *words)
{
	struct tf_device *device = NULL;
	struct tf_error err = {0};

	assert_int_equal(ops->open(0, &device, &err), TF_E_UNAVAILABLE);
	check_text(&err, TF_E_UNAVAILABLE, words);
	assert_null(device);
}

static void test_devices_that_are_refused(void **state)
{
	struct tf_device *device = NULL;
	struct tf_error err = {0};

	(void)state;
	assert_int_equal(ops->open(2, &device, &err), TF_E_UNAVAILABLE);
	check_text(&err, TF_E_UNAVAILABLE, "there is no CUDA device 2, the driver shows 2");
	setenv("FAKE_CUDA_NAME", "NVIDIA H100 80GB HBM3 MIG 1g.10gb", 1);
	check_open_refused("device 0: 'NVIDIA H100 80GB HBM3 MIG 1g.10gb' is a MIG instance");
	unsetenv("FAKE_CUDA_NAME");
	setenv("FAKE_CUDA_VMM", "0", 1);
	check_open_refused("device 0: it has no virtual memory management");
	unsetenv("FAKE_CUDA_VMM");
}

static uint32_t capabilities_with(const char *peers)
{
	struct tf_device_properties properties;
	struct tf_device *device = NULL;
	struct tf_error err = {0};

	setenv("FAKE_CUDA_PEERS", peers, 1);
	assert_int_equal(ops->open(1, &device, &err), TF_OK);
	ops->properties(device, &properties);
	ops->close(device);
	unsetenv("FAKE_CUDA_PEERS");
	assert_string_equal(properties.kind, "cuda");
	assert_string_equal(properties.model, "fake device");
	assert_int_equal(properties.compute_capability, 90);
	assert_int_equal(properties.sm_count, 132);
	assert_int_equal(properties.granularity_bytes, 2 * MIB);
	return properties.capabilities;
}

static void test_properties(void **state)
{
	(void)state;
	assert_int_equal(capabilities_with("0"), 0);
	assert_int_equal(capabilities_with("1"), TF_DEVICE_PEER_WRITE | TF_DEVICE_PEER_READ);
	assert_int_equal(
		capabilities_with("2"), TF_DEVICE_PEER_WRITE | TF_DEVICE_PEER_READ | TF_DEVICE_PEER_ATOMIC);
}

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

static void test_texts(void **state)
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
static void test_every_failure(void **state)
{
	int failures = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct work work = {.fd = -1};
		char failing[64];
		enum tf_status status;

		snprintf(failing, sizeof(failing), "%s:999", names[i]);
		setenv("FAKE_CUDA_FAIL", failing, 1);
		status = run_work(&work);
		unsetenv("FAKE_CUDA_FAIL");
		if (status != TF_OK) {
			assert_int_equal(status, work.err.status);
			assert_non_null(strstr(work.err.text, names[i]));
			assert_int_equal(work.err.native, 999);
			failures++;
		}
		end_work(&work);
		work = (struct work){.fd = -1};
		if (run_work(&work) != TF_OK)
			fail_msg("after '%s': %s", names[i], work.err.text);
		end_work(&work);
	}
	assert_true(failures >= 37);
}

/* The driver is lost to a child by fork, which is told so. */
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
static void test_capture(void **state)
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

/* A process that has allocated has pools of addresses, from which the driver takes small ranges. */
static void test_base_beside_a_pool(void **state)
{
	const uint64_t base = UINT64_C(0x6a0000000000);
	uint8_t token[16] = "pool";
	struct tf_device *device = NULL;
	struct tf_window *window = NULL;
	struct tf_error err = {0};

	(void)state;
	assert_int_equal(ops->open(0, &device, &err), TF_OK);
	setenv("FAKE_CUDA_POOL_MIB", "512", 1);
	assert_int_equal(ops->window_open(device, token, base, 2 * MIB, 2, &window, &err), TF_OK);
	unsetenv("FAKE_CUDA_POOL_MIB");
	assert_int_equal(ops->window_base(window), base);
	ops->window_close(window);
	ops->close(device);
}

/*
 * A base that was taken once, and is free again; as on driver 580, where a large range that was had
 * beside it stayed the driver's, and served what was asked for next.
 */
static void test_base_free_again(void **state)
{
	const uint64_t base = UINT64_C(0x6a8000000000);
	uint8_t token[16] = "again";
	struct tf_device *device = NULL;
	struct tf_window *window = NULL;
	struct tf_error err = {0};
	void *taken, *behind;

	(void)state;
	taken = mmap(
		(void *)(uintptr_t)(base + 2 * MIB), 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* more cannot be had from the base on than what is asked for */
	behind = mmap((void *)(uintptr_t)(base + 1024 * MIB), 4096, PROT_READ,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_equal(taken, (void *)(uintptr_t)(base + 2 * MIB));
	assert_ptr_equal(behind, (void *)(uintptr_t)(base + 1024 * MIB));
	assert_int_equal(ops->open(0, &device, &err), TF_OK);
	setenv("FAKE_CUDA_KEEPS_RANGE", "1", 1);
	assert_int_equal(ops->window_open(device, token, base, 2 * MIB, 2, &window, &err), TF_E_MISFIT);
	munmap(taken, 4096);
	assert_int_equal(ops->window_open(device, token, base, 2 * MIB, 2, &window, &err), TF_OK);
	unsetenv("FAKE_CUDA_KEEPS_RANGE");
	assert_int_equal(ops->window_base(window), base);
	ops->window_close(window);
	ops->close(device);
	munmap(behind, 4096);
}

static void test_capture_failures(void **state)
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

static void test_forked_child(void **state)
{
	struct tf_device *device = NULL;
	struct tf_error err = {0};
	int status = 0;
	pid_t child;

	(void)state;
	assert_int_equal(ops->open(0, &device, &err), TF_OK);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct tf_device *again = NULL, *other = NULL;
		int refused = ops->open(0, &again, &err) == TF_E_UNAVAILABLE &&
			strstr(err.text, "initialised the driver and then forked") &&
			ops->open(1, &other, &err) == TF_E_UNAVAILABLE;

		ops->close(device);
		_exit(refused ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	ops->close(device);
}

/* Two devices of one process in one window: each may use what the other's rank has mapped. */
static void test_second_device_joins(void **state)
{
	const uint8_t token[TF_WINDOW_TOKEN_BYTES] = "two devices";
	struct tf_window *first = NULL, *second = NULL;
	struct tf_device *devices[2] = {NULL};
	struct tf_error err = {0};
	int fd = -1;

	(void)state;
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(ops->open(i, &devices[i], &err), TF_OK);
	assert_int_equal(ops->window_open(devices[0], token, 0, 2 * MIB, 2, &first, &err), TF_OK);
	assert_int_equal(ops->segment_create(devices[0], 2 * MIB, &fd, &err), TF_OK);
	assert_int_equal(ops->window_map(first, 0, fd, 2 * MIB, &err), TF_OK);
	setenv("FAKE_CUDA_FAIL", "cuMemSetAccess:101", 1);
	assert_int_equal(
		ops->window_open(devices[1], token, 0, 2 * MIB, 2, &second, &err), TF_E_UNAVAILABLE);
	check_text(&err, TF_E_UNAVAILABLE, "device 1 cannot reach the segment of rank 0: ");
	unsetenv("FAKE_CUDA_FAIL");
	assert_int_equal(ops->window_open(devices[1], token, 0, 2 * MIB, 2, &second, &err), TF_OK);
	assert_ptr_equal(first, second);
	ops->window_close(first);
	ops->close(devices[0]); /* the window keeps what it needs */
	assert_int_equal(ops->window_map(second, 1, fd, 2 * MIB, &err), TF_OK);
	ops->window_close(second);
	ops->close(devices[1]);
	close(fd);
}

/*
 * Two devices that cannot reach each other: host memory is for both, what is a rank's own for its
 * device alone, also when the other device joins later.
 */
static void test_devices_without_peers(void **state)
{
	const uint8_t token[TF_WINDOW_TOKEN_BYTES] = "no peers";
	struct tf_window *first = NULL, *second = NULL;
	struct tf_device *devices[2] = {NULL};
	struct tf_device_properties properties;
	int shared = -1, own[2] = {-1, -1};
	struct tf_error err = {0};

	(void)state;
	setenv("FAKE_CUDA_PEERS", "0", 1);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(ops->open(i, &devices[i], &err), TF_OK);
		assert_int_equal(ops->segment_create(devices[i], 2 * MIB, &own[i], &err), TF_OK);
	}
	ops->properties(devices[0], &properties);
	assert_int_equal(properties.capabilities & TF_DEVICE_PEER_WRITE, 0);
	assert_int_equal(ops->window_open(devices[0], token, 0, 4 * MIB, 2, &first, &err), TF_OK);
	setenv("FAKE_CUDA_FAIL", "cuMemCreate-host:801", 1);
	assert_int_equal(
		ops->host_segment_create(devices[0], 2 * MIB, &shared, &err), TF_E_UNAVAILABLE);
	check_text(&err, TF_E_UNAVAILABLE, "2097152 bytes of host memory that devices share, for ");
	unsetenv("FAKE_CUDA_FAIL");
	assert_int_equal(ops->host_segment_create(devices[0], 2 * MIB, &shared, &err), TF_OK);
	assert_int_equal(ops->window_map(first, 0, shared, 2 * MIB, &err), TF_OK);
	assert_int_equal(
		ops->window_map_own(first, devices[0], 0, 2 * MIB, own[0], 2 * MIB, &err), TF_OK);
	assert_int_equal(ops->window_open(devices[1], token, 0, 4 * MIB, 2, &second, &err), TF_OK);
	assert_int_equal(ops->window_map(second, 1, own[1], 2 * MIB, &err), TF_E_UNAVAILABLE);
	check_text(
		&err, TF_E_UNAVAILABLE, "segment of rank 1: device 0 cannot reach the segment of rank 1: ");
	assert_int_equal(ops->window_map(second, 1, shared, 2 * MIB, &err), TF_OK);
	assert_int_equal(
		ops->window_map_own(second, devices[1], 1, 2 * MIB, own[1], 2 * MIB, &err), TF_OK);
	ops->window_close(first);
	ops->window_close(second);
	for (uint32_t i = 0; i < 2; i++) {
		ops->close(devices[i]);
		close(own[i]);
	}
	close(shared);
	unsetenv("FAKE_CUDA_PEERS");
}

static void test_built_in_kernels(void **state)
{
	uint8_t digest[32] = {0};
	struct tf_module_handle *module = NULL;
	struct tf_device *device = NULL;
	struct tf_error err = {0};

	(void)state;
	assert_int_equal(ops->open(0, &device, &err), TF_OK);
	if (!tf_cuda_images[0].bytes) {
		assert_int_equal(tf_cuda_module_digest(90, digest, &err), TF_E_NOT_FOUND);
		check_text(&err, TF_E_NOT_FOUND, "no kernels for compute capability 90, only for: none");
		assert_int_equal(ops->module_load(device, NULL, 0, digest, &module, &err), TF_E_NOT_FOUND);
	} else {
		assert_int_equal(ops->module_load(device, NULL, 0, digest, &module, &err), TF_E_MISFIT);
		assert_int_equal(tf_cuda_module_digest(90, digest, &err), TF_OK);
		assert_int_equal(ops->module_load(device, NULL, 0, digest, &module, &err), TF_OK);
		ops->module_unload(module);
	}
	ops->close(device);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_old_driver),
		cmocka_unit_test(test_missing_functions),
		cmocka_unit_test(test_devices_that_are_refused),
		cmocka_unit_test(test_properties),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_every_failure),
		cmocka_unit_test(test_capture),
		cmocka_unit_test(test_capture_failures),
		cmocka_unit_test(test_base_beside_a_pool),
		cmocka_unit_test(test_base_free_again),
		cmocka_unit_test(test_forked_child),
		cmocka_unit_test(test_second_device_joins),
		cmocka_unit_test(test_devices_without_peers),
		cmocka_unit_test(test_built_in_kernels),
	};

	return cmocka_run_group_tests_name("fake driver", tests, NULL, NULL);
}
