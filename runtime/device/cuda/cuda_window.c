/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows of CUDA devices: a reserved range of addresses into which segments are mapped.
 *
 * Invariants:
 * 1. A window of this process is in the registry exactly while it has references; one a token
 * (window_registry.h).
 * 2. Every device that opened the window through this process is in `members` until the window
 * ends; each of them may read and write every mapped segment. A primary context that we retained is
 * held until then. A caller's context is not: its owner may end it when its own rank has closed,
 * while others of this process still have the window, so nothing here asks for it again. What is a
 * rank's own is for the device that it was created on alone.
 * 3. Registry, references, members and ranks change under the lock only.
 * 4. A mapped rank holds a descriptor of its segment, to know that segment again; its memory
 * handle is released once it is mapped.
 */
#include "runtime/device/cuda/cuda_window.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "runtime/device/cuda/cuda_descriptor.h"
#include "runtime/device/cuda/cuda_device.h"
#include "runtime/device/cuda/cuda_reserve.h"
#include "runtime/device/cuda/cuda_segment.h"
#include "runtime/device/window_registry.h"

/* What is mapped for a rank; bytes 0 is nothing. */
struct mapped {
	uint64_t bytes;
	int fd;
};

struct member {
	uint32_t ordinal;
	CUmemAccessDesc access;
	struct tf_cuda_context *held; /* a reference; NULL: the context is its caller's */
};

struct tf_window {
	struct tf_window_entry entry; /* first */
	const struct tf_cuda_api *api;
	uint64_t granularity_bytes;
	uint64_t reserved_bytes;             /* from entry.base */
	struct member members[TF_WORLD_MAX]; /* one a device */
	uint32_t member_count;
	struct mapped ranks[TF_WORLD_MAX];
	uint64_t own_bytes[TF_WORLD_MAX]; /* mapped behind ranks[] for one device; 0: nothing */
};

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tf_window_entry *registry;

static CUdeviceptr rank_address(const struct tf_window *window, uint32_t rank)
{
	return window->entry.base + rank * window->entry.stride;
}

static struct member member_of(struct tf_cuda_context *context)
{
	return (struct member){
		.ordinal = context->ordinal,
		.access = tf_cuda_segment_access(context),
		.held = tf_cuda_context_hold(context),
	};
}

static enum tf_status create_window(const struct tf_device *device, const uint8_t *token,
	uint64_t base, uint64_t stride, uint32_t world, struct tf_window **out, struct tf_error *err)
{
	struct tf_window *window = tf_calloc(1, sizeof(*window));
	enum tf_status status;

	if (!window)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a window");
	window->granularity_bytes = device->properties.granularity_bytes;
	window->api = device->context->api;
	status = tf_cuda_reserve(window->api, base, stride * world, window->granularity_bytes,
		&window->entry.base, &window->reserved_bytes, err);
	if (status != TF_OK) {
		tf_free(window);
		return status;
	}
	window->entry.stride = stride;
	window->entry.world = world;
	window->members[window->member_count++] = member_of(device->context);
	tf_window_registry_add(&registry, &window->entry, token);
	*out = window;
	return TF_OK;
}

static enum tf_status grant_at(const struct tf_window *window, CUdeviceptr address, uint32_t rank,
	uint64_t bytes, uint32_t ordinal, const CUmemAccessDesc *access, struct tf_error *err)
{
	enum tf_status status = TF_CU(window->api, err, cuMemSetAccess(address, bytes, access, 1));

	if (status != TF_OK)
		tf_error_prefix(err, "device %u cannot reach the segment of rank %u", ordinal, rank);
	return status;
}

static enum tf_status grant(const struct tf_window *window, uint32_t rank, uint64_t bytes,
	uint32_t ordinal, const CUmemAccessDesc *access, struct tf_error *err)
{
	return grant_at(window, rank_address(window, rank), rank, bytes, ordinal, access, err);
}

/* Another rank of this process opens the window: its device may use what is mapped already. */
static enum tf_status join_window(
	struct tf_window *window, struct tf_cuda_context *context, struct tf_error *err)
{
	CUmemAccessDesc access = tf_cuda_segment_access(context);

	for (uint32_t i = 0; i < window->member_count; i++) {
		if (window->members[i].ordinal != context->ordinal)
			continue;
		if (!window->members[i].held)
			window->members[i].held = tf_cuda_context_hold(context);
		return TF_OK;
	}
	if (window->member_count == TF_WORLD_MAX)
		return TF_FAIL(err, TF_E_LIMIT, "a window for more than %d devices", TF_WORLD_MAX);
	for (uint32_t rank = 0; rank < window->entry.world; rank++)
		if (window->ranks[rank].bytes)
			TF_TRY(grant(window, rank, window->ranks[rank].bytes, context->ordinal, &access, err));
	window->members[window->member_count++] = member_of(context);
	return TF_OK;
}

