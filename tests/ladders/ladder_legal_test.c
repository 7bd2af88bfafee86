/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in ladders, and which rungs may carry which group. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ladders/ladder.h"

#define ALL_LINKS (TF_LINK_PEER_WRITE | TF_LINK_PEER_READ | TF_LINK_PEER_ATOMIC)
#define KIB       UINT64_C(1024)

static const char *const classes[] = {"switched", "host-bridge", "ring", "fabric", "local"};

static struct tf_ladder builtin(const char *topology)
{
	struct tf_ladder ladder = {0};
	struct tf_error err = {0};

	if (tf_ladder_builtin(topology, &ladder, &err) != TF_OK)
		fail_msg("%s", err.text);
	return ladder;
}

/* A group of about `bytes` a rank: exactly, where the element's size divides it. */
static struct tf_group group_of(enum tf_op op, enum tf_dtype dtype, uint64_t bytes)
{
	struct tf_group group = {.name = "g", .op = op, .dtype = dtype, .capacity = 1, .times = 1};

	group.buffer_pairs = 1;
	group.row_elements = bytes / tf_dtype_bytes(dtype);
	group.row_elements += !group.row_elements;
	return group;
}

static uint32_t count_legal(
	const struct tf_ladder *ladder, const struct tf_group *group, uint32_t world, uint32_t links)
{
	uint32_t rungs[TF_LADDER_RUNGS_MAX];
	struct tf_error err = {0};
	uint32_t count = 0;

	if (tf_ladder_legal(ladder, group, world, links, rungs, &count, &err) != TF_OK)
		fail_msg("%s", err.text);
	for (uint32_t i = 1; i < count; i++)
		assert_true(rungs[i - 1] < rungs[i]);
	return count;
}

static void builtins_are_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < 5; i++) {
		struct tf_ladder ladder = builtin(classes[i]);

		assert_string_equal(ladder.name, classes[i]);
		assert_string_equal(ladder.topology, classes[i]);
		assert_true(strlen(ladder.summary) > 40);
		for (uint32_t k = 0; k < ladder.rung_count; k++)
			assert_true(strlen(ladder.rungs[k].reason) > 15);
		tf_ladder_fini(&ladder);
	}
}

static void unknown_builtin_lists_the_classes(void **state)
{
	struct tf_ladder ladder = {0};
	struct tf_error err = {0};

	(void)state;
	assert_int_equal(tf_ladder_builtin("swiched", &ladder, &err), TF_E_NOT_FOUND);
	assert_string_equal(err.text,
		"no built-in ladder 'swiched', did you mean 'switched', allowed: "
		"switched, host-bridge, ring, fabric, local");
}

/* Sizes from 2 bytes to 64 MiB: powers of two, their neighbours, and odd multiples. */
static void every_group_has_a_rung_everywhere(void **state)
{
	static const int64_t around[] = {-6, -4, -2, 0, 2, 4, 6, 10, 1022, 7168};

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		struct tf_ladder ladder = builtin(classes[i]);

		for (int kind = 0; kind < TF_OP_COUNT * TF_DTYPE_COUNT; kind++) {
			for (int64_t power = 2; power <= INT64_C(64) << 20; power *= 2) {
				for (size_t a = 0; a < sizeof(around) / sizeof(around[0]); a++) {
					int64_t bytes = power + around[a];
					struct tf_group group = group_of((enum tf_op)(kind / TF_DTYPE_COUNT),
						(enum tf_dtype)(kind % TF_DTYPE_COUNT), (uint64_t)bytes);

					if (bytes < 2 || bytes > INT64_C(64) << 20)
						continue;
					for (uint32_t world = TF_WORLD_MIN; world <= TF_WORLD_MAX; world++)
						assert_true(count_legal(&ladder, &group, world, ALL_LINKS) >= 1);
					assert_true(count_legal(&ladder, &group, 3, TF_LINK_PEER_WRITE) >= 1);
					assert_true(count_legal(&ladder, &group, 3, 0) >= 1);
				}
			}
		}
		tf_ladder_fini(&ladder);
	}
}

/* The startup graph's length: 81 groups of 3 to 14 candidates. */
static void switched_offers_a_bounded_choice(void **state)
{
	struct tf_ladder ladder = builtin("switched");

	(void)state;
	for (int op = 0; op < TF_OP_COUNT; op++) {
		for (uint64_t bytes = 4 * KIB; bytes <= 1024 * KIB; bytes += 1024) {
			struct tf_group group = group_of((enum tf_op)op, TF_DTYPE_BF16, bytes);
			uint32_t count = count_legal(&ladder, &group, 4, ALL_LINKS);

			assert_in_range(count, 3, 14);
		}
	}
	for (uint32_t i = 1; i < ladder.rung_count; i++)
		assert_true(ladder.rungs[i].without || ladder.rungs[i].needs & TF_LINK_LIBRARY ||
			ladder.rungs[i - 1].candidate.ctas <= ladder.rungs[i].candidate.ctas);
	tf_ladder_fini(&ladder);
}

