/* SPDX-License-Identifier: Apache-2.0 */
/* The one clock (CLOCK_MONOTONIC, nanoseconds) and deadlines on it. */
#ifndef TF_BASE_DEADLINE_H
#define TF_BASE_DEADLINE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TF_NS_PER_MS INT64_C(1000000)
#define TF_NS_PER_S  INT64_C(1000000000)

/* A deadline is an absolute time of tf_now_ns(); this one never comes. */
#define TF_DEADLINE_NEVER INT64_MAX

int64_t tf_now_ns(void);

/* Now plus `ns`, saturating. */
int64_t tf_deadline_after(int64_t ns);

/* Nanoseconds left, never negative. */
int64_t tf_deadline_left_ns(int64_t deadline_ns);

/* The timeout for poll(2): milliseconds left, rounded up, -1 for never. */
int tf_deadline_poll_ms(int64_t deadline_ns);

int tf_deadline_passed(int64_t deadline_ns);

#ifdef __cplusplus
}
#endif
#endif
