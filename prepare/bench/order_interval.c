/* SPDX-License-Identifier: Apache-2.0 */
/* The binomial sum stays far above a double's underflow for the counts of a benchmark. */
#include "prepare/bench/order_interval.h"

#include <math.h>
#include <stdlib.h>

#define MISSED_MAX 0.03 /* both tails together */

uint32_t tf_order_rank(uint32_t count)
{
	double term = pow(0.5, count), tail = term;
	uint32_t k = 1;

	/* tail is P(fewer than k values lie below the median). */
	while (2 * k <= count) {
		term *= (double)(count - k + 1) / k;
		if (2 * (tail + term) > MISSED_MAX)
			break;
		tail += term;
		k++;
	}
	return k;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct tf_interval tf_order_interval(double *values, uint32_t count)
{
	uint32_t k = tf_order_rank(count);

	qsort(values, count, sizeof(values[0]), compare);
	return (struct tf_interval){
		.median = (values[(count - 1) / 2] + values[count / 2]) / 2,
		.low = values[k - 1],
		.high = values[count - k],
	};
}
