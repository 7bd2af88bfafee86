/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fake driver's memory. An allocation is a memfd, dirty at first; its shareable handle is an
 * eventfd that counts to the number of the memfd and of the process that holds it, which is no
 * regular file, as with the real driver. Memfds stay open until the process ends. A memfd's name
 * tells the device whose memory it is, or that it is the host's: without peer access only that
 * device is let in.
 */
#include "tests/device/fake_driver.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define GRANULARITY ((size_t)2 << 20)

#define HOST_MEMORY (-1)
#define MAPPED_MAX  64

struct allocation {
	int fd;
	size_t bytes;
	int device; /* or HOST_MEMORY */
};

/* What is mapped, for cuMemSetAccess; a slot of no bytes is free. */
static struct {
	CUdeviceptr address;
	size_t bytes;
	int device;
} mapped[MAPPED_MAX];
static pthread_mutex_t mapped_lock = PTHREAD_MUTEX_INITIALIZER;

/* Puts the mapping into the table, or takes it out (device: -2). */
static void note_mapping(CUdeviceptr address, size_t bytes, int device)
{
	pthread_mutex_lock(&mapped_lock);
	for (int i = 0; i < MAPPED_MAX; i++) {
		if (device == -2 ? mapped[i].address != address : mapped[i].bytes != 0)
			continue;
		mapped[i].address = device == -2 ? 0 : address;
		mapped[i].bytes = device == -2 ? 0 : bytes;
		mapped[i].device = device;
		break;
	}
	pthread_mutex_unlock(&mapped_lock);
}

static int may_access(CUdeviceptr address, int device)
{
	int may = 1;

	if (fake_number("FAKE_CUDA_PEERS", 1))
		return 1;
	pthread_mutex_lock(&mapped_lock);
	for (int i = 0; i < MAPPED_MAX; i++)
		if (mapped[i].bytes && mapped[i].address == address)
			may = mapped[i].device == HOST_MEMORY || mapped[i].device == device;
	pthread_mutex_unlock(&mapped_lock);
	return may;
}

static struct allocation *allocation_of(CUmemGenericAllocationHandle handle)
{
	return (struct allocation *)(uintptr_t)handle;
}

static void *at(CUdeviceptr address)
{
	return (void *)(uintptr_t)address;
}

static CUresult allocation_create(
	int fd, size_t bytes, int device, CUmemGenericAllocationHandle *out)
{
	struct allocation *allocation = malloc(sizeof(*allocation));

	if (!allocation)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*allocation = (struct allocation){fd, bytes, device};
	*out = (CUmemGenericAllocationHandle)(uintptr_t)allocation;
	return CUDA_SUCCESS;
}

CUresult fake_cuMemGetAllocationGranularity(
	size_t *granularity, const CUmemAllocationProp *prop, CUmemAllocationGranularity_flags option)
{
	(void)option;
	FAKE_MAY_FAIL("cuMemGetAllocationGranularity");
	if (prop->type != CU_MEM_ALLOCATION_TYPE_PINNED)
		return CUDA_ERROR_INVALID_VALUE;
	*granularity = 65536; /* below the least that the device makes of it */
	return CUDA_SUCCESS;
}

CUresult fake_cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
	const CUmemAllocationProp *prop, unsigned long long flags)
{
	static const char dirt[64] = "what someone else has left behind";
	int fd, device = prop->location.id;
	char name[32] = "fake-cuda-host";

	(void)flags;
	FAKE_MAY_FAIL("cuMemCreate");
	if (prop->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA) {
		FAKE_MAY_FAIL("cuMemCreate-host");
		device = HOST_MEMORY;
	} else {
		snprintf(name, sizeof(name), "fake-cuda-%d", device);
	}
	if (!size || size % GRANULARITY ||
		prop->requestedHandleTypes != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		return CUDA_ERROR_INVALID_VALUE;
	fd = memfd_create(name, MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, (off_t)size) < 0 || pwrite(fd, dirt, sizeof(dirt), 0) < 0)
		return CUDA_ERROR_OUT_OF_MEMORY;
	return allocation_create(fd, size, device, handle);
}