static enum tf_status attach(struct tf_window_entry *entry, const struct tf_device *device,
	uint64_t base, uint64_t stride, uint32_t world, struct tf_window **out, struct tf_error *err)
{
	struct tf_window *window = (struct tf_window *)entry;

	TF_TRY(tf_window_same_check(entry, base, stride, world, err));
	TF_TRY(join_window(window, device->context, err));
	entry->references++;
	*out = window;
	return TF_OK;
}

enum tf_status tf_cuda_window_open(struct tf_device *device,
	const uint8_t token[TF_WINDOW_TOKEN_BYTES], uint64_t base, uint64_t stride, uint32_t world,
	struct tf_window **out, struct tf_error *err)
{
	struct tf_window_entry *entry;
	enum tf_status status;

	TF_TRY(tf_window_shape_check(device->properties.granularity_bytes, base, stride, world, err));
	TF_TRY(tf_cuda_context_enter(device->context, err));
	pthread_mutex_lock(&registry_lock);
	entry = tf_window_registry_find(registry, token);
	if (entry)
		status = attach(entry, device, base, stride, world, out, err);
	else
		status = create_window(device, token, base, stride, world, out, err);
	pthread_mutex_unlock(&registry_lock);
	return status;
}

uint64_t tf_cuda_window_base(const struct tf_window *window)
{
	return window->entry.base;
}

static enum tf_status check_same_segment(
	const struct mapped *mapped, int fd, uint64_t bytes, struct tf_error *err)
{
	if (!tf_cuda_descriptor_is_same(mapped->fd, fd))
		return TF_FAIL(err, TF_E_MISMATCH, "it is mapped already, from another segment");
	if (mapped->bytes != bytes)
		return TF_FAIL(err, TF_E_MISMATCH, "it is mapped already, with %llu bytes, not %llu",
			(unsigned long long)mapped->bytes, (unsigned long long)bytes);
	return TF_OK;
}

/* The driver's refusal of an argument, as what it means here; other failures stay what they are. */
static enum tf_status as_misfit(
	enum tf_status status, struct tf_error *error, struct tf_error *err, const char *meaning)
{
	if (status == TF_OK)
		return TF_OK;
	if (status != TF_E_NO_MEMORY)
		status = error->status = TF_E_MISFIT;
	tf_error_prefix(error, "%s", meaning);
	if (err)
		*err = *error;
	return status;
}

static enum tf_status map_imported(struct tf_window *window, uint32_t rank,
	CUmemGenericAllocationHandle handle, uint64_t bytes, struct tf_error *err)
{
	const struct tf_cuda_api *api = window->api;
	CUdeviceptr address = rank_address(window, rank);
	struct tf_error local = {0};
	char meaning[64];

	snprintf(meaning, sizeof(meaning), "the segment has not the %llu bytes asked for",
		(unsigned long long)bytes);
	TF_TRY(as_misfit(
		TF_CU(api, &local, cuMemMap(address, bytes, 0, handle, 0)), &local, err, meaning));
	for (uint32_t i = 0; i < window->member_count; i++) {
		enum tf_status status =
			grant(window, rank, bytes, window->members[i].ordinal, &window->members[i].access, err);

		if (status != TF_OK) {
			(void)api->cuMemUnmap(address, bytes);
			return status;
		}
	}
	return TF_OK;
}

static enum tf_status map_segment(
	struct tf_window *window, uint32_t rank, int fd, uint64_t bytes, struct tf_error *err)
{
	const struct tf_cuda_api *api = window->api;
	CUmemGenericAllocationHandle handle = 0;
	struct tf_error local = {0};
	enum tf_status status;
	int kept = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (kept < 0)
		return TF_FAIL_ERRNO(err, "cannot keep descriptor %d", fd);
	status = as_misfit(TF_CU(api, &local,
						   cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd,
							   CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)),
		&local, err, "the descriptor is no segment of a CUDA device");
	if (status == TF_OK) {
		status = map_imported(window, rank, handle, bytes, err);
		(void)api->cuMemRelease(handle);
	}
	if (status != TF_OK) {
		close(kept);
		return status;
	}
	window->ranks[rank] = (struct mapped){.bytes = bytes, .fd = kept};
	return TF_OK;
}

/* Under the lock. */
static enum tf_status map_rank(
	struct tf_window *window, uint32_t rank, int fd, uint64_t bytes, struct tf_error *err)
{
	TF_TRY(tf_cuda_descriptor_check(fd, err));
	if (window->ranks[rank].bytes)
		return check_same_segment(&window->ranks[rank], fd, bytes, err);
	if (window->members[0].held)
		TF_TRY(tf_cuda_context_enter(window->members[0].held, err));
	return map_segment(window, rank, fd, bytes, err);
}

enum tf_status tf_cuda_window_map(
	struct tf_window *window, uint32_t rank, int fd, uint64_t bytes, struct tf_error *err)
{
	enum tf_status status;

	TF_TRY(tf_window_part_check(&window->entry, window->granularity_bytes, rank, bytes, err));
	pthread_mutex_lock(&registry_lock);
	status = map_rank(window, rank, fd, bytes, err);
	pthread_mutex_unlock(&registry_lock);
	if (status != TF_OK)
		tf_error_prefix(err, "segment of rank %u", rank);
	return status;
}

