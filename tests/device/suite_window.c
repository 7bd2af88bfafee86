/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows within one process: bases, references, what is refused, and that closing frees the
 * range.
 */
#include "tests/device/device_suite.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"

#define GIB (UINT64_C(1) << 30)

static enum tf_status open_at(struct suite_rig *rig, const uint8_t *token, uint64_t base,
	uint64_t stride, uint32_t world, struct tf_window **out)
{
	return rig->ops->window_open(rig->device, token, base, stride, world, out, &rig->err);
}

static void map_new(struct suite_rig *rig, struct tf_window *window, uint32_t rank, uint64_t bytes)
{
	int fd = -1;

	assert_ok(rig->ops->segment_create(rig->device, bytes, &fd, &rig->err), &rig->err);
	assert_ok(rig->ops->window_map(window, rank, fd, bytes, &rig->err), &rig->err);
	close(fd);
}

static int is_accessible(struct suite_rig *rig, uint64_t address)
{
	int pipe_fds[2];
	ssize_t written;
	uint8_t byte;

	if (!(rig->properties.capabilities & TF_DEVICE_ADDRESSABLE)) {
		struct tf_error err = {0};

		return rig->ops->read(rig->device, &byte, (void *)(uintptr_t)address, 1, &err) == TF_OK;
	}
	/* The kernel looks at the address for us: write(2) from it fails instead of faulting. */
	assert_int_equal(pipe(pipe_fds), 0);
	written = write(pipe_fds[1], (const void *)(uintptr_t)address, 1);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	return written == 1;
}

static void test_bases(void **state)
{
	struct suite_rig *rig = *state;
	int listed = 0;

	for (int i = 0; i < TF_WINDOW_BASE_COUNT; i++) {
		assert_int_equal(tf_window_bases[i] % rig->properties.granularity_bytes, 0);
		assert_int_equal(tf_window_bases[i] == 0, i == TF_WINDOW_BASE_COUNT - 1);
	}
	/* A listed base is free here, under the sanitizers too: the rig did not fall to the last. */
	for (int i = 0; i < TF_WINDOW_BASE_COUNT - 1; i++)
		listed |= (uint64_t)(uintptr_t)rig->memory == tf_window_bases[i];
	assert_true(listed);
}

static void test_base_taken_by_a_window(void **state)
{
	struct suite_rig *rig = *state;
	uint64_t base = rig->ops->window_base(rig->window);
	uint8_t token[TF_WINDOW_TOKEN_BYTES], mark = 77, found = 0;
	struct tf_window *window = NULL;

	suite_token(token);
	suite_put(rig, rig->memory, &mark, 1);
	assert_refused(open_at(rig, token, base, rig->stride, 2, &window), TF_E_MISFIT, &rig->err,
		"the range is taken");
	/* Only the last granule of the range overlaps. */
	assert_refused(open_at(rig, token, base - 2 * rig->stride + rig->properties.granularity_bytes,
					   rig->stride, 2, &window),
		TF_E_MISFIT, &rig->err, "the range is taken");
	assert_null(window);
	suite_get(rig, rig->memory, &found, 1);
	assert_int_equal(found, mark);
	assert_ok(open_at(rig, token, base + 2 * rig->stride, rig->stride, 2, &window), &rig->err);
	assert_int_equal(rig->ops->window_base(window), base + 2 * rig->stride);
	rig->ops->window_close(window);
}

