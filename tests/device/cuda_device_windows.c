/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows of the CUDA device: bases that are taken, or were, and windows that two devices of one
 * process share, with and without peer access.
 */
#include "tests/device/cuda_device_cases.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct tf_device_ops *const ops = &tf_cuda_device_ops;

/* A process that has allocated has pools of addresses, from which the driver takes small ranges. */
void test_base_beside_a_pool(void **state)
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
void test_base_free_again(void **state)
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

/* Two devices of one process in one window: each may use what the other's rank has mapped. */
void test_second_device_joins(void **state)
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
void test_devices_without_peers(void **state)
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
