/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers, capacities, steps and what ends a session. Ranks are threads of this process. */
#include "tests/library/library_ranks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Leaves a body at the first thing that is not as it must be; the text says which. */
#define CHECK(rank, condition)                                                                     \
	do {                                                                                           \
		if (!(condition)) {                                                                        \
			snprintf((rank)->error.text, sizeof((rank)->error.text),                               \
				"line %d: %s; last error: %.500s", __LINE__, #condition, error.text);              \
			return TFRUN_INTERNAL;                                                                 \
		}                                                                                          \
	} while (0)

#define CAPACITY_MAX 8 /* of the workload decode-window */

static const char *package_tp2, *package_tp4;

static int ends[LIBRARY_WORLD_MAX][LIBRARY_WORLD_MAX];
static struct library_rank ranks[LIBRARY_WORLD_MAX];

static enum tfrun_status find_buffers(struct tfrun_session *session, struct library_rank *rank)
{
	uint32_t count = tfrun_buffer_count(session), inputs = 0;
	struct tfrun_error error = {0};
	struct tfrun_buffer buffer = {.size = sizeof(buffer)}, same = {.size = sizeof(same)};

	CHECK(rank, count > 0);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t elements = 1;

		CHECK(rank, tfrun_buffer_at(session, i, &buffer, &error) == TFRUN_OK);
		CHECK(rank, tfrun_buffer_find(session, buffer.name, &same, &error) == TFRUN_OK);
		CHECK(rank, same.data == buffer.data && same.bytes == buffer.bytes);
		for (uint32_t d = 0; d < buffer.dims_count; d++)
			elements *= buffer.dims[d];
		CHECK(rank, !strcmp(buffer.dtype, "bf16") && buffer.bytes == elements * 2);
		inputs += buffer.role == TFRUN_INPUT;
	}
	CHECK(rank, inputs * 2 == count);
	CHECK(rank, tfrun_buffer_at(session, count, &buffer, &error) == TFRUN_USAGE);
	CHECK(rank, strstr(error.text, "is not below the count of"));
	CHECK(rank, tfrun_buffer_at(session, UINT32_MAX, &buffer, NULL) == TFRUN_USAGE);
	CHECK(rank, tfrun_buffer_find(session, "nobody", &buffer, &error) == TFRUN_NOT_FOUND);
	CHECK(rank, strstr(error.text, "'nobody'"));
	CHECK(rank, tfrun_buffer_find(session, "", &buffer, NULL) == TFRUN_NOT_FOUND);
	return TFRUN_OK;
}

static enum tfrun_status refuse_rows(struct tfrun_session *session, struct library_rank *rank)
{
	struct tfrun_info info = {.size = sizeof(info)};
	struct tfrun_error error = {0};
	uint32_t capacity = 77;

	CHECK(rank, tfrun_capacity_for(session, 0, &capacity, &error) == TFRUN_USAGE);
	CHECK(rank, tfrun_capacity_for(session, CAPACITY_MAX + 1, &capacity, &error) == TFRUN_USAGE);
	CHECK(rank, capacity == 77);
	CHECK(rank, tfrun_capacity_for(session, 3, &capacity, &error) == TFRUN_OK && capacity == 4);
	CHECK(rank, tfrun_capacity_for(session, 8, &capacity, &error) == TFRUN_OK && capacity == 8);
	CHECK(rank, tfrun_step(session, 0, &error) == TFRUN_USAGE && strstr(error.text, "0 rows"));
	CHECK(rank, tfrun_step(session, CAPACITY_MAX + 1, &error) == TFRUN_USAGE);
	CHECK(rank, strstr(error.text, "above the largest loaded capacity, 8"));
	CHECK(rank, tfrun_step(session, UINT64_MAX, NULL) == TFRUN_USAGE);
	CHECK(rank, tfrun_check(session, 0, &error) == TFRUN_USAGE);
	/* Refused words end nothing. */
	CHECK(rank, tfrun_step(session, CAPACITY_MAX, &error) == TFRUN_OK);
	CHECK(rank, tfrun_check(session, 5, &error) == TFRUN_OK);
	CHECK(rank, tfrun_get_info(session, &info, &error) == TFRUN_OK && info.steps == 2);
	return TFRUN_OK;
}

static enum tfrun_status read_info(struct tfrun_session *session, struct library_rank *rank)
{
	struct tfrun_info info = {0};
	struct tfrun_error error = {0};

	CHECK(rank, tfrun_get_info(session, &info, &error) == TFRUN_USAGE);
	CHECK(rank, strstr(error.text, "info.size is 0"));
	info.size = sizeof(info);
	CHECK(rank, tfrun_get_info(session, &info, &error) == TFRUN_OK);
	CHECK(rank, info.rank == rank->options.rank && info.world == rank->options.world);
	CHECK(rank, info.groups == 4 && info.capacities == 4 && info.largest_capacity == CAPACITY_MAX);
	CHECK(rank, info.tunings == 0 && info.captures == 0 && info.steps == 0);
	CHECK(rank, info.load_ns > 0 && info.window_base != 0);
	CHECK(rank, strspn(info.package_sha256, "0123456789abcdef") == 64);
	CHECK(rank, !strcmp(tfrun_version(), "0.1.0"));
	return TFRUN_OK;
}

