/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to tf_program_check: what its parts share. */
#ifndef TF_CATALOG_PROGRAM_CHECK_H
#define TF_CATALOG_PROGRAM_CHECK_H

#include "catalog/program.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_check {
	const struct tf_program *program;
	uint32_t
		*buffers_by_off; /* (buffer_count): set by tf_check_memory, freed by tf_program_check */
};

/* Compares rows *a and *b (uint32_t indices) of an array of the program, as qsort_r wants it. */
typedef int (*tf_check_compare_fn)(const void *a, const void *b, void *program);

/* Indices 0..count-1 in the order of `compare`; the caller frees them. */
TF_WARN_UNUSED enum tf_status tf_check_order(const struct tf_check *check, uint32_t count,
	tf_check_compare_fn compare, uint32_t **out, struct tf_error *err);

/* TF_E_INVALID, as "ROW a and b SAME", where two rows compare equal. */
TF_WARN_UNUSED enum tf_status tf_check_unique(const struct tf_check *check, uint32_t count,
	tf_check_compare_fn compare, const char *row, const char *same, struct tf_error *err);

/* TF_E_LIMIT where a count is above its limit, TF_E_INTERNAL where rows are counted but absent. */
TF_WARN_UNUSED enum tf_status tf_check_count(
	const char *what, const void *rows, uint64_t count, uint64_t limit, struct tf_error *err);

/*
 * TF_E_INVALID unless [off, off + bytes) of peer's segment is a place that a graph of this rank may
 * touch: inside one part of control, protocol or startup memory, or inside one declared buffer,
 * which peers must see if peer != 0.
 */
TF_WARN_UNUSED enum tf_status tf_check_place(const struct tf_check *check, uint32_t peer,
	uint64_t off, uint64_t bytes, struct tf_error *err);

TF_WARN_UNUSED enum tf_status tf_check_layout(const struct tf_check *check, struct tf_error *err);
TF_WARN_UNUSED enum tf_status tf_check_buffers(struct tf_check *check, struct tf_error *err);
TF_WARN_UNUSED enum tf_status tf_check_constants(
	const struct tf_check *check, struct tf_error *err);
TF_WARN_UNUSED enum tf_status tf_check_groups(const struct tf_check *check, struct tf_error *err);
TF_WARN_UNUSED enum tf_status tf_check_samples(const struct tf_check *check, struct tf_error *err);
TF_WARN_UNUSED enum tf_status tf_check_kernels(const struct tf_check *check, struct tf_error *err);
TF_WARN_UNUSED enum tf_status tf_check_launches(const struct tf_check *check, struct tf_error *err);
TF_WARN_UNUSED enum tf_status tf_check_graphs(const struct tf_check *check, struct tf_error *err);
/* Parameters and addresses of foreign kernels, touched buffers, proofs. */
TF_WARN_UNUSED enum tf_status tf_check_foreign(const struct tf_check *check, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
