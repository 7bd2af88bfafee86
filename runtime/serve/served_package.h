/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the supervisor knows of a package: the program that its ranks will load, read before any of
 * them starts.
 */
#ifndef TF_RUNTIME_SERVE_SERVED_PACKAGE_H
#define TF_RUNTIME_SERVE_SERVED_PACKAGE_H

#include "runtime/session/loaded_package.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Never changes once it is open. */
struct tf_served_package {
	struct tf_loaded_package loaded; /* the ranks' sessions open from their copy of it */
	uint32_t *capacities;            /* (capacity_count): those that will be loaded, rising */
	uint32_t capacity_count;
};

/*
 * `parts` and `strict` as in tf_loaded_package_open; `capacity_max` 0 means all. Statuses of
 * tf_package_open, tf_catalog_read; TF_E_USAGE: no step graph is within capacity_max.
 */
TF_WARN_UNUSED enum tf_status tf_served_package_open(const char *path, unsigned parts, int strict,
	uint64_t capacity_max, struct tf_served_package *out, struct tf_error *err);
void tf_served_package_close(struct tf_served_package *view);

/* capacity_count is at least 1. */
uint32_t tf_served_package_largest(const struct tf_served_package *view);

/* The capacity that a step of `rows` runs at; 0 where there is none. */
uint32_t tf_served_package_capacity_for(const struct tf_served_package *view, uint64_t rows);

/* Index of an input or output by its name, or TF_PROGRAM_NONE. */
uint32_t tf_served_package_tensor(const struct tf_served_package *view, const char *name);
int tf_buffer_is_tensor(const struct tf_buffer *buffer);
const char *tf_buffer_role_word(const struct tf_buffer *buffer);

#ifdef __cplusplus
}
#endif
#endif