static void test_base_taken_by_a_mapping(void **state)
{
	struct suite_rig *rig = *state;
	uint64_t base = rig->ops->window_base(rig->window) + 64 * rig->stride;
	uint8_t token[TF_WINDOW_TOKEN_BYTES];
	struct tf_window *window = NULL;
	void *taken = mmap((void *)(uintptr_t)(base + rig->stride), 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_equal(taken, (void *)(uintptr_t)(base + rig->stride));
	*(volatile char *)taken = 5;
	suite_token(token);
	assert_refused(open_at(rig, token, base, rig->stride, 2, &window), TF_E_MISFIT, &rig->err,
		"the range is taken");
	assert_int_equal(*(volatile char *)taken, 5);
	munmap(taken, 4096);
	assert_ok(open_at(rig, token, base, rig->stride, 2, &window), &rig->err);
	rig->ops->window_close(window);
}

static void test_base_outside_the_address_space(void **state)
{
	struct suite_rig *rig = *state;
	uint8_t token[TF_WINDOW_TOKEN_BYTES];
	struct tf_window *window = NULL;

	suite_token(token);
	assert_int_equal(open_at(rig, token, UINT64_C(0x7ffffffff0000) / rig->stride * rig->stride,
						 rig->stride, 2, &window),
		TF_E_MISFIT);
	assert_null(window);
}

static void test_anywhere(void **state)
{
	struct suite_rig *rig = *state;
	const uint8_t one = 1;
	uint8_t token[TF_WINDOW_TOKEN_BYTES];
	struct tf_window *window = NULL;

	suite_token(token);
	assert_ok(open_at(rig, token, 0, rig->stride, 3, &window), &rig->err);
	assert_true(rig->ops->window_base(window) != 0);
	assert_int_equal(rig->ops->window_base(window) % rig->properties.granularity_bytes, 0);
	map_new(rig, window, 2, rig->stride);
	suite_put(
		rig, (void *)(uintptr_t)(rig->ops->window_base(window) + 3 * rig->stride - 1), &one, 1);
	rig->ops->window_close(window);
}

static void test_shapes(void **state)
{
	struct suite_rig *rig = *state;
	uint64_t granularity = rig->properties.granularity_bytes;
	uint8_t token[TF_WINDOW_TOKEN_BYTES];
	struct tf_window *window = NULL;

	suite_token(token);
	assert_refused(
		open_at(rig, token, 0, rig->stride, 0, &window), TF_E_USAGE, &rig->err, "for 0 ranks");
	assert_refused(open_at(rig, token, 0, rig->stride, TF_WORLD_MAX + 1, &window), TF_E_USAGE,
		&rig->err, "for 9 ranks");
	assert_refused(open_at(rig, token, 0, 0, 2, &window), TF_E_USAGE, &rig->err, "stride 0");
	assert_refused(open_at(rig, token, 0, granularity + 1, 2, &window), TF_E_USAGE, &rig->err,
		"not a multiple of");
	assert_refused(open_at(rig, token, 0, TF_WINDOW_STRIDE_MAX + granularity, 2, &window),
		TF_E_USAGE, &rig->err, "stride");
	assert_refused(open_at(rig, token, tf_window_bases[2] + 1, rig->stride, 2, &window), TF_E_USAGE,
		&rig->err, "not a multiple of");
	assert_null(window);
	rig->ops->window_close(NULL);
}

static void test_large_strides(void **state)
{
	struct suite_rig *rig = *state;
	uint64_t granularity = rig->properties.granularity_bytes;
	uint8_t token[TF_WINDOW_TOKEN_BYTES];
	struct tf_window *window = NULL;
	uint64_t last;

	/* Only here: beside the rig's own window no base of the list would do. */
	rig->ops->window_close(rig->window);
	rig->window = NULL;
	suite_token(token);
	assert_ok(
		suite_window_open(rig->ops, rig->device, token, 64 * GIB, TF_WORLD_MAX, &window, &rig->err),
		&rig->err);
	last = rig->ops->window_base(window) + 7 * 64 * GIB;
	map_new(rig, window, 7, granularity);
	suite_put(rig, (void *)(uintptr_t)last, &last, sizeof(last));
	assert_true(is_accessible(rig, last + granularity - 1));
	assert_false(is_accessible(rig, last + granularity));
	assert_false(is_accessible(rig, last - 1));
	rig->ops->window_close(window);
}

static void test_map_refuses(void **state)
{
	struct suite_rig *rig = *state;
	uint64_t granularity = rig->properties.granularity_bytes;
	uint8_t token[TF_WINDOW_TOKEN_BYTES];
	struct tf_window *window = NULL;
	int fd = -1;

	suite_token(token);
	assert_ok(open_at(rig, token, 0, 4 * granularity, 2, &window), &rig->err);
	assert_ok(rig->ops->segment_create(rig->device, granularity, &fd, &rig->err), &rig->err);
	assert_refused(rig->ops->window_map(window, 1, fd, 2 * granularity, &rig->err), TF_E_MISFIT,
		&rig->err, "segment of rank 1: the segment has");
	assert_refused(rig->ops->window_map(window, 2, fd, granularity, &rig->err), TF_E_USAGE,
		&rig->err, "rank 2");
	assert_refused(rig->ops->window_map(window, 0, fd, 0, &rig->err), TF_E_USAGE, &rig->err,
		"rank 0: 0 bytes");
	assert_refused(rig->ops->window_map(window, 0, fd, granularity + 1, &rig->err), TF_E_USAGE,
		&rig->err, "not a multiple");
	assert_refused(rig->ops->window_map(window, 0, fd, 8 * granularity, &rig->err), TF_E_USAGE,
		&rig->err, "up to the stride");
	assert_false(is_accessible(rig, rig->ops->window_base(window) + 4 * granularity));
	assert_ok(rig->ops->window_map(window, 1, fd, granularity, &rig->err), &rig->err);
	close(fd);
	rig->ops->window_close(window);
}

static void test_map_refuses_what_is_no_segment(void **state)
{
	struct suite_rig *rig = *state;
	uint64_t granularity = rig->properties.granularity_bytes;
	uint8_t token[TF_WINDOW_TOKEN_BYTES];
	struct tf_window *window = NULL;
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)granularity), 0);
	suite_token(token);
	assert_ok(open_at(rig, token, 0, granularity, 2, &window), &rig->err);
	assert_int_equal(rig->ops->window_map(window, 0, fd, granularity, &rig->err), TF_E_MISFIT);
	close(fd);
	assert_int_equal(rig->ops->window_map(window, 0, fd, granularity, &rig->err), TF_E_SYSTEM);
	rig->ops->window_close(window);
}

