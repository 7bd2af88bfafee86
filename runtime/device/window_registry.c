/* SPDX-License-Identifier: Apache-2.0 */
/* A list: a process holds one or two windows. */
#include "runtime/device/window_registry.h"

#include <string.h>
#include <unistd.h>

enum tf_status tf_window_shape_check(uint64_t granularity_bytes, uint64_t base, uint64_t stride,
	uint32_t world, struct tf_error *err)
{
	if (!world || world > TF_WORLD_MAX)
		return TF_FAIL(err, TF_E_USAGE, "a window for %u ranks, not 1 to %d", world, TF_WORLD_MAX);
	if (!stride || stride % granularity_bytes || stride > TF_WINDOW_STRIDE_MAX)
		return TF_FAIL(err, TF_E_USAGE,
			"a window with stride %llu, not a multiple of %llu up to %llu",
			(unsigned long long)stride, (unsigned long long)granularity_bytes,
			(unsigned long long)TF_WINDOW_STRIDE_MAX);
	if (base % granularity_bytes || base > UINT64_MAX - world * stride)
		return TF_FAIL(err, TF_E_USAGE, "a window at 0x%llx, not a multiple of %llu",
			(unsigned long long)base, (unsigned long long)granularity_bytes);
	return TF_OK;
}

enum tf_status tf_window_part_check(const struct tf_window_entry *entry, uint64_t granularity_bytes,
	uint32_t rank, uint64_t bytes, struct tf_error *err)
{
	if (rank >= entry->world)
		return TF_FAIL(
			err, TF_E_USAGE, "a segment of rank %u in a window for %u ranks", rank, entry->world);
	if (!bytes || bytes % granularity_bytes || bytes > entry->stride)
		return TF_FAIL(err, TF_E_USAGE,
			"segment of rank %u: %llu bytes, not a multiple of %llu up to "
			"the stride, %llu",
			rank, (unsigned long long)bytes, (unsigned long long)granularity_bytes,
			(unsigned long long)entry->stride);
	return TF_OK;
}

enum tf_status tf_window_own_check(const struct tf_window_entry *entry, uint64_t granularity_bytes,
	uint64_t mapped_bytes, uint64_t off, uint64_t bytes, struct tf_error *err)
{
	if (!off || off != mapped_bytes)
		return TF_FAIL(err, TF_E_USAGE,
			"what is its own is asked for at %llu, its segment ends at %llu",
			(unsigned long long)off, (unsigned long long)mapped_bytes);
	if (!bytes || bytes % granularity_bytes || bytes > entry->stride - off)
		return TF_FAIL(err, TF_E_USAGE, "%llu bytes of its own, not a multiple of %llu up to %llu",
			(unsigned long long)bytes, (unsigned long long)granularity_bytes,
			(unsigned long long)(entry->stride - off));
	return TF_OK;
}

enum tf_status tf_window_same_check(const struct tf_window_entry *entry, uint64_t base,
	uint64_t stride, uint32_t world, struct tf_error *err)
{
	if ((base && base != entry->base) || stride != entry->stride || world != entry->world)
		return TF_FAIL(err, TF_E_MISFIT,
			"this process holds the window at 0x%llx, stride %llu, for %u ranks; asked for is "
			"0x%llx, stride %llu, for %u",
			(unsigned long long)entry->base, (unsigned long long)entry->stride, entry->world,
			(unsigned long long)base, (unsigned long long)stride, world);
	return TF_OK;
}

struct tf_window_entry *tf_window_registry_find(
	struct tf_window_entry *registry, const uint8_t token[TF_WINDOW_TOKEN_BYTES])
{
	pid_t self = getpid();

	for (struct tf_window_entry *entry = registry; entry; entry = entry->next)
		if (entry->owner == self && memcmp(entry->token, token, sizeof(entry->token)) == 0)
			return entry;
	return NULL;
}

void tf_window_registry_add(struct tf_window_entry **registry, struct tf_window_entry *entry,
	const uint8_t token[TF_WINDOW_TOKEN_BYTES])
{
	memcpy(entry->token, token, sizeof(entry->token));
	entry->owner = getpid();
	entry->references = 1;
	entry->next = *registry;
	*registry = entry;
}

void tf_window_registry_remove(struct tf_window_entry **registry, struct tf_window_entry *entry)
{
	while (*registry != entry)
		registry = &(*registry)->next;
	*registry = entry->next;
}
