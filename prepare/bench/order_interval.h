/* SPDX-License-Identifier: Apache-2.0 */
/* A median and the order statistics that bound it, for any number of values. */
#ifndef TF_PREPARE_BENCH_ORDER_INTERVAL_H
#define TF_PREPARE_BENCH_ORDER_INTERVAL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tf_interval {
	double median, low, high;
};

/*
 * The rank k (from 1) such that order statistics k and count + 1 - k bound the median with at
 * least 97 %, the narrowest that do: 6 of 21. 1 where no pair does. Source: the binomial
 * distribution of the values below the median.
 */
uint32_t tf_order_rank(uint32_t count);

/* Sorts `values` (count, at least 1). */
struct tf_interval tf_order_interval(double *values, uint32_t count);

#ifdef __cplusplus
}
#endif
#endif
