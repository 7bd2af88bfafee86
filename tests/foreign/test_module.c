/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels for tests: some that work, some that a loader or an export must refuse. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <tfrun/host_kernel.h>

#define EXPORT __attribute__((visibility("default")))
#define KERNEL(name)                                                                               \
	EXPORT extern const struct tfrun_host_params name##_params;                                    \
	EXPORT void name(const struct tfrun_host_launch *launch)

struct arguments {
	uint8_t *from, *to;
	uint32_t bytes, add;
};

#define PARAMS                                                                                     \
	{                                                                                              \
		{0, 8}, {8, 8}, {16, 4},                                                                   \
		{                                                                                          \
			20, 4                                                                                  \
		}                                                                                          \
	}
#define VALID                                                                                      \
	{                                                                                              \
		.version = TFRUN_HOST_KERNEL_VERSION, .count = 4, .params = PARAMS                         \
	}

/* to[i] = from[i] + add */
KERNEL(add);
const struct tfrun_host_params add_params = VALID;
void add(const struct tfrun_host_launch *launch)
{
	struct arguments args = {0};

	memcpy(&args, launch->args, launch->args_bytes);
	for (uint32_t i = 0; i < args.bytes; i++)
		args.to[i] = (uint8_t)(args.from[i] + args.add * launch->grid[0] * launch->block[0]);
}

/* The same, from a state that it keeps: no two runs give the same bytes. */
KERNEL(restless);
const struct tfrun_host_params restless_params = VALID;
void restless(const struct tfrun_host_launch *launch)
{
	static uint8_t calls;
	struct arguments args = {0};

	memcpy(&args, launch->args, launch->args_bytes);
	calls++;
	for (uint32_t i = 0; i < args.bytes; i++)
		args.to[i] = (uint8_t)(args.from[i] + calls);
}

KERNEL(newer);
const struct tfrun_host_params newer_params = {.version = 2, .count = 1, .params = {{0, 8}}};
void newer(const struct tfrun_host_launch *launch)
{
	(void)launch;
}

KERNEL(overlapping);
const struct tfrun_host_params overlapping_params = {
	.version = TFRUN_HOST_KERNEL_VERSION, .count = 2, .params = {{0, 8}, {4, 8}}};
void overlapping(const struct tfrun_host_launch *launch)
{
	(void)launch;
}

EXPORT void bare(const struct tfrun_host_launch *launch);
void bare(const struct tfrun_host_launch *launch)
{
	(void)launch;
}
