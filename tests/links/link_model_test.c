/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model on round figures, where each writer's time can be added up by hand from link_model.h;
 * and that it depends on its input alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "prepare/links/link_clock.h"
#include "prepare/links/link_model.h"

/*
 * A launch of one CTA is over after 110 ns; a flag takes 1000, a poll 50; stores run at 10, loads
 * at 5 bytes a ns; work at home costs next to nothing.
 */
#define ROUND                                                                                      \
	"topology: switched\nsummary: round figures\nport: 100GB/s\n"                                  \
	"device: {launch: 100ns, cta: 10ns, poll: 50ns, cta_write: 10GB/s, cta_local: 100000GB/s,\n"   \
	"  memory: 100000GB/s, read_in_flight: 64}\n"
#define PAIRS(ranks, more)                                                                         \
	"links:\n  - {from: " ranks ", to: " ranks ", latency: 1us, write: 10GB/s, read: 5GB/s,\n"     \
	"     peer: [read, write], through: [" more "]}\n"
static const char two[] =
	ROUND "world: 2\nresources: [{name: r, capacity: 1000GB/s}]\n" PAIRS("[0, 1]", "r");
static const char bridge[] = ROUND
	"world: 3\nresources: [{name: r, capacity: 100GB/s, collapse_at: 2, collapsed: 1GB/s}]\n" PAIRS(
		"[0, 1, 2]", "r");

static struct tf_links parse(const char *text)
{
	struct tf_links links;
	struct tf_error err = {0};

	if (tf_links_parse(text, strlen(text), "test.yaml", &links, &err) != TF_OK)
		fail_msg("%s", err.text);
	return links;
}

struct question {
	enum tf_op op;
	enum tf_algorithm algorithm;
	enum tf_writer writer;
	uint32_t ctas;
	uint64_t bytes, chunk;
};

static void ask(const struct tf_links *links, const struct question *q, const uint64_t *entry,
	uint64_t key, uint64_t *done)
{
	struct tf_link_model *model = NULL;
	struct tf_link_call call = {
		.op = q->op,
		.candidate = {.algorithm = q->algorithm,
			.writer = q->writer,
			.threads = 512,
			.ctas = q->ctas,
			.chunk_bytes = q->chunk},
		.world = links->world,
		.count = q->bytes / 4,
		.element_bytes = 4,
	};

	assert_int_equal(tf_link_model_create(links, &model, NULL), TF_OK);
	tf_link_model_run(model, &call, entry, key, done);
	tf_link_model_destroy(model);
}

static uint64_t longest(const char *text, const struct question *q)
{
	struct tf_links links = parse(text);
	uint64_t entry[TF_WORLD_MAX] = {0}, done[TF_WORLD_MAX], ns = 0;

	ask(&links, q, entry, 1, done);
	for (uint32_t r = 0; r < links.world; r++)
		ns = done[r] > ns ? done[r] : ns;
	return ns;
}

#define GATHER TF_OP_ALL_GATHER, TF_ALGORITHM_ONE_SHOT
#define TWICE  TF_OP_ALL_REDUCE, TF_ALGORITHM_TWO_SHOT

static void test_one_shot_by_hand(void **state)
{
	(void)state;
	/* begin 110, 2000 bytes in 200, flag 1000, poll 50 */
	assert_int_equal(longest(two, &(struct question){GATHER, TF_WRITER_LL, 1, 1000, 0}), 1360);
	/* half the bytes */
	assert_int_equal(
		longest(two, &(struct question){GATHER, TF_WRITER_SENTINEL, 1, 1000, 0}), 1260);
	/* 100 for the bytes, 1000 until they have arrived, 1000 for the flag */
	assert_int_equal(longest(two, &(struct question){GATHER, TF_WRITER_DIRECT, 1, 1000, 0}), 2260);
	assert_int_equal(longest(two, &(struct question){GATHER, TF_WRITER_SERIAL, 1, 1000, 0}), 2260);
	/* entry flag 1000; 500 there, 200 for the bytes, 500 back; exit flag 1000 */
	assert_int_equal(longest(two, &(struct question){GATHER, TF_WRITER_PULL, 1, 1000, 0}), 3360);
	/* to the host 100 + 1000, flag 1000, 500 there, 200, 500 back */
	assert_int_equal(longest(two, &(struct question){GATHER, TF_WRITER_STAGED, 1, 1000, 0}), 3460);
}

