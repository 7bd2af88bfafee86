/* SPDX-License-Identifier: Apache-2.0 */
/* One pointer a thread: ranks may be threads of one process, each with its own clock. */
#include "runtime/collective/virtual_clock.h"

static _Thread_local struct tf_virtual_clock *here;

void tf_virtual_clock_attach(struct tf_virtual_clock *clock)
{
	here = clock;
}

struct tf_virtual_clock *tf_virtual_clock_here(void)
{
	return here;
}

void tf_virtual_clock_tell(const struct tf_collective_args *args, enum tf_op op,
	enum tf_algorithm algorithm, enum tf_writer writer)
{
	if (here)
		here->collective(here, args, op, algorithm, writer);
}
