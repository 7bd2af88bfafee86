/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proof of peer access: it passes where memory is shared, and finds every planted fault of one
 * pair and direction. Faults are planted into the copies of the device.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/deadline.h"
#include "runtime/collective/collective.h"
#include "runtime/session/peer_access.h"
#include "runtime/session/peer_proof.h"
#include "tests/link/rank_threads.h"

#define TIMEOUT_NS    (20 * TF_NS_PER_S)
#define GRANULARITY   65536
#define PATTERN_BYTES 256
#define ROW_FETCHED   3

enum plant { PLANT_NONE = 0, PLANT_DROP, PLANT_FLIP, PLANT_FAIL };

/* What goes wrong: the copy of `reader` or `writer` over one ordered pair. */
static struct {
	enum plant what;
	int reading; /* else writing */
	uint32_t writer, reader;
} planted;

struct plan {
	uint32_t world;
	int peer_access;
	struct tf_layout layout;
	uint64_t base; /* set before the first copy */
};

static struct plan plan;
static struct tf_device_ops planted_ops;

static int is_planted(const void *to, const void *from)
{
	uint64_t to_at = (uint64_t)(uintptr_t)to - plan.base, stride = plan.layout.stride_bytes;
	uint64_t from_at = (uint64_t)(uintptr_t)from - plan.base;
	uint64_t row = (to_at % stride - plan.layout.flag_off) / PATTERN_BYTES / TF_WORLD_MAX;

	return planted.what && (row == ROW_FETCHED) == planted.reading &&
		from_at / stride == planted.writer && to_at / stride == planted.reader;
}

static enum tf_status planted_copy(
	struct tf_stream *stream, void *to, const void *from, uint64_t bytes, struct tf_error *err)
{
	static uint8_t wrong[TF_WORLD_MAX][PATTERN_BYTES];

	if (!is_planted(to, from))
		return tf_host_device_ops.stream_copy(stream, to, from, bytes, err);
	if (planted.what == PLANT_DROP)
		return TF_OK;
	if (planted.what == PLANT_FAIL)
		return TF_FAIL(err, TF_E_UNAVAILABLE, "the device is gone");
	memcpy(wrong[planted.reader], from, bytes);
	wrong[planted.reader][bytes - 1] ^= 1;
	return tf_host_device_ops.stream_copy(stream, to, wrong[planted.reader], bytes, err);
}

static void make_plan(uint32_t world, int peer_access)
{
	uint64_t at;

	memset(&plan, 0, sizeof(plan));
	plan.world = world;
	plan.peer_access = peer_access;
	at = tf_align_up(tf_protocol_place(&plan.layout, world), GRANULARITY);
	plan.layout.exchange_off = at;
	plan.layout.exchange_bytes = GRANULARITY;
	plan.layout.private_off = at + GRANULARITY;
	plan.layout.segment_bytes = plan.layout.stride_bytes = at + GRANULARITY;
}

static enum tf_status prove(struct tf_link *link, struct tf_device *device,
	struct tf_rank_window *window, struct tf_error *err)
{
	int64_t deadline = tf_deadline_after(TIMEOUT_NS);

	TF_TRY(
		tf_rank_window_reserve(&planted_ops, device, link, &plan.layout, 0, deadline, window, err));
	__atomic_store_n(&plan.base, window->base, __ATOMIC_RELAXED); /* the same on all ranks */
	TF_TRY(tf_rank_window_connect(
		window, device, link, &plan.layout, plan.peer_access, deadline, err));
	return tf_peer_proof(window, device, link, &plan.layout, TIMEOUT_NS, err);
}

static enum tf_status body(void *user, struct tf_link *link, struct tf_error *err)
{
	struct tf_rank_window window = {0};
	struct tf_device *device = NULL;
	enum tf_status status = tf_host_device_ops.open(0, &device, err);

	(void)user;
	if (status == TF_OK)
		status = prove(link, device, &window, err);
	tf_rank_window_close(&window);
	tf_host_device_ops.close(device);
	return status;
}

static void run(struct tf_error *errors)
{
	planted_ops = tf_host_device_ops;
	planted_ops.stream_copy = planted_copy;
	memset(errors, 0, TF_WORLD_MAX * sizeof(errors[0]));
	run_ranks(plan.world, body, NULL, errors);
}

static void shared_memory_is_believed(void **state)
{
	struct tf_error errors[TF_WORLD_MAX];

	(void)state;
	memset(&planted, 0, sizeof(planted));
	for (uint32_t world = TF_WORLD_MIN; world <= TF_WORLD_MAX; world++) {
		for (int peer_access = 0; peer_access < 2; peer_access++) {
			make_plan(world, peer_access);
			run(errors);
			for (uint32_t r = 0; r < world; r++)
				assert_string_equal(errors[r].text, "");
		}
	}
}

static void check_refused(const char *text)
{
	struct tf_error errors[TF_WORLD_MAX];

	run(errors);
	for (uint32_t r = 0; r < plan.world; r++) {
		assert_int_equal(errors[r].status, TF_E_MISFIT);
		assert_string_equal(errors[r].text, errors[0].text);
	}
	if (!strstr(errors[0].text, text))
		fail_msg("'%s' is not in '%s'", text, errors[0].text);
	assert_non_null(strstr(errors[0].text,
		plan.peer_access ? ": peer access is not believed" : ": shared host memory is not"));
}