static void ladders_keep_to_their_class(void **state)
{
	struct tf_ladder bridge = builtin("host-bridge");
	uint32_t rungs[TF_LADDER_RUNGS_MAX];
	uint32_t count = 0;
	struct tf_group group = group_of(TF_OP_ALL_REDUCE, TF_DTYPE_BF16, 1024 * KIB);

	(void)state;
	assert_int_equal(tf_ladder_legal(&bridge, &group, 4, ALL_LINKS, rungs, &count, NULL), TF_OK);
	for (uint32_t i = 0; i < count; i++) {
		enum tf_writer writer = bridge.rungs[rungs[i]].candidate.writer;

		assert_true(writer == TF_WRITER_SERIAL || writer == TF_WRITER_QUEUED ||
			writer == TF_WRITER_PULL || writer == TF_WRITER_STAGED);
	}
	for (uint32_t i = 0; i < bridge.rung_count; i++)
		assert_int_not_equal(bridge.rungs[i].candidate.writer, TF_WRITER_DIRECT);
	tf_ladder_fini(&bridge);

	for (size_t i = 0; i < 5; i++) {
		struct tf_ladder ladder = builtin(classes[i]);

		for (uint32_t k = 0; k < ladder.rung_count; k++) {
			const struct tf_rung *rung = &ladder.rungs[k];
			uint64_t most = rung->candidate.algorithm == TF_ALGORITHM_TWO_SHOT ? 256 : 64;

			if (rung->candidate.writer == TF_WRITER_LL)
				assert_true(rung->bytes_max <= most * KIB);
			if (rung->candidate.writer == TF_WRITER_SENTINEL)
				assert_true(rung->bytes_max <= (rung->world_max == 2 ? 16384 : 4096) * KIB);
		}
		tf_ladder_fini(&ladder);
	}
}

static void unavailable_writers_are_skipped(void **state)
{
	static const char *const between[] = {"ring", "fabric"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct tf_ladder ladder = builtin(between[i]);
		struct tf_group group = group_of(TF_OP_ALL_GATHER, TF_DTYPE_BF16, 8 * KIB);
		uint32_t rungs[TF_LADDER_RUNGS_MAX];
		uint32_t count = 0;

		assert_int_equal(ladder.rungs[0].candidate.writer, TF_WRITER_WIRE);
		assert_int_equal(
			tf_ladder_legal(&ladder, &group, 2, ALL_LINKS, rungs, &count, NULL), TF_OK);
		for (uint32_t k = 0; k < count; k++)
			assert_true(TF_WRITERS_AVAILABLE & 1u << ladder.rungs[rungs[k]].candidate.writer);
		tf_ladder_fini(&ladder);
	}
}

struct question {
	struct tf_rung rung;
	uint32_t world, links;
	const char *message;
};

#define RUNG(w, o, d, lo, hi, min, max, al, nd)                                                    \
	{                                                                                              \
		.candidate = {TF_ALGORITHM_ONE_SHOT, w, 64, 2, 0}, .ops = o, .dtypes = d, .world_min = lo, \
		.world_max = hi, .bytes_min = min, .bytes_max = max, .align_bytes = al, .needs = nd,       \
	}

