/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows of the host device: a reserved range of addresses into which segments are mapped.
 *
 * Invariants:
 * 1. A window of this process is in the registry exactly while it has references; one a token
 * (window_registry.h).
 * 2. The whole range [base, base + world * stride) is ours from open to close: reserved without
 * access, or mapped from a segment. MAP_FIXED is used inside it only.
 * 3. No part of the range is inherited by a child, and a child never unmaps it: `owner` is the
 * process that reserved it.
 * 4. Registry, references and `ranks` change under the lock only; base, stride and world never
 * change.
 */
#include "runtime/device/host/host_window.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "runtime/device/window_registry.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000 /* Linux 4.17; older kernels take it for a hint */
#endif
/*
 * ThreadSanitizer replaces an address that is none of its own by 0 and keeps the flag, which
 * would map address 0. A hint does as well, because the answer is checked.
 */
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define RESERVE_EXACTLY 0
#else
#define RESERVE_EXACTLY MAP_FIXED_NOREPLACE
#endif

/* What is mapped for a rank; bytes 0 is nothing. */
struct mapped {
	uint64_t bytes;
	dev_t device;
	ino_t inode;
};

struct tf_window {
	struct tf_window_entry entry; /* first */
	struct mapped ranks[TF_WORLD_MAX];
	struct mapped own[TF_WORLD_MAX]; /* behind ranks[], if anything */
};

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tf_window_entry *registry;

static void *at(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

/* The same range can be refused in several ways: taken, outside the address space, or moved. */
static enum tf_status reserve_at(uint64_t base, uint64_t bytes, struct tf_error *err)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | RESERVE_EXACTLY;
	void *got = mmap(at(base), bytes, PROT_NONE, flags, -1, 0);

	if (got == at(base))
		return TF_OK;
	if (got != MAP_FAILED)
		munmap(got, bytes);
	return TF_FAIL(err, TF_E_MISFIT, "cannot reserve %llu bytes of addresses at 0x%llx: %s",
		(unsigned long long)bytes, (unsigned long long)base,
		got == MAP_FAILED && errno != EEXIST ? strerror(errno) : "the range is taken");
}

/* A larger range is reserved and its ends are given back, so that the base is a multiple too. */
static enum tf_status reserve_anywhere(uint64_t bytes, uint64_t *out_base, struct tf_error *err)
{
	uint64_t wide = bytes + TF_HOST_GRANULARITY;
	void *got = mmap(NULL, wide, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint64_t start, base;

	if (got == MAP_FAILED)
		return TF_FAIL_ERRNO(
			err, "cannot reserve %llu bytes of addresses", (unsigned long long)bytes);
	start = (uint64_t)(uintptr_t)got;
	base = (start + TF_HOST_GRANULARITY - 1) / TF_HOST_GRANULARITY * TF_HOST_GRANULARITY;
	if (base > start)
		munmap(got, base - start);
	if (start + wide > base + bytes)
		munmap(at(base + bytes), start + wide - (base + bytes));
	*out_base = base;
	return TF_OK;
}

static enum tf_status reserve(
	uint64_t base, uint64_t bytes, uint64_t *out_base, struct tf_error *err)
{
	if (base)
		TF_TRY(reserve_at(base, bytes, err));
	else
		TF_TRY(reserve_anywhere(bytes, &base, err));
	if (madvise(at(base), bytes, MADV_DONTFORK) < 0) {
		enum tf_status status = TF_FAIL_ERRNO(err, "cannot keep the window from child processes");

		munmap(at(base), bytes);
		return status;
	}
	*out_base = base;
	return TF_OK;
}

static enum tf_status create_window(const uint8_t *token, uint64_t base, uint64_t stride,
	uint32_t world, struct tf_window **out, struct tf_error *err)
{
	struct tf_window *window = tf_calloc(1, sizeof(*window));
	enum tf_status status;

	if (!window)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a window");
	status = reserve(base, world * stride, &window->entry.base, err);
	if (status != TF_OK) {
		tf_free(window);
		return status;
	}
	window->entry.stride = stride;
	window->entry.world = world;
	tf_window_registry_add(&registry, &window->entry, token);
	*out = window;
	return TF_OK;
}

enum tf_status tf_host_window_open(struct tf_device *device,
	const uint8_t token[TF_WINDOW_TOKEN_BYTES], uint64_t base, uint64_t stride, uint32_t world,
	struct tf_window **out, struct tf_error *err)
{
	struct tf_window_entry *entry;
	enum tf_status status;

