/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edit distance by optimal string alignment: insertions, deletions, substitutions and exchanges of
 * neighbours, in three rolling rows.
 */
#include "base/near_miss.h"

#include <string.h>

static unsigned smaller(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	unsigned rows[3][TF_NEAR_MISS_NAME_MAX + 1];

	for (size_t j = 0; j <= b_length; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= a_length; i++) {
		unsigned *row = rows[i % 3];
		const unsigned *above = rows[(i + 2) % 3];
		const unsigned *above2 = rows[(i + 1) % 3];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_length; j++) {
			row[j] = smaller(above[j], row[j - 1]) + 1;
			row[j] = smaller(row[j], above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = smaller(row[j], above2[j - 2] + 1);
		}
	}
	return rows[a_length % 3][b_length];
}

void tf_near_miss_offer(struct tf_near_miss *miss, const char *name, size_t name_length)
{
	unsigned distance;

	if (miss->word_length > TF_NEAR_MISS_NAME_MAX || name_length > TF_NEAR_MISS_NAME_MAX)
		return;
	if (miss->word_length >= 2 && miss->word_length <= name_length &&
		!memcmp(miss->word, name, miss->word_length)) {
		distance = 0;
	} else {
		distance = edit_distance(miss->word, miss->word_length, name, name_length);
		if (distance > (name_length + 2) / 3 || distance >= name_length)
			return;
	}
	if (miss->best && miss->distance <= distance)
		return;
	miss->best = name;
	miss->best_length = name_length;
	miss->distance = distance;
}