CUresult fake_cuMemRelease(CUmemGenericAllocationHandle handle)
{
	free(allocation_of(handle));
	return CUDA_SUCCESS;
}

CUresult fake_cuMemExportToShareableHandle(void *shareable, CUmemGenericAllocationHandle handle,
	CUmemAllocationHandleType type, unsigned long long flags)
{
	uint64_t number = (uint64_t)getpid() << 20 | (uint64_t)allocation_of(handle)->fd;
	int fd = eventfd(0, EFD_NONBLOCK);

	(void)type, (void)flags;
	FAKE_MAY_FAIL("cuMemExportToShareableHandle");
	if (fd < 0 || write(fd, &number, sizeof(number)) != (ssize_t)sizeof(number))
		return CUDA_ERROR_OPERATING_SYSTEM;
	*(int *)shareable = fd;
	return CUDA_SUCCESS;
}

CUresult fake_cuMemImportFromShareableHandle(
	CUmemGenericAllocationHandle *handle, void *shareable, CUmemAllocationHandleType type)
{
	int fd = (int)(intptr_t)shareable, tries = 1000, memory;
	uint64_t number = 0;
	char path[64], name[64] = "";
	struct stat stat;
	int device = HOST_MEMORY;

	(void)type;
	FAKE_MAY_FAIL("cuMemImportFromShareableHandle");
	/* Somebody else may have it in hand for a moment. */
	while (read(fd, &number, sizeof(number)) != (ssize_t)sizeof(number) && tries--)
		usleep(1000);
	if (!number || write(fd, &number, sizeof(number)) != (ssize_t)sizeof(number))
		return CUDA_ERROR_INVALID_VALUE;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)(number >> 20), (int)(number & 0xfffff));
	memory = open(path, O_RDWR | O_CLOEXEC);
	if (memory < 0 || fstat(memory, &stat) < 0)
		return CUDA_ERROR_INVALID_HANDLE;
	if (readlink(path, name, sizeof(name) - 1) < 0)
		return CUDA_ERROR_INVALID_HANDLE;
	(void)sscanf(name, "/memfd:fake-cuda-%d", &device);
	return allocation_create(memory, (size_t)stat.st_size, device, handle);
}

/*
 * FAKE_CUDA_KEEPS_RANGE: the first range of a GiB or more that is given back is kept, and offered
 * again wherever it is large enough, whatever the address asked for.
 */
static struct {
	CUdeviceptr at;
	size_t bytes;
	int is_taken;
} kept_range;

CUresult fake_cuMemAddressReserve(
	CUdeviceptr *out, size_t size, size_t alignment, CUdeviceptr hint, unsigned long long flags)
{
	int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	const char *pool_mib = getenv("FAKE_CUDA_POOL_MIB"); /* what fits it is not where asked */
	size_t wide;
	uintptr_t start, base;
	void *got;

	(void)flags, (void)alignment;
	FAKE_MAY_FAIL("cuMemAddressReserve");
	if (pool_mib && size <= strtoull(pool_mib, NULL, 10) << 20)
		hint = 0;
	if (kept_range.at && !kept_range.is_taken && size <= kept_range.bytes) {
		kept_range.is_taken = 1;
		*out = kept_range.at;
		return CUDA_SUCCESS;
	}
	wide = hint ? size : size + GRANULARITY;
	got = mmap(at(hint), wide, PROT_NONE, how, -1, 0);
	if (got == MAP_FAILED)
		return CUDA_ERROR_OUT_OF_MEMORY;
	start = (uintptr_t)got;
	base = hint ? start : (start + GRANULARITY - 1) / GRANULARITY * GRANULARITY;
	if (base > start)
		munmap(got, base - start);
	if (start + wide > base + size)
		munmap((void *)(base + size), start + wide - (base + size));
	*out = base;
	return CUDA_SUCCESS;
}