static enum tf_status map_own_handle(const struct tf_window *window,
	const struct tf_cuda_context *context, uint32_t rank, CUmemGenericAllocationHandle handle,
	uint64_t bytes, struct tf_error *err)
{
	CUdeviceptr address = rank_address(window, rank) + window->ranks[rank].bytes;
	CUmemAccessDesc access = tf_cuda_segment_access(context);
	struct tf_error local = {0};
	enum tf_status status;

	TF_TRY(as_misfit(TF_CU(context->api, &local, cuMemMap(address, bytes, 0, handle, 0)), &local,
		err, "the segment has not the bytes asked for"));
	status = grant_at(window, address, rank, bytes, context->ordinal, &access, err);
	if (status != TF_OK)
		(void)context->api->cuMemUnmap(address, bytes);
	return status;
}

/* Under the lock. */
static enum tf_status map_own(struct tf_window *window, const struct tf_cuda_context *context,
	uint32_t rank, uint64_t off, int fd, uint64_t bytes, struct tf_error *err)
{
	CUmemGenericAllocationHandle handle = 0;
	struct tf_error local = {0};
	enum tf_status status;

	TF_TRY(tf_window_own_check(
		&window->entry, window->granularity_bytes, window->ranks[rank].bytes, off, bytes, err));
	if (window->own_bytes[rank])
		return TF_FAIL(err, TF_E_MISMATCH, "what is its own is mapped already");
	TF_TRY(tf_cuda_descriptor_check(fd, err));
	TF_TRY(tf_cuda_context_enter(context, err));
	TF_TRY(as_misfit(TF_CU(context->api, &local,
						 cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd,
							 CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)),
		&local, err, "the descriptor is no segment of a CUDA device"));
	status = map_own_handle(window, context, rank, handle, bytes, err);
	(void)context->api->cuMemRelease(handle);
	if (status == TF_OK)
		window->own_bytes[rank] = bytes;
	return status;
}

enum tf_status tf_cuda_window_map_own(struct tf_window *window, struct tf_device *device,
	uint32_t rank, uint64_t off, int fd, uint64_t bytes, struct tf_error *err)
{
	enum tf_status status;

	TF_TRY(tf_window_part_check(&window->entry, window->granularity_bytes, rank, bytes, err));
	pthread_mutex_lock(&registry_lock);
	status = map_own(window, device->context, rank, off, fd, bytes, err);
	pthread_mutex_unlock(&registry_lock);
	if (status != TF_OK)
		tf_error_prefix(err, "segment of rank %u", rank);
	return status;
}

static int covers_part(uint64_t part_bytes, uint64_t off, uint64_t bytes)
{
	return off <= part_bytes && bytes <= part_bytes - off;
}

int tf_cuda_window_covers(uint64_t address, uint64_t bytes)
{
	int covers = 0;

	pthread_mutex_lock(&registry_lock);
	for (struct tf_window_entry *entry = registry; entry && !covers; entry = entry->next) {
		const struct tf_window *window = (const struct tf_window *)entry;
		uint64_t rank, off, shared;

		if (address < entry->base || entry->owner != getpid())
			continue;
		rank = (address - entry->base) / entry->stride;
		off = (address - entry->base) % entry->stride;
		if (rank >= entry->world)
			continue;
		shared = window->ranks[rank].bytes;
		covers = covers_part(shared, off, bytes) ||
			(off >= shared && covers_part(window->own_bytes[rank], off - shared, bytes));
	}
	pthread_mutex_unlock(&registry_lock);
	return covers;
}

/* A window that was inherited through fork leaves the driver alone. */
static void destroy_window(struct tf_window *window)
{
	const struct tf_cuda_api *api = window->api;
	int owned = window->entry.owner == getpid();

	if (owned && window->members[0].held)
		(void)api->cuCtxSetCurrent(window->members[0].held->handle);
	for (uint32_t rank = 0; rank < window->entry.world; rank++) {
		if (!window->ranks[rank].bytes)
			continue;
		if (owned)
			(void)api->cuMemUnmap(rank_address(window, rank), window->ranks[rank].bytes);
		if (owned && window->own_bytes[rank])
			(void)api->cuMemUnmap(
				rank_address(window, rank) + window->ranks[rank].bytes, window->own_bytes[rank]);
		close(window->ranks[rank].fd);
	}
	if (owned)
		(void)api->cuMemAddressFree(window->entry.base, window->reserved_bytes);
	for (uint32_t i = 0; i < window->member_count; i++)
		tf_cuda_context_unref(window->members[i].held);
	tf_free(window);
}

void tf_cuda_window_close(struct tf_window *window)
{
	if (!window)
		return;
	pthread_mutex_lock(&registry_lock);
	if (--window->entry.references == 0) {
		tf_window_registry_remove(&registry, &window->entry);
		destroy_window(window);
	}
	pthread_mutex_unlock(&registry_lock);
}