static void no_rung_says_what_the_nearest_lacks(void **state)
{
	static const char head[] =
		"group 'g' (all_reduce bf16, capacity 1, 1000 bytes a rank, world 4): "
		"no rung of ladder 'mine' may carry it; the nearest is rungs[1] ";
	static const struct question questions[] = {
		{RUNG(TF_WRITER_LL, 2, 7, 2, 8, 1, 4096, 1, 1), 4, 7,
			"(one_shot/ll/t64/c2): is not for all_reduce"},
		{RUNG(TF_WRITER_LL, 1, 6, 2, 8, 1, 4096, 1, 1), 4, 7,
			"(one_shot/ll/t64/c2): is not for bf16"},
		{RUNG(TF_WRITER_WIRE, 1, 1, 2, 8, 1, 4096, 1, 0), 4, 7,
			"(one_shot/wire/t64/c2): writer 'wire' is not available in this build"},
		{RUNG(TF_WRITER_NCCL, 1, 1, 2, 8, 1, 4096, 1, TF_LINK_LIBRARY), 4, 7,
			"(one_shot/nccl/t64/c2): needs NCCL, which is off ('--nccl on')"},
		{RUNG(TF_WRITER_LL, 1, 1, 2, 8, 1, 4096, 1, 5), 4, 2,
			"(one_shot/ll/t64/c2): needs peer_write peer_atomic of the links"},
		{RUNG(TF_WRITER_LL, 1, 1, 2, 3, 1, 4096, 1, 1), 4, 7,
			"(one_shot/ll/t64/c2): world 4 is outside its 2 to 3"},
		{RUNG(TF_WRITER_LL, 1, 1, 2, 8, 1, 4096, 16, 1), 4, 7,
			"(one_shot/ll/t64/c2): 1000 bytes are no multiple of its align 16"},
		{RUNG(TF_WRITER_LL, 1, 1, 2, 8, 1, 999, 1, 1), 4, 7,
			"(one_shot/ll/t64/c2): 1000 bytes are outside its 1 to 999"},
	};
	struct tf_group group = group_of(TF_OP_ALL_REDUCE, TF_DTYPE_BF16, 1000);

	(void)state;
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		/* rungs[0] is for another operation and other bytes: always the farther one. */
		struct tf_rung rungs[] = {
			RUNG(TF_WRITER_LL, 4, 7, 2, 8, 4096, 8192, 1, 1), questions[i].rung};
		struct tf_ladder ladder = {.name = (char *)"mine", .rungs = rungs, .rung_count = 2};
		uint32_t out[TF_LADDER_RUNGS_MAX];
		uint32_t count = 77;
		struct tf_error err = {0};

		assert_int_equal(tf_ladder_legal(&ladder, &group, questions[i].world, questions[i].links,
							 out, &count, &err),
			TF_E_INVALID);
		assert_memory_equal(err.text, head, strlen(head));
		assert_string_equal(err.text + strlen(head), questions[i].message);
		assert_int_equal(count, 77);
	}
}

static void nearest_by_bytes_is_the_nearest(void **state)
{
	struct tf_rung rungs[] = {RUNG(TF_WRITER_LL, 1, 1, 2, 8, 1, 500, 1, 1),
		RUNG(TF_WRITER_LL, 1, 1, 2, 8, 1100, 4096, 1, 1),
		RUNG(TF_WRITER_LL, 1, 1, 2, 8, 5000, 9000, 1, 1)};
	struct tf_ladder ladder = {.name = (char *)"mine", .rungs = rungs, .rung_count = 3};
	struct tf_group group = group_of(TF_OP_ALL_REDUCE, TF_DTYPE_BF16, 1000);
	uint32_t out[TF_LADDER_RUNGS_MAX];
	uint32_t count = 0;
	struct tf_error err = {0};

	(void)state;
	assert_int_equal(tf_ladder_legal(&ladder, &group, 4, 7, out, &count, &err), TF_E_INVALID);
	assert_non_null(strstr(err.text, "rungs[1]"));
}

/* Without peer access `staged` is all that is legal, on every ladder. */
static void without_peers_only_staged_is_legal(void **state)
{
	uint32_t out[TF_LADDER_RUNGS_MAX], count = 0;

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		for (int op = 0; op < TF_OP_COUNT; op++) {
			struct tf_ladder ladder = builtin(classes[i]);
			struct tf_group group = group_of((enum tf_op)op, TF_DTYPE_F32, 65536);

			assert_int_equal(tf_ladder_legal(&ladder, &group, 2, 0, out, &count, NULL), TF_OK);
			for (uint32_t k = 0; k < count; k++)
				assert_int_equal(ladder.rungs[out[k]].candidate.writer, TF_WRITER_STAGED);
			tf_ladder_fini(&ladder);
		}
	}
}

/* A writer that stores flags at its peers carries nothing over links that cannot be written. */
static void links_without_writes_are_refused(void **state)
{
	struct tf_rung rungs[] = {RUNG(TF_WRITER_PULL, 1, 1, 2, 8, 1, 4096, 1, 3),
		RUNG(TF_WRITER_STAGED, 1, 1, 2, 8, 1, 4096, 1, 0)};
	struct tf_ladder ladder = {.name = (char *)"mine", .rungs = rungs, .rung_count = 1};
	struct tf_group group = group_of(TF_OP_ALL_REDUCE, TF_DTYPE_BF16, 1000);
	uint32_t out[TF_LADDER_RUNGS_MAX], count = 0;
	struct tf_error err = {0};

	(void)state;
	assert_int_equal(
		tf_ladder_legal(&ladder, &group, 2, TF_LINK_PEER_READ, out, &count, &err), TF_E_INVALID);
	assert_non_null(strstr(err.text, "needs peer_write of the links"));
	assert_int_equal(tf_ladder_legal(&ladder, &group, 2, 0, out, &count, &err), TF_E_INVALID);
	assert_non_null(strstr(err.text, "needs peer_write peer_read of the links"));
	rungs[0] = rungs[1];
	assert_int_equal(tf_ladder_legal(&ladder, &group, 2, 0, out, &count, &err), TF_OK);
	rungs[0].without = TF_LINK_PEER_WRITE | TF_LINK_PEER_READ;
	assert_int_equal(tf_ladder_legal(&ladder, &group, 2, 0, out, &count, &err), TF_OK);
	assert_int_equal(
		tf_ladder_legal(&ladder, &group, 2, TF_LINK_PEER_READ, out, &count, &err), TF_E_INVALID);
	assert_non_null(strstr(err.text, "is for links without peer_read"));
}