CUresult fake_cuMemAddressFree(CUdeviceptr address, size_t size)
{
	if (!kept_range.at && size >= (size_t)1 << 30 && getenv("FAKE_CUDA_KEEPS_RANGE")) {
		kept_range.at = address;
		kept_range.bytes = size;
		return CUDA_SUCCESS;
	}
	if (kept_range.at == address) {
		kept_range.is_taken = 0;
		return CUDA_SUCCESS;
	}
	return munmap(at(address), size) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult fake_cuMemMap(CUdeviceptr address, size_t size, size_t offset,
	CUmemGenericAllocationHandle handle, unsigned long long flags)
{
	struct allocation *allocation = allocation_of(handle);

	(void)flags;
	FAKE_MAY_FAIL("cuMemMap");
	if (offset || size != allocation->bytes ||
		mmap(at(address), size, PROT_NONE, MAP_SHARED | MAP_FIXED, allocation->fd, 0) == MAP_FAILED)
		return CUDA_ERROR_INVALID_VALUE;
	note_mapping(address, size, allocation->device);
	return CUDA_SUCCESS;
}

CUresult fake_cuMemUnmap(CUdeviceptr address, size_t size)
{
	int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;

	note_mapping(address, size, -2);
	return mmap(at(address), size, PROT_NONE, how, -1, 0) == MAP_FAILED ? CUDA_ERROR_INVALID_VALUE
																		: CUDA_SUCCESS;
}

CUresult fake_cuMemSetAccess(
	CUdeviceptr address, size_t size, const CUmemAccessDesc *access, size_t count)
{
	FAKE_MAY_FAIL("cuMemSetAccess");
	for (size_t i = 0; i < count; i++)
		if (access[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
			access[i].location.id >= fake_number("FAKE_CUDA_DEVICES", 2) ||
			access[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE ||
			!may_access(address, access[i].location.id))
			return CUDA_ERROR_INVALID_DEVICE;
	return mprotect(at(address), size, PROT_READ | PROT_WRITE) == 0 ? CUDA_SUCCESS
																	: CUDA_ERROR_INVALID_VALUE;
}

CUresult fake_cuMemAlloc(CUdeviceptr *out, size_t bytes)
{
	void *memory;

	FAKE_MAY_FAIL("cuMemAlloc");
	memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
	*out = (CUdeviceptr)(uintptr_t)memory;
	return memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult fake_cuMemFree(CUdeviceptr address)
{
	free(at(address));
	return CUDA_SUCCESS;
}

CUresult fake_cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
	(void)stream;
	FAKE_MAY_FAIL("cuMemcpyHtoDAsync");
	memcpy(at(to), from, bytes);
	return CUDA_SUCCESS;
}

CUresult fake_cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	(void)stream;
	FAKE_MAY_FAIL("cuMemcpyDtoHAsync");
	memcpy(to, at(from), bytes);
	return CUDA_SUCCESS;
}

CUresult fake_cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	FAKE_MAY_FAIL("cuMemcpyDtoDAsync");
	if (!fake_capture_memory(stream, to, from, 0, bytes))
		memmove(at(to), at(from), bytes);
	return CUDA_SUCCESS;
}

/* Whole segments of zeros are given back to the system, which keeps the tests small. */
CUresult fake_cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream)
{
	FAKE_MAY_FAIL("cuMemsetD8Async");
	if (fake_capture_memory(stream, to, 0, value, bytes))
		return CUDA_SUCCESS;
	if (value || to % GRANULARITY || bytes % GRANULARITY ||
		madvise(at(to), bytes, MADV_REMOVE) != 0)
		memset(at(to), value, bytes);
	return CUDA_SUCCESS;
}

CUresult fake_cuMemHostAlloc(void **out, size_t bytes, unsigned flags)
{
	(void)flags;
	FAKE_MAY_FAIL("cuMemHostAlloc");
	*out = calloc(1, bytes);
	return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult fake_cuMemFreeHost(void *memory)
{
	free(memory);
	return CUDA_SUCCESS;
}
