/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's table against the fake: versions, every missing function, every failing call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/dynlib.h"
#include "runtime/comm/nccl/nccl_api.h"

static const char *const names[] = {
#define NAME(name, since, parameters) #name,
	TF_NCCL_CALLS(NAME) TF_NCCL_TEXTS(NAME)
#undef NAME
};

#define NAME_COUNT (sizeof(names) / sizeof(names[0]))

static int set_up(void **state)
{
	(void)state;
	unsetenv("FAKE_NCCL_VERSION");
	unsetenv("FAKE_NCCL_FAIL");
	tf_dynlib_fail_at(0);
	return 0;
}

static void assert_refused(const char *text)
{
	const struct tf_nccl_api *api = NULL;
	struct tf_error err = {0};

	assert_int_equal(tf_nccl_api_open(&api, &err), TF_E_UNAVAILABLE);
	assert_null(api);
	if (!strstr(err.text, text))
		fail_msg("'%s' is not in: %s", text, err.text);
}

/* A table that is refused is not kept, so all of these come before the one that is. */
static void test_versions(void **state)
{
	(void)state;
	setenv("FAKE_NCCL_VERSION", "21803", 1);
	assert_refused("NCCL is of version 2.18.3, this build needs 2.19.0 or newer");
	setenv("FAKE_NCCL_VERSION", "2708", 1);
	assert_refused("NCCL is of version 2.8 or older, this build needs 2.19.0 or newer");
	unsetenv("FAKE_NCCL_VERSION");
	setenv("FAKE_NCCL_FAIL", "ncclGetVersion:2", 1);
	assert_refused("ncclGetVersion failed with code 2");
}

/* The first look-up is that of the version, then all of them in the table's order. */
static void test_missing(void **state)
{
	char text[128];

	(void)state;
	tf_dynlib_fail_at(1);
	assert_refused("lacks the symbol 'ncclGetVersion'");
	for (unsigned i = 0; i < NAME_COUNT; i++) {
		tf_dynlib_fail_at(2 + i);
		snprintf(text, sizeof(text), "NCCL 2.28.9: 'libnccl.so.2' lacks the symbol '%s'", names[i]);
		assert_refused(text);
	}
}

static int windows_of(const char *version)
{
	const struct tf_nccl_api *api = NULL;

	setenv("FAKE_NCCL_VERSION", version, 1);
	if (tf_nccl_api_open(&api, NULL) != TF_OK || !api->ncclMemAlloc || !api->ncclCommSplit)
		return 9;
	if (!api->ncclCommWindowRegister != !api->ncclCommWindowDeregister)
		return 8;
	return api->ncclCommWindowRegister != NULL;
}

/* The table is filled once a process: each version has a process of its own. */
static void assert_windows(const char *version, int wanted)
{
	pid_t pid = fork();
	int status = 0;

	if (!pid)
		_exit(windows_of(version));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), wanted);
}

static void test_windows(void **state)
{
	(void)state;
	assert_windows("21900", 0);
	assert_windows("22607", 0);
	assert_windows("22703", 1);
	assert_windows("23005", 1);
}

/* Every call of the table, with arguments that the fake does not look at when it is to fail. */
static void call_all(const struct tf_nccl_api *api, int index, struct tf_error *err)
{
	struct tf_nccl_unique_id id = {{0}};
	int at = 0, out = 0;

#define CALL(call)                                                                                 \
	if (at++ == index)                                                                             \
	(void)TF_NCCL(api, err, call)
	CALL(ncclGetVersion(&out));
	CALL(ncclGetUniqueId(&id));
	CALL(ncclCommInitRankConfig(NULL, 2, id, 0, NULL));
	CALL(ncclCommSplit(NULL, 0, 0, NULL, NULL));
	CALL(ncclCommGetAsyncError(NULL, &out));
	CALL(ncclCommFinalize(NULL));
	CALL(ncclCommDestroy(NULL));
	CALL(ncclCommAbort(NULL));
	CALL(ncclAllReduce(NULL, NULL, 1, 7, 0, NULL, NULL));
	CALL(ncclAllGather(NULL, NULL, 1, 7, NULL, NULL));
	CALL(ncclReduceScatter(NULL, NULL, 1, 7, 0, NULL, NULL));
	CALL(ncclGroupStart());
	CALL(ncclGroupEnd());
	CALL(ncclMemAlloc(NULL, 1));
	CALL(ncclMemFree(NULL));
	CALL(ncclCommWindowRegister(NULL, NULL, 1, NULL, 1));
	CALL(ncclCommWindowDeregister(NULL, NULL));
#undef CALL
}

static const char *const called[] = {"ncclGetVersion", "ncclGetUniqueId", "ncclCommInitRankConfig",
	"ncclCommSplit", "ncclCommGetAsyncError", "ncclCommFinalize", "ncclCommDestroy",
	"ncclCommAbort", "ncclAllReduce", "ncclAllGather", "ncclReduceScatter", "ncclGroupStart",
	"ncclGroupEnd", "ncclMemAlloc", "ncclMemFree", "ncclCommWindowRegister",
	"ncclCommWindowDeregister"};

static void test_failures(void **state)
{
	const struct tf_nccl_api *api = NULL;
	char asked[64], text[96];

	(void)state;
	assert_int_equal(tf_nccl_api_open(&api, NULL), TF_OK);
	assert_int_equal(api->version, TF_NCCL_VERSION(2, 28, 9));
	for (size_t i = 0; i < sizeof(called) / sizeof(called[0]); i++) {
		struct tf_error err = {0};

		snprintf(asked, sizeof(asked), "%s:3", called[i]);
		setenv("FAKE_NCCL_FAIL", asked, 1);
		call_all(api, (int)i, &err);
		assert_int_equal(err.status, TF_E_SYSTEM);
		assert_int_equal(err.native, 3);
		assert_string_equal(err.origin, "nccl");
		snprintf(text, sizeof(text), "%s(", called[i]);
		assert_memory_equal(err.text, text, strlen(text));
		assert_non_null(strstr(err.text, ") failed: internal error (3): it was told to"));
	}
}

static void test_results(void **state)
{
	const struct tf_nccl_api *api = NULL;
	struct tf_error err = {0};

	(void)state;
	assert_int_equal(tf_nccl_api_open(&api, NULL), TF_OK);
	assert_int_equal(tf_nccl_check(api, TF_NCCL_SUCCESS, "x", &err, __FILE__, __LINE__), TF_OK);
	assert_int_equal(tf_nccl_check(api, TF_NCCL_IN_PROGRESS, "x", &err, __FILE__, __LINE__), TF_OK);
	assert_int_equal(
		tf_nccl_check(api, TF_NCCL_REMOTE_ERROR, "x", &err, __FILE__, __LINE__), TF_E_DISCONNECTED);
	assert_string_equal(
		err.text, "x failed: remote process exited or there was a network error (6)");
	assert_int_equal(tf_nccl_dtype(TF_DTYPE_BF16), TF_NCCL_BFLOAT16);
	assert_int_equal(tf_nccl_dtype(TF_DTYPE_F16), TF_NCCL_FLOAT16);
	assert_int_equal(tf_nccl_dtype(TF_DTYPE_F32), TF_NCCL_FLOAT32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_versions, set_up),
		cmocka_unit_test_setup(test_missing, set_up),
		cmocka_unit_test_setup(test_windows, set_up),
		cmocka_unit_test_setup(test_failures, set_up),
		cmocka_unit_test_setup(test_results, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