	(void)device;
	TF_TRY(tf_window_shape_check(TF_HOST_GRANULARITY, base, stride, world, err));
	pthread_mutex_lock(&registry_lock);
	entry = tf_window_registry_find(registry, token);
	if (entry) {
		status = tf_window_same_check(entry, base, stride, world, err);
		if (status == TF_OK) {
			entry->references++;
			*out = (struct tf_window *)entry;
		}
	} else {
		status = create_window(token, base, stride, world, out, err);
	}
	pthread_mutex_unlock(&registry_lock);
	return status;
}

uint64_t tf_host_window_base(const struct tf_window *window)
{
	return window->entry.base;
}

/* What the descriptor is; refuses one that could fault under the mapping. */
static enum tf_status look_at_segment(
	int fd, uint64_t bytes, struct mapped *out, struct tf_error *err)
{
	struct stat stat;
	int seals;

	if (fstat(fd, &stat) < 0)
		return TF_FAIL_ERRNO(err, "cannot look at descriptor %d", fd);
	if (stat.st_size < 0 || (uint64_t)stat.st_size < bytes)
		return TF_FAIL(err, TF_E_MISFIT, "the segment has %lld bytes, not %llu or more",
			(long long)stat.st_size, (unsigned long long)bytes);
	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || !(seals & F_SEAL_SHRINK))
		return TF_FAIL(err, TF_E_MISFIT, "descriptor %d is no memory sealed against shrinking", fd);
	*out = (struct mapped){bytes, stat.st_dev, stat.st_ino};
	return TF_OK;
}

/* On failure the rank's place is reserved as before. */
static enum tf_status map_segment(void *address, int fd, uint64_t bytes, struct tf_error *err)
{
	int reserved = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
	void *got = mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	enum tf_status status;

	if (got == MAP_FAILED)
		return TF_FAIL_ERRNO(
			err, "cannot map %llu bytes at %p", (unsigned long long)bytes, address);
	if (madvise(address, bytes, MADV_DONTFORK) < 0) {
		status = TF_FAIL_ERRNO(err, "cannot keep the segment from child processes");
		goto fail;
	}
	return TF_OK;
fail:
	if (mmap(address, bytes, PROT_NONE, reserved, -1, 0) != MAP_FAILED)
		(void)madvise(address, bytes, MADV_DONTFORK);
	return status;
}

/* Under the lock. */
static enum tf_status map_rank(
	struct tf_window *window, uint32_t rank, int fd, uint64_t bytes, struct tf_error *err)
{
	struct mapped *mapped = &window->ranks[rank];
	struct mapped found = {0};

	TF_TRY(look_at_segment(fd, bytes, &found, err));
	if (!mapped->bytes) {
		TF_TRY(map_segment(at(window->entry.base + rank * window->entry.stride), fd, bytes, err));
		*mapped = found;
		return TF_OK;
	}
	if (mapped->inode != found.inode || mapped->device != found.device)
		return TF_FAIL(err, TF_E_MISMATCH, "it is mapped already, from another segment");
	if (mapped->bytes != bytes)
		return TF_FAIL(err, TF_E_MISMATCH, "it is mapped already, with %llu bytes, not %llu",
			(unsigned long long)mapped->bytes, (unsigned long long)bytes);
	return TF_OK;
}

enum tf_status tf_host_window_map(
	struct tf_window *window, uint32_t rank, int fd, uint64_t bytes, struct tf_error *err)
{
	enum tf_status status;

	TF_TRY(tf_window_part_check(&window->entry, TF_HOST_GRANULARITY, rank, bytes, err));
	pthread_mutex_lock(&registry_lock);
	status = map_rank(window, rank, fd, bytes, err);
	pthread_mutex_unlock(&registry_lock);
	if (status != TF_OK)
		tf_error_prefix(err, "segment of rank %u", rank);
	return status;
}

/* Under the lock. */
static enum tf_status map_own(struct tf_window *window, uint32_t rank, uint64_t off, int fd,
	uint64_t bytes, struct tf_error *err)
{
	struct mapped found = {0};

	TF_TRY(tf_window_own_check(
		&window->entry, TF_HOST_GRANULARITY, window->ranks[rank].bytes, off, bytes, err));
	if (window->own[rank].bytes)
		return TF_FAIL(err, TF_E_MISMATCH, "what is its own is mapped already");
	TF_TRY(look_at_segment(fd, bytes, &found, err));
	TF_TRY(map_segment(at(window->entry.base + rank * window->entry.stride + off), fd, bytes, err));
	window->own[rank] = found;
	return TF_OK;
}

enum tf_status tf_host_window_map_own(struct tf_window *window, struct tf_device *device,
	uint32_t rank, uint64_t off, int fd, uint64_t bytes, struct tf_error *err)
{
	enum tf_status status;

	(void)device;
	TF_TRY(tf_window_part_check(&window->entry, TF_HOST_GRANULARITY, rank, bytes, err));
	pthread_mutex_lock(&registry_lock);
	status = map_own(window, rank, off, fd, bytes, err);
	pthread_mutex_unlock(&registry_lock);
	if (status != TF_OK)
		tf_error_prefix(err, "segment of rank %u", rank);
	return status;
}

void tf_host_window_close(struct tf_window *window)
{
	if (!window)
		return;
	pthread_mutex_lock(&registry_lock);
	if (--window->entry.references == 0) {
		tf_window_registry_remove(&registry, &window->entry);
		if (window->entry.owner == getpid())
			munmap(at(window->entry.base), window->entry.world * window->entry.stride);
		tf_free(window);
	}
	pthread_mutex_unlock(&registry_lock);
}