/*
 * Every rank writes its number and a round into the first input of capacity 1, steps, and finds the
 * bytes of all ranks in its output: what was written arrives, and the output is of this step.
 */
static enum tfrun_status write_step_read(struct tfrun_session *session, struct library_rank *rank)
{
	struct tfrun_error error = {0};
	struct tfrun_buffer in = {.size = sizeof(in)}, out = {.size = sizeof(out)};

	CHECK(rank, tfrun_buffer_find(session, "exchange.c1.in.0", &in, &error) == TFRUN_OK);
	CHECK(rank, tfrun_buffer_find(session, "exchange.c1.out.0", &out, &error) == TFRUN_OK);
	CHECK(rank, out.bytes == in.bytes * rank->options.world);
	for (unsigned round = 0; round < 20; round++) {
		memset(in.data, (int)(16 * rank->options.rank + round % 16), in.bytes);
		CHECK(rank, tfrun_step(session, 1, &error) == TFRUN_OK);
		for (size_t i = 0; i < out.bytes; i++)
			CHECK(rank, ((uint8_t *)out.data)[i] == 16 * (i / in.bytes) + round % 16);
	}
	return TFRUN_OK;
}

static void run_on_both(library_body body)
{
	library_ranks_init(ranks, 2, package_tp2, body, ends);
	library_ranks_run(ranks, 2);
	library_assert_all_ok(ranks, 2);
	library_ranks_init(ranks, 4, package_tp4, body, ends);
	library_ranks_run(ranks, 4);
	library_assert_all_ok(ranks, 4);
}

static void buffers_are_found(void **state)
{
	(void)state;
	run_on_both(find_buffers);
}

static void rows_are_checked(void **state)
{
	(void)state;
	run_on_both(refuse_rows);
}

static void info_is_told(void **state)
{
	(void)state;
	run_on_both(read_info);
}

static void bytes_arrive(void **state)
{
	(void)state;
	run_on_both(write_step_read);
}

static enum tfrun_status step_three_rows(struct tfrun_session *session, struct library_rank *rank)
{
	struct tfrun_info info = {.size = sizeof(info)};
	struct tfrun_error error = {0};

	CHECK(rank, tfrun_get_info(session, &info, &error) == TFRUN_OK);
	CHECK(rank, info.capacities == 2 && info.largest_capacity == 2);
	CHECK(rank, tfrun_step(session, 3, &error) == TFRUN_USAGE);
	CHECK(rank, strstr(error.text, "above the largest loaded capacity, 2"));
	return tfrun_check(session, 2, &rank->error);
}

static void a_smaller_capacity_can_be_asked_for(void **state)
{
	(void)state;
	library_ranks_init(ranks, 2, package_tp2, step_three_rows, ends);
	ranks[0].options.capacity_max = ranks[1].options.capacity_max = 2;
	library_ranks_run(ranks, 2);
	library_assert_all_ok(ranks, 2);
}

/* Rank 1 leaves without a word; rank 0's step ends by its bound and names it; so does the next. */
static enum tfrun_status step_alone(struct tfrun_session *session, struct library_rank *rank)
{
	struct tfrun_error error = {0};
	enum tfrun_status status;

	if (rank->options.rank)
		return TFRUN_OK;
	status = tfrun_step(session, 1, &rank->error);
	CHECK(rank, tfrun_step(session, 1, &error) == status);
	CHECK(rank, !strcmp(error.text, rank->error.text));
	return status;
}

static void a_silent_peer_ends_the_session(void **state)
{
	(void)state;
	library_ranks_init(ranks, 2, package_tp2, step_alone, ends);
	ranks[0].options.timeout_ms = ranks[1].options.timeout_ms = LIBRARY_LOSS_MS;
	library_ranks_run(ranks, 2);
	assert_int_equal(ranks[1].status, TFRUN_OK);
	library_assert_refused(&ranks[0], TFRUN_TIMEOUT, "rank 1");
	library_assert_refused(&ranks[0], TFRUN_TIMEOUT, "exchange");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffers_are_found),
		cmocka_unit_test(rows_are_checked),
		cmocka_unit_test(info_is_told),
		cmocka_unit_test(bytes_arrive),
		cmocka_unit_test(a_smaller_capacity_can_be_asked_for),
		cmocka_unit_test(a_silent_peer_ends_the_session),
	};

	if (argc != 3)
		return 2;
	package_tp2 = argv[1];
	package_tp4 = argv[2];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