static void world_outside_of_all_is_refused(void **state)
{
	struct tf_ladder ladder = builtin("switched");
	struct tf_group group = group_of(TF_OP_ALL_GATHER, TF_DTYPE_F32, 4096);
	uint32_t out[TF_LADDER_RUNGS_MAX];
	uint32_t count = 0;
	struct tf_error err = {0};

	(void)state;
	assert_int_equal(tf_ladder_legal(&ladder, &group, 9, 7, out, &count, &err), TF_E_INVALID);
	assert_non_null(strstr(err.text, "world 9 is outside its 2 to 8"));
	tf_ladder_fini(&ladder);
}

static void refuse_shape(
	struct tf_candidate candidate, uint32_t ops, const char *field, const char *why)
{
	const char *found = NULL;
	struct tf_error err = {0};

	assert_int_equal(tf_candidate_legal_shape(&candidate, ops, &found, &err), TF_E_INVALID);
	assert_string_equal(found, field);
	assert_string_equal(err.text, why);
	assert_int_equal(tf_candidate_legal_shape(&candidate, ops, NULL, NULL), TF_E_INVALID);
}

static void shapes(void **state)
{
	const struct tf_candidate good = {TF_ALGORITHM_TWO_SHOT, TF_WRITER_QUEUED, 1024, 128, 4096};
	struct tf_candidate c = good;

	(void)state;
	assert_int_equal(tf_candidate_legal_shape(&c, 1 << TF_OP_ALL_REDUCE, NULL, NULL), TF_OK);
	refuse_shape(c, 1 << TF_OP_ALL_GATHER, "algorithm", "'two_shot' does all_reduce only");
	c.threads = 33;
	refuse_shape(c, 1, "threads", "33 threads, allowed: a multiple of 32 from 32 to 1024");
	c = good;
	c.threads = 1056;
	refuse_shape(c, 1, "threads", "1056 threads, allowed: a multiple of 32 from 32 to 1024");
	c = good;
	c.ctas = 129;
	refuse_shape(c, 1, "ctas", "129 CTAs, allowed: 1 to 128");
	c.ctas = 0;
	refuse_shape(c, 1, "ctas", "0 CTAs, allowed: 1 to 128");
	c = good;
	c.chunk_bytes = 0;
	refuse_shape(c, 1, "chunk", "writer 'queued' needs a chunk");
	c.chunk_bytes = 257;
	refuse_shape(c, 1, "chunk", "257 bytes, allowed: a multiple of 16 from 256 to 16777216");
	c.writer = TF_WRITER_DIRECT;
	refuse_shape(c, 1, "chunk", "writer 'direct' does not chunk, only 'queued' does");
	c = (struct tf_candidate){TF_ALGORITHM_LIBRARY, TF_WRITER_NCCL, 0, 0, 0};
	assert_int_equal(tf_candidate_legal_shape(&c, 7, NULL, NULL), TF_OK);
	c.ctas = 1;
	refuse_shape(c, 1, "ctas", "writer 'nccl' chooses its threads and CTAs by itself");
	c = (struct tf_candidate){TF_ALGORITHM_ONE_SHOT, TF_WRITER_NCCL, 0, 0, 0};
	refuse_shape(c, 1, "algorithm", "'library' goes with writer 'nccl', and with no other");
	c = (struct tf_candidate){TF_ALGORITHM_LIBRARY, TF_WRITER_LL, 32, 1, 0};
	refuse_shape(c, 1, "algorithm", "'library' goes with writer 'nccl', and with no other");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(builtins_are_whole),
		cmocka_unit_test(unknown_builtin_lists_the_classes),
		cmocka_unit_test(every_group_has_a_rung_everywhere),
		cmocka_unit_test(switched_offers_a_bounded_choice),
		cmocka_unit_test(ladders_keep_to_their_class),
		cmocka_unit_test(unavailable_writers_are_skipped),
		cmocka_unit_test(no_rung_says_what_the_nearest_lacks),
		cmocka_unit_test(nearest_by_bytes_is_the_nearest),
		cmocka_unit_test(without_peers_only_staged_is_legal),
		cmocka_unit_test(links_without_writes_are_refused),
		cmocka_unit_test(world_outside_of_all_is_refused),
		cmocka_unit_test(shapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