static void test_map_twice(void **state)
{
	struct suite_rig *rig = *state;
	uint64_t granularity = rig->properties.granularity_bytes;
	uint8_t token[TF_WINDOW_TOKEN_BYTES];
	struct tf_window *window = NULL;
	int fd = -1, other = -1, again;
	uint8_t *memory, mark = 9, found = 0;

	suite_token(token);
	assert_ok(open_at(rig, token, 0, 2 * granularity, 2, &window), &rig->err);
	assert_ok(rig->ops->segment_create(rig->device, 2 * granularity, &fd, &rig->err), &rig->err);
	assert_ok(rig->ops->segment_create(rig->device, 2 * granularity, &other, &rig->err), &rig->err);
	again = dup(fd);
	memory = (uint8_t *)(uintptr_t)rig->ops->window_base(window);
	assert_ok(rig->ops->window_map(window, 0, fd, 2 * granularity, &rig->err), &rig->err);
	suite_put(rig, memory + 3, &mark, 1);
	assert_ok(rig->ops->window_map(window, 0, again, 2 * granularity, &rig->err), &rig->err);
	assert_refused(rig->ops->window_map(window, 0, other, 2 * granularity, &rig->err),
		TF_E_MISMATCH, &rig->err, "another segment");
	assert_refused(rig->ops->window_map(window, 0, fd, granularity, &rig->err), TF_E_MISMATCH,
		&rig->err, "bytes");
	suite_get(rig, memory + 3, &found, 1);
	assert_int_equal(found, mark);
	close(fd);
	close(again);
	close(other);
	rig->ops->window_close(window);
}

/* A segment in two parts: host memory that ranks share, and behind it what is the rank's own. */
static void test_own_part(void **state)
{
	struct suite_rig *rig = *state;
	uint64_t granule = rig->properties.granularity_bytes;
	uint8_t token[TF_WINDOW_TOKEN_BYTES];
	struct tf_window *window = NULL;
	uint8_t *memory, bytes[2] = {5, 6}, found[2] = {0};
	int shared = -1, own = -1;
	enum tf_status status = rig->ops->host_segment_create(rig->device, granule, &shared, &rig->err);

	if (status == TF_E_UNAVAILABLE)
		skip();
	assert_ok(status, &rig->err);
	suite_token(token);
	assert_ok(open_at(rig, token, 0, 4 * granule, 2, &window), &rig->err);
	memory = (uint8_t *)(uintptr_t)rig->ops->window_base(window);
	assert_ok(rig->ops->segment_create(rig->device, 2 * granule, &own, &rig->err), &rig->err);
	assert_refused(
		rig->ops->window_map_own(window, rig->device, 0, granule, own, 2 * granule, &rig->err),
		TF_E_USAGE, &rig->err, "rank 0: what is its own is asked for at");
	assert_ok(rig->ops->window_map(window, 0, shared, granule, &rig->err), &rig->err);
	assert_refused(
		rig->ops->window_map_own(window, rig->device, 0, granule, own, 4 * granule, &rig->err),
		TF_E_USAGE, &rig->err, "rank 0");
	assert_false(is_accessible(rig, (uintptr_t)memory + granule));
	assert_ok(
		rig->ops->window_map_own(window, rig->device, 0, granule, own, 2 * granule, &rig->err),
		&rig->err);
	assert_refused(
		rig->ops->window_map_own(window, rig->device, 0, granule, own, 2 * granule, &rig->err),
		TF_E_MISMATCH, &rig->err, "mapped already");
	suite_get(rig, memory + granule - 1, found, 1);
	assert_int_equal(found[0], 0); /* zeroed, as every segment */
	suite_put(rig, memory + granule - 1, bytes, 1);
	suite_put(rig, memory + granule, bytes + 1, 1);
	suite_get(rig, memory + granule - 1, found, 1);
	suite_get(rig, memory + granule, found + 1, 1);
	assert_memory_equal(found, bytes, 2);
	assert_false(is_accessible(rig, (uintptr_t)memory + 3 * granule));
	close(shared);
	close(own);
	rig->ops->window_close(window);
}

