/* SPDX-License-Identifier: Apache-2.0 */
/* torchrun's environment, held against what a group can be. */
#include "runtime/link/launcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"

#define DIGITS_MAX 9 /* below 2^32 */

/* A variable that is set but empty counts as not set, as launchers use it. */
static const char *variable(const char *name)
{
	const char *text = getenv(name);

	return text && *text ? text : NULL;
}

static enum tf_status read_number(const char *name, uint32_t low, uint32_t high, uint32_t otherwise,
	uint32_t *out, struct tf_error *err)
{
	const char *text = variable(name);
	size_t digits = text ? strspn(text, "0123456789") : 0;
	unsigned long value;

	if (!text) {
		*out = otherwise;
		return TF_OK;
	}
	value = digits && digits <= DIGITS_MAX && !text[digits] ? strtoul(text, NULL, 10) : high + 1UL;
	if (value < low || value > high)
		return TF_FAIL(
			err, TF_E_USAGE, "%s is '%.32s', not a number from %u to %u", name, text, low, high);
	*out = (uint32_t)value;
	return TF_OK;
}

/*
 * All ranks of a launch and none of another one beside it get the same text. Long or odd run names
 * go in as a number of their bytes.
 */
static uint64_t mix(uint64_t hash, const char *name)
{
	const char *text = variable(name);

	for (; text && *text; text++)
		hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
	return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}

static void name_group(struct tf_launcher *launcher)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	hash = mix(hash, "MASTER_ADDR");
	hash = mix(hash, "MASTER_PORT");
	hash = mix(hash, "TORCHELASTIC_RUN_ID");
	hash = mix(hash, "TORCHELASTIC_RESTART_COUNT");
	snprintf(launcher->address, sizeof(launcher->address), "unix:@tfrun-launch-%016llx",
		(unsigned long long)hash);
}

enum tf_status tf_launcher_read(struct tf_launcher *out, struct tf_error *err)
{
	struct tf_launcher launcher = {0};
	uint32_t local_world;

	if (!variable("RANK") && !variable("WORLD_SIZE"))
		return TF_FAIL(err, TF_E_NOT_FOUND, "no launcher set RANK and WORLD_SIZE");
	if (!variable("RANK") || !variable("WORLD_SIZE"))
		return TF_FAIL(err, TF_E_USAGE, "%s is set and %s is not",
			variable("RANK") ? "RANK" : "WORLD_SIZE", variable("RANK") ? "WORLD_SIZE" : "RANK");
	TF_TRY(read_number("WORLD_SIZE", TF_WORLD_MIN, TF_WORLD_MAX, 0, &launcher.world, err));
	TF_TRY(read_number("RANK", 0, launcher.world - 1, 0, &launcher.rank, err));
	TF_TRY(
		read_number("LOCAL_RANK", 0, launcher.world - 1, launcher.rank, &launcher.local_rank, err));
	TF_TRY(read_number("LOCAL_WORLD_SIZE", 1, launcher.world, launcher.world, &local_world, err));
	if (local_world != launcher.world)
		return TF_FAIL(err, TF_E_UNAVAILABLE,
			"%u of %u ranks are on this host: ranks of several hosts cannot share memory",
			local_world, launcher.world);
	name_group(&launcher);
	*out = launcher;
	return TF_OK;
}
