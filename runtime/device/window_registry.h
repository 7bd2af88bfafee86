/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the windows of all backends have in common: which windows this process holds, by token,
 * and what a range must look like. A backend keeps one registry and its lock; every function here
 * is called under that lock.
 */
#ifndef TF_RUNTIME_DEVICE_WINDOW_REGISTRY_H
#define TF_RUNTIME_DEVICE_WINDOW_REGISTRY_H

#include <sys/types.h>

#include "runtime/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * First member of a backend's struct tf_window. It is in the registry exactly while it has
 * references; base, stride and world never change.
 */
struct tf_window_entry {
	struct tf_window_entry *next;
	uint8_t token[TF_WINDOW_TOKEN_BYTES];
	uint64_t base, stride;
	uint32_t world;
	uint32_t references;
	pid_t owner; /* the process that reserved the range; a child only inherits the entry */
};

/* TF_E_USAGE unless a window of this shape may exist. Needs no lock. */
TF_WARN_UNUSED enum tf_status tf_window_shape_check(uint64_t granularity_bytes, uint64_t base,
	uint64_t stride, uint32_t world, struct tf_error *err);

/* TF_E_USAGE unless rank and bytes may be mapped into the window. Needs no lock. */
TF_WARN_UNUSED enum tf_status tf_window_part_check(const struct tf_window_entry *entry,
	uint64_t granularity_bytes, uint32_t rank, uint64_t bytes, struct tf_error *err);

/*
 * TF_E_USAGE unless `bytes` may be mapped behind the `mapped_bytes` of the rank's segment, at
 * `off`. Under the lock.
 */
TF_WARN_UNUSED enum tf_status tf_window_own_check(const struct tf_window_entry *entry,
	uint64_t granularity_bytes, uint64_t mapped_bytes, uint64_t off, uint64_t bytes,
	struct tf_error *err);

/* TF_E_MISFIT unless the window is what was asked for; base 0 asks for any. */
TF_WARN_UNUSED enum tf_status tf_window_same_check(const struct tf_window_entry *entry,
	uint64_t base, uint64_t stride, uint32_t world, struct tf_error *err);

/*
 * This process's window for the token, or NULL. Entries inherited through fork are skipped: they
 * are in the child's registry, but not in its memory.
 */
struct tf_window_entry *tf_window_registry_find(
	struct tf_window_entry *registry, const uint8_t token[TF_WINDOW_TOKEN_BYTES]);

/* Puts the entry in, with one reference, owned by this process. */
void tf_window_registry_add(struct tf_window_entry **registry, struct tf_window_entry *entry,
	const uint8_t token[TF_WINDOW_TOKEN_BYTES]);
void tf_window_registry_remove(struct tf_window_entry **registry, struct tf_window_entry *entry);

#ifdef __cplusplus
}
#endif
#endif