static void test_references(void **state)
{
	struct suite_rig *rig = *state;
	uint8_t token[TF_WINDOW_TOKEN_BYTES], next[TF_WINDOW_TOKEN_BYTES];
	uint64_t base = rig->ops->window_base(rig->window) + 8 * rig->stride;
	struct tf_window *first = NULL, *second = NULL, *third = NULL;

	suite_token(token);
	suite_token(next);
	assert_ok(open_at(rig, token, base, rig->stride, 2, &first), &rig->err);
	map_new(rig, first, 0, rig->stride);
	assert_ok(open_at(rig, token, base, rig->stride, 2, &second), &rig->err);
	assert_ok(open_at(rig, token, 0, rig->stride, 2, &third), &rig->err);
	assert_int_equal(rig->ops->window_base(third), base);
	assert_refused(open_at(rig, token, base + rig->stride, rig->stride, 2, &third), TF_E_MISFIT,
		&rig->err, "this process holds");
	assert_refused(
		open_at(rig, token, base, rig->stride, 3, &third), TF_E_MISFIT, &rig->err, "for 3");
	assert_refused(
		open_at(rig, token, base, 2 * rig->stride, 2, &third), TF_E_MISFIT, &rig->err, "stride");
	rig->ops->window_close(first);
	rig->ops->window_close(second);
	assert_true(is_accessible(rig, base));
	assert_int_equal(open_at(rig, next, base, rig->stride, 2, &first), TF_E_MISFIT);
	rig->ops->window_close(third);
	assert_false(is_accessible(rig, base));
	assert_ok(open_at(rig, next, base, rig->stride, 2, &first), &rig->err);
	assert_false(is_accessible(rig, base));
	rig->ops->window_close(first);
}

static void test_no_memory(void **state)
{
	struct suite_rig *rig = *state;
	uint64_t base = rig->ops->window_base(rig->window) + 8 * rig->stride;
	uint8_t token[TF_WINDOW_TOKEN_BYTES];
	struct tf_window *window = NULL;

	suite_token(token);
	tf_alloc_fail_at(1);
	assert_refused(
		open_at(rig, token, base, rig->stride, 2, &window), TF_E_NO_MEMORY, &rig->err, "no memory");
	tf_alloc_fail_at(0);
	assert_null(window);
	assert_ok(open_at(rig, token, base, rig->stride, 2, &window), &rig->err);
	rig->ops->window_close(window);
}

#define RIGGED(test) cmocka_unit_test_setup_teardown(test, suite_setup, suite_teardown)

const struct CMUnitTest *suite_window_tests(size_t *out_count)
{
	static const struct CMUnitTest tests[] = {
		RIGGED(test_bases),
		RIGGED(test_base_taken_by_a_window),
		RIGGED(test_base_taken_by_a_mapping),
		RIGGED(test_base_outside_the_address_space),
		RIGGED(test_anywhere),
		RIGGED(test_shapes),
		RIGGED(test_large_strides),
		RIGGED(test_map_refuses),
		RIGGED(test_map_refuses_what_is_no_segment),
		RIGGED(test_map_twice),
		RIGGED(test_own_part),
		RIGGED(test_references),
		RIGGED(test_no_memory),
	};

	*out_count = sizeof(tests) / sizeof(tests[0]);
	return tests;
}
