/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlines are absolute monotonic times, so nested waits share one bound without arithmetic. */
#include "base/deadline.h"

#include <limits.h>
#include <time.h>

int64_t tf_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * TF_NS_PER_S + now.tv_nsec;
}

int64_t tf_deadline_after(int64_t ns)
{
	int64_t deadline;

	if (__builtin_add_overflow(tf_now_ns(), ns, &deadline))
		return TF_DEADLINE_NEVER;
	return deadline;
}

int64_t tf_deadline_left_ns(int64_t deadline_ns)
{
	int64_t now;

	if (deadline_ns == TF_DEADLINE_NEVER)
		return INT64_MAX;
	now = tf_now_ns();
	return deadline_ns > now ? deadline_ns - now : 0;
}

int tf_deadline_poll_ms(int64_t deadline_ns)
{
	int64_t left, ms;

	if (deadline_ns == TF_DEADLINE_NEVER)
		return -1;
	left = tf_deadline_left_ns(deadline_ns);
	ms = left / TF_NS_PER_MS + (left % TF_NS_PER_MS != 0);
	return ms > INT_MAX ? INT_MAX : (int)ms;
}

int tf_deadline_passed(int64_t deadline_ns)
{
	return tf_deadline_left_ns(deadline_ns) == 0;
}
