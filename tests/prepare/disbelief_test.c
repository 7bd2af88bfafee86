/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tuning where the driver promises peer access and data do not go over a pair: the ranks go on
 * without peer access, and the result says which pair it was. The linker puts wrap_stream_copy in
 * the place of the host device's, so the fault is in the device of every rank's process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/deadline.h"
#include "prepare/export/export.h"
#include "runtime/session/peer_access.h"

#define PATTERN_BYTES 256
#define WORLD         3
#define FAR           (UINT64_C(1) << 20) /* beyond any copy within a segment's flag region */

enum tf_status __real_tf_host_stream_copy(
	struct tf_stream *stream, void *to, const void *from, uint64_t bytes, struct tf_error *err);
enum tf_status __wrap_tf_host_stream_copy(
	struct tf_stream *stream, void *to, const void *from, uint64_t bytes, struct tf_error *err);

static int broken_proofs; /* how many proofs of a process lose their data */

/* In the first proofs of a process nothing goes up to a higher rank, written or read. */
enum tf_status __wrap_tf_host_stream_copy(
	struct tf_stream *stream, void *to, const void *from, uint64_t bytes, struct tf_error *err)
{
	static int copies;

	if (bytes == PATTERN_BYTES && copies < broken_proofs * 2 * (WORLD - 1)) {
		copies++;
		if ((uint64_t)(uintptr_t)to > (uint64_t)(uintptr_t)from + FAR)
			return TF_OK;
	}
	return __real_tf_host_stream_copy(stream, to, from, bytes, err);
}

static enum tf_status tune(
	const char *ladder, struct tf_export_result *result, struct tf_error *err)
{
	struct tf_export_options options = {
		.device = "host",
		.world = WORLD,
		.capacities = "1",
		.ladder = ladder,
		.timeout_ns = 20 * TF_NS_PER_S,
	};

	memset(result, 0, sizeof(*result));
	return tf_tune_only(&options, result, err);
}

static void the_pair_is_stated_and_staged_is_tuned(void **state)
{
	struct tf_export_result result;
	struct tf_error err = {0};

	(void)state;
	broken_proofs = 1;
	if (tune(NULL, &result, &err) != TF_OK)
		fail_msg("%s", err.text);
	assert_non_null(
		strstr(result.job.no_peer_access, "rank 1: rank 1 finds 0x0 where rank 0 wrote"));
	assert_non_null(strstr(result.job.no_peer_access, "peer access is not believed"));
	assert_true(tf_peer_access_is_off(&result.program));
	assert_true(result.program.candidate_count >= 1);
	for (uint32_t i = 0; i < result.program.candidate_count; i++)
		assert_int_equal(result.program.candidates[i].candidate.writer, TF_WRITER_STAGED);
	tf_export_result_fini(&result);
}

/* Host memory that is not shared either leaves nothing to go on with. */
static void a_second_disbelief_is_the_end(void **state)
{
	struct tf_export_result result;
	struct tf_error err = {0};

	(void)state;
	broken_proofs = 2;
	assert_int_equal(tune(NULL, &result, &err), TF_E_MISFIT);
	assert_non_null(strstr(err.text, "shared host memory is not believed"));
	tf_export_result_fini(&result);
}

static void a_good_device_is_believed(void **state)
{
	struct tf_export_result result;
	struct tf_error err = {0};

	(void)state;
	broken_proofs = 0;
	if (tune(NULL, &result, &err) != TF_OK)
		fail_msg("%s", err.text);
	assert_string_equal(result.job.no_peer_access, "");
	assert_false(tf_peer_access_is_off(&result.program));
	tf_export_result_fini(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_pair_is_stated_and_staged_is_tuned),
		cmocka_unit_test(a_second_disbelief_is_the_end),
		cmocka_unit_test(a_good_device_is_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
