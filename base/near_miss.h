/* SPDX-License-Identifier: Apache-2.0 */
/* The known name that comes nearest to a misspelt one, for "did you mean" in messages. */
#ifndef TF_BASE_NEAR_MISS_H
#define TF_BASE_NEAR_MISS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Longer names are never near: the cost of one offer is the product of both lengths. */
#define TF_NEAR_MISS_NAME_MAX 48

/*
 * {.word = written, .word_length = n} starts a search; after the offers `best` is NULL or near
 * enough.
 */
struct tf_near_miss {
	const char *word; /* borrowed; need not end in a zero byte */
	size_t word_length;
	const char *best; /* borrowed from the offer; as long as best_length says */
	size_t best_length;
	unsigned distance;
};

/*
 * Offers one known name. Near is: `word` is its beginning (two characters or more), or at most a
 * third of it, rounded up, must be changed, where an exchange of neighbours is one change. Of
 * equally near names the first offered stays.
 */
void tf_near_miss_offer(struct tf_near_miss *miss, const char *name, size_t name_length);

#ifdef __cplusplus
}
#endif
#endif