/* Opened at 1110; launch, bytes and landing 1200; the own part's node, the closing kernel; exit. */
static void test_copies_by_hand(void **state)
{
	(void)state;
	assert_int_equal(
		longest(two, &(struct question){GATHER, TF_WRITER_COPY_ENGINE, 1, 1000, 0}), 3560);
}

static void test_queue_by_hand(void **state)
{
	(void)state;
	/* begin 120, 50 a chunk; the second waits 1000 for the first's release; flag 2000; poll */
	assert_int_equal(
		longest(two, &(struct question){GATHER, TF_WRITER_QUEUED, 2, 1000, 500}), 3270);
	/* one chunk: as direct, with another CTA */
	assert_int_equal(
		longest(two, &(struct question){GATHER, TF_WRITER_QUEUED, 2, 1000, 4096}), 2270);
}

static void test_two_shot_by_hand(void **state)
{
	(void)state;
	/* 110; twice 1000 bytes of lines in 100, 1000, 50 */
	assert_int_equal(longest(two, &(struct question){TWICE, TF_WRITER_LL, 1, 1000, 0}), 2410);
	/* 110; twice 50 for the bytes, 2000, 50 */
	assert_int_equal(longest(two, &(struct question){TWICE, TF_WRITER_DIRECT, 1, 1000, 0}), 4310);
	/*
	 * 110, entry 1000; reads 500 + 100 + 500 = 1710 beside stores from 2110 to 2160, released
	 * at 3160; exit 1000, poll 50
	 */
	assert_int_equal(longest(two, &(struct question){TWICE, TF_WRITER_PULL, 1, 1000, 0}), 4210);
}

/* What three ranks store to three destinations collapses, all at once or in turn; loads hold. */
static void test_collapse_by_hand(void **state)
{
	(void)state;
	/* six flows of 2000 bytes by 1 byte a ns together */
	assert_int_equal(
		longest(bridge, &(struct question){GATHER, TF_WRITER_LL, 1, 1000, 0}), 110 + 12000 + 1050);
	/* three ranks store to three destinations even so: 3000 ns each time, and a release between */
	assert_int_equal(longest(bridge, &(struct question){GATHER, TF_WRITER_SERIAL, 1, 1000, 0}),
		110 + 3000 + 1000 + 3000 + 2000 + 50);
	/* loads hold: one peer after the other, 200 each */
	assert_int_equal(longest(bridge, &(struct question){GATHER, TF_WRITER_PULL, 1, 1000, 0}), 3560);
}

static void test_entry_times_count(void **state)
{
	struct tf_links links = parse(two);
	struct question q = {GATHER, TF_WRITER_LL, 1, 1000, 0};
	uint64_t entry[TF_WORLD_MAX] = {5000, 5400}, done[TF_WORLD_MAX];

	(void)state;
	ask(&links, &q, entry, 1, done);
	assert_int_equal(done[0], 5400 + 1360); /* waits for rank 1 */
	assert_int_equal(done[1], 5000 + 1360); /* rank 0's lines take longer than its own launch */
}

static void test_a_slow_rank(void **state)
{
	struct tf_links links = parse(two);
	struct question q = {GATHER, TF_WRITER_LL, 1, 1000, 0};
	uint64_t entry[TF_WORLD_MAX] = {0}, done[TF_WORLD_MAX];

	(void)state;
	links.ranks[1].slow = 3;
	ask(&links, &q, entry, 1, done);
	assert_int_equal(done[0], 330 + 600 + 1000 + 50); /* stores at a third */
	assert_int_equal(done[1], 110 + 200 + 1000 + 150);
}

static void test_empty_shards(void **state)
{
	struct question q = {TF_OP_REDUCE_SCATTER, TF_ALGORITHM_ONE_SHOT, TF_WRITER_QUEUED, 2, 4, 256};

	(void)state;
	for (int w = TF_WRITER_LL; w <= TF_WRITER_STAGED; w++) {
		q.writer = (enum tf_writer)w;
		assert_true(longest(two, &q) > 1000);
	}
}

