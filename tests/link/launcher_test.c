/* SPDX-License-Identifier: Apache-2.0 */
/* What launchers say in the environment, and what of it is refused. */
#include "runtime/link/launcher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE",
	"MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"};

/* The environment is exactly these; a name, a value, ..., NULL. */
static void set_environment(const char *const *pairs)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
	for (; *pairs; pairs += 2)
		setenv(pairs[0], pairs[1], 1);
}

#define ENVIRONMENT(...) set_environment((const char *const[]){__VA_ARGS__, NULL})

static struct tf_launcher read_well(void)
{
	struct tf_launcher launcher;
	struct tf_error err = {0};

	if (tf_launcher_read(&launcher, &err) != TF_OK)
		fail_msg("%s", err.text);
	return launcher;
}

static void refuse(enum tf_status status, const char *words)
{
	struct tf_launcher launcher = {.rank = 77};
	struct tf_error err = {0};

	assert_int_equal(tf_launcher_read(&launcher, &err), status);
	assert_int_equal(err.status, status);
	if (!strstr(err.text, words))
		fail_msg("'%s' must hold '%s'", err.text, words);
	assert_int_equal(launcher.rank, 77);
}

static void test_reads(void **state)
{
	struct tf_launcher launcher;

	(void)state;
	ENVIRONMENT("RANK", "3", "WORLD_SIZE", "8", "LOCAL_RANK", "1", "LOCAL_WORLD_SIZE", "8");
	launcher = read_well();
	assert_int_equal(launcher.rank, 3);
	assert_int_equal(launcher.world, 8);
	assert_int_equal(launcher.local_rank, 1);
	ENVIRONMENT("RANK", "1", "WORLD_SIZE", "2", "LOCAL_RANK", "");
	assert_int_equal(read_well().local_rank, 1);
}

/* Ranks of one launch meet; another launch, or the next attempt of this one, meets elsewhere. */
static void test_addresses(void **state)
{
	struct tf_launcher first, second;

	(void)state;
	ENVIRONMENT("RANK", "0", "WORLD_SIZE", "2", "MASTER_PORT", "29500", "MASTER_ADDR", "here");
	first = read_well();
	assert_int_equal(strncmp(first.address, "unix:@", 6), 0);
	setenv("RANK", "1", 1);
	second = read_well();
	assert_string_equal(first.address, second.address);
	setenv("TORCHELASTIC_RESTART_COUNT", "1", 1);
	assert_string_not_equal(first.address, read_well().address);
	unsetenv("TORCHELASTIC_RESTART_COUNT");
	setenv("TORCHELASTIC_RUN_ID", "another", 1);
	assert_string_not_equal(first.address, read_well().address);
	unsetenv("TORCHELASTIC_RUN_ID");
	/* what one variable ends with is not what the next begins with */
	setenv("MASTER_ADDR", "here2", 1);
	setenv("MASTER_PORT", "9500", 1);
	assert_string_not_equal(first.address, read_well().address);
}

static void test_refuses(void **state)
{
	(void)state;
	ENVIRONMENT("MASTER_PORT", "29500");
	refuse(TF_E_NOT_FOUND, "no launcher set RANK and WORLD_SIZE");
	ENVIRONMENT("RANK", "0");
	refuse(TF_E_USAGE, "RANK is set and WORLD_SIZE is not");
	ENVIRONMENT("WORLD_SIZE", "2", "RANK", "");
	refuse(TF_E_USAGE, "WORLD_SIZE is set and RANK is not");
	ENVIRONMENT("RANK", "2", "WORLD_SIZE", "2");
	refuse(TF_E_USAGE, "RANK is '2', not a number from 0 to 1");
	ENVIRONMENT("RANK", "0", "WORLD_SIZE", "9");
	refuse(TF_E_USAGE, "WORLD_SIZE is '9', not a number from 2 to 8");
	ENVIRONMENT("RANK", "-1", "WORLD_SIZE", "2");
	refuse(TF_E_USAGE, "RANK is '-1'");
	ENVIRONMENT("RANK", "0x1", "WORLD_SIZE", "2");
	refuse(TF_E_USAGE, "RANK is '0x1'");
	ENVIRONMENT("RANK", "18446744073709551617", "WORLD_SIZE", "2");
	refuse(TF_E_USAGE, "RANK is '18446744073709551617'");
	ENVIRONMENT("RANK", "0", "WORLD_SIZE", "2", "LOCAL_RANK", "2");
	refuse(TF_E_USAGE, "LOCAL_RANK is '2'");
	ENVIRONMENT("RANK", "0", "WORLD_SIZE", "8", "LOCAL_WORLD_SIZE", "4");
	refuse(TF_E_UNAVAILABLE, "4 of 8 ranks are on this host");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_refuses),
	};

	return cmocka_run_group_tests_name("launcher", tests, NULL, NULL);
}