/* Each pair and direction on its own, with nothing and with one wrong bit. */
static void one_bad_pair_is_named(void **state)
{
	char text[96];

	(void)state;
	for (uint32_t pair = 0; pair < 9; pair++) {
		planted.writer = pair / 3;
		planted.reader = pair % 3;
		if (planted.writer == planted.reader)
			continue;
		make_plan(3, pair % 2);
		planted.reading = 1;
		planted.what = PLANT_DROP;
		snprintf(text, sizeof(text), "rank %u: rank %u reads 0x0 from rank %u, not 0x",
			planted.reader, planted.reader, planted.writer);
		check_refused(text);
		planted.what = PLANT_FLIP;
		snprintf(text, sizeof(text), "rank %u: rank %u reads 0x", planted.reader, planted.reader);
		check_refused(text);
		planted.reading = 0;
		planted.what = PLANT_DROP;
		snprintf(text, sizeof(text), "rank %u: rank %u finds 0x0 where rank %u wrote 0x",
			planted.reader, planted.reader, planted.writer);
		check_refused(text);
		planted.what = PLANT_FLIP;
		snprintf(text, sizeof(text), "where rank %u wrote 0x", planted.writer);
		check_refused(text);
	}
	memset(&planted, 0, sizeof(planted));
}

/* A device that fails is no disbelief. */
static void a_failing_device_keeps_its_reason(void **state)
{
	struct tf_error errors[TF_WORLD_MAX];

	(void)state;
	make_plan(2, 1);
	planted.what = PLANT_FAIL;
	planted.writer = 0;
	planted.reader = 1;
	run(errors);
	for (uint32_t r = 0; r < 2; r++) {
		assert_int_equal(errors[r].status, TF_E_UNAVAILABLE);
		assert_string_equal(errors[r].text, "rank 0: the device is gone");
	}
	memset(&planted, 0, sizeof(planted));
}

static void layouts_without_room_are_refused(void **state)
{
	struct tf_error errors[TF_WORLD_MAX], err = {0};
	uint64_t shared = 77;

	(void)state;
	make_plan(2, 1);
	plan.layout.flag_bytes = 4096;
	run(errors);
	assert_int_equal(errors[1].status, TF_E_INVALID);
	assert_non_null(strstr(errors[1].text, "flag_bytes is 4096, not 8192 or more"));
	make_plan(2, 0);
	assert_int_equal(tf_peer_access_shared_bytes(&plan.layout, GRANULARITY, &shared, &err), TF_OK);
	assert_int_equal(shared, plan.layout.exchange_off);
	assert_int_equal(
		tf_peer_access_shared_bytes(&plan.layout, UINT64_C(1) << 40, &shared, &err), TF_E_INVALID);
	plan.layout.startup_bytes = 1;
	plan.layout.startup_off = plan.layout.exchange_off;
	run(errors);
	assert_int_equal(errors[0].status, TF_E_INVALID);
	assert_non_null(strstr(errors[0].text, "startup must lie before exchange_off"));
}

/* A program for ranks without peer access may not name what is a peer's own. */
static void peers_own_memory_is_refused(void **state)
{
	struct tf_launch_word word = {.kind = TF_WORD_ADDRESS, .peer = 1, .segment_off = 4096};
	struct tf_launch launch = {.words_count = 1};
	struct tf_node node = {.kind = TF_NODE_COPY, .from_off = 65536, .bytes = 1};
	struct tf_graph graph = {.nodes = &node, .node_count = 1};
	struct tf_program program = {.layout = {.exchange_off = 65536},
		.launches = &launch,
		.launch_count = 1,
		.launch_words = &word,
		.launch_word_count = 1,
		.graphs = &graph,
		.graph_count = 1};
	struct tf_error err = {0};

	(void)state;
	assert_int_equal(tf_peer_access_check(&program, &err), TF_OK);
	word.segment_off = 65536;
	assert_int_equal(tf_peer_access_check(&program, &err), TF_E_INVALID);
	assert_non_null(strstr(err.text, "launch 0 names what is a peer's own"));
	word.peer = 0;
	assert_int_equal(tf_peer_access_check(&program, &err), TF_OK);
	node.from_peer = 1;
	assert_int_equal(tf_peer_access_check(&program, &err), TF_E_INVALID);
	node.from_off = 0;
	node.to_peer = 2;
	assert_int_equal(tf_peer_access_check(&program, &err), TF_OK);
	node.to_off = 65536;
	assert_int_equal(tf_peer_access_check(&program, &err), TF_E_INVALID);
	assert_non_null(strstr(err.text, "graph 0: node 0 names"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shared_memory_is_believed),
		cmocka_unit_test(one_bad_pair_is_named),
		cmocka_unit_test(a_failing_device_keeps_its_reason),
		cmocka_unit_test(layouts_without_room_are_refused),
		cmocka_unit_test(peers_own_memory_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