/* Every call that a ladder can state runs to its end within the room there is. */
static void test_the_largest_calls(void **state)
{
	struct tf_links links;
	uint64_t entry[TF_WORLD_MAX] = {0}, done[TF_WORLD_MAX];

	(void)state;
	assert_int_equal(tf_links_load("host-bridge-8", &links, NULL), TF_OK);
	for (int w = TF_WRITER_LL; w <= TF_WRITER_STAGED; w++) {
		struct question q = {TWICE, (enum tf_writer)w, 128, UINT64_C(64) << 20, 65536};

		ask(&links, &q, entry, 1, done);
		for (uint32_t r = 0; r < links.world; r++)
			assert_true(done[r] > 100000);
	}
}

static void test_only_the_input_counts(void **state)
{
	struct tf_links links = parse(two), other;
	struct question q = {TWICE, TF_WRITER_QUEUED, 4, 100000, 4096};
	uint64_t entry[TF_WORLD_MAX] = {0}, later[TF_WORLD_MAX] = {7000000, 7000000};
	uint64_t a[TF_WORLD_MAX], b[TF_WORLD_MAX];

	(void)state;
	links.jitter_percent = 10;
	ask(&links, &q, entry, 1, a);
	ask(&links, &q, entry, 1, b);
	assert_memory_equal(a, b, 2 * sizeof(a[0]));
	ask(&links, &q, later, 1, b);
	assert_int_equal(b[0] - 7000000, a[0]);
	ask(&links, &q, entry, 2, b);
	assert_true(a[0] != b[0]);
	other = links;
	other.seed++;
	ask(&other, &q, entry, 1, b);
	assert_true(a[0] != b[0]);
	links.jitter_percent = 0;
	ask(&links, &q, entry, 1, b);
	assert_true(a[0] > b[0] && a[0] < b[0] * 11 / 10);
}

static void test_clocks_of_all_ranks_agree(void **state)
{
	struct tf_links links = parse(two);
	struct tf_link_clock *clocks[2] = {NULL, NULL}, *none = NULL;
	struct tf_collective_args args = {
		.count = 250, .dtype = TF_DTYPE_F32, .ctas = 1, .threads = 512};
	uint64_t arrivals[TF_WORLD_MAX] = {100, 700};
	struct tf_error err = {0};

	(void)state;
	for (uint32_t r = 0; r < 2; r++) {
		struct tf_virtual_clock *clock;

		assert_int_equal(tf_link_clock_create(&links, r, 2, &clocks[r], NULL), TF_OK);
		clock = tf_link_clock_virtual(clocks[r]);
		assert_int_equal(clock->now(clock), 0);
		clock->meet(clock, arrivals, 2);
		/* the later of both, and a flag's way from it: for all */
		assert_int_equal(clock->now(clock), 1700);
		clock->collective(clock, &args, GATHER, TF_WRITER_LL);
	}
	for (uint32_t r = 0; r < 2; r++) {
		struct tf_virtual_clock *clock = tf_link_clock_virtual(clocks[r]);

		assert_int_equal(clock->now(clock), 1700 + 1360);
	}
	for (uint32_t r = 0; r < 2; r++)
		tf_link_clock_destroy(clocks[r]);
	tf_link_clock_destroy(NULL);
	assert_int_equal(tf_link_clock_create(&links, 0, 3, &none, &err), TF_E_MISFIT);
	assert_string_equal(err.text, "rank 0 of 3: the links 'test' have 2 ranks");
	assert_null(none);
}

static void test_writers_that_are_known(void **state)
{
	(void)state;
	assert_true(tf_link_model_knows(TF_WRITER_STAGED));
	assert_false(tf_link_model_knows(TF_WRITER_NCCL));
	assert_false(tf_link_model_knows(TF_WRITER_COUNT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_shot_by_hand),
		cmocka_unit_test(test_copies_by_hand),
		cmocka_unit_test(test_queue_by_hand),
		cmocka_unit_test(test_two_shot_by_hand),
		cmocka_unit_test(test_collapse_by_hand),
		cmocka_unit_test(test_entry_times_count),
		cmocka_unit_test(test_a_slow_rank),
		cmocka_unit_test(test_empty_shards),
		cmocka_unit_test(test_the_largest_calls),
		cmocka_unit_test(test_only_the_input_counts),
		cmocka_unit_test(test_clocks_of_all_ranks_agree),
		cmocka_unit_test(test_writers_that_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
