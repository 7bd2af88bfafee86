/* SPDX-License-Identifier: Apache-2.0 */
/* The allocation shim: every heap byte of the project comes through here. Thread-safe. */
#ifndef TF_BASE_ALLOC_H
#define TF_BASE_ALLOC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Zeroed memory for `count` items of `size` bytes; NULL if the product overflows or memory is
 * short. A count or size of 0 gives a unique pointer.
 */
void *tf_calloc(size_t count, size_t size) __attribute__((malloc, warn_unused_result));

/* Resizes to `count` items; the old block stays valid on failure. New bytes are not initialised. */
void *tf_reallocarray(void *old, size_t count, size_t size) __attribute__((warn_unused_result));

/* Copies of a string; NULL on failure or if `text` is NULL. */
char *tf_strdup(const char *text) __attribute__((malloc, warn_unused_result));
char *tf_strndup(const char *text, size_t bytes) __attribute__((malloc, warn_unused_result));

/* printf into fresh memory; NULL on failure. */
char *tf_asprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2), warn_unused_result));

/* Takes NULL. */
void tf_free(void *block);

/*
 * Test hook: the n-th allocation from now (1 = the next) fails, once; 0 switches it off.
 * Process-wide. tf_alloc_count() is the number of allocations asked for so far, refused ones
 * included: a step path must not raise it.
 */
void tf_alloc_fail_at(uint64_t nth);
uint64_t tf_alloc_count(void);

#ifdef __cplusplus
}
#endif
#endif
