/* SPDX-License-Identifier: Apache-2.0 */
/* Shared resources, collapse, and waiting for each other: cases whose end one can work out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "prepare/links/link_sim.h"

#define NEAR 1e-6

static struct tf_sim *sim;

static int setup(void **state)
{
	(void)state;
	return tf_sim_create(64, 64, 8, &sim, NULL) != TF_OK;
}

static int teardown(void **state)
{
	(void)state;
	tf_sim_destroy(sim);
	tf_sim_destroy(NULL);
	return 0;
}

static uint32_t flow(uint16_t resource, double from_ns, double bytes, int write, uint8_t to)
{
	return tf_sim_task(sim,
		&(struct tf_sim_task){.from_ns = from_ns,
			.bytes = bytes,
			.cap_gbps = 100,
			.path = {resource},
			.path_count = 1,
			.write = write,
			.destination = to});
}

static void ends(uint32_t task, double ns)
{
	double off = tf_sim_end_ns(sim, task) - ns;

	if (off > NEAR || off < -NEAR)
		fail_msg("ends at %f, not %f", off + ns, ns);
}

static void test_two_share_one_resource(void **state)
{
	uint16_t ten = tf_sim_resource(sim, &(struct tf_sim_resource){.gbps = 10});
	uint32_t a = flow(ten, 0, 100, 1, 0), b = flow(ten, 0, 50, 1, 1);

	(void)state;
	tf_sim_run(sim);
	ends(b, 10); /* at 5 each */
	ends(a, 15); /* the last 50 alone at 10 */
}

static void test_who_comes_later_shares_from_then_on(void **state)
{
	uint16_t ten;
	uint32_t a, b;

	(void)state;
	tf_sim_clear(sim);
	ten = tf_sim_resource(sim, &(struct tf_sim_resource){.gbps = 10});
	a = flow(ten, 0, 100, 1, 0);
	b = flow(ten, 5, 50, 0, 0);
	tf_sim_run(sim);
	ends(a, 15);
	ends(b, 15);
}

static void test_a_flow_is_not_faster_than_its_cap(void **state)
{
	uint16_t much;
	uint32_t a;

	(void)state;
	tf_sim_clear(sim);
	much = tf_sim_resource(sim, &(struct tf_sim_resource){.gbps = 1000});
	a = flow(much, 7, 100, 1, 0);
	tf_sim_run(sim);
	ends(a, 8);
}

static uint16_t bridge(void)
{
	tf_sim_clear(sim);
	return tf_sim_resource(sim,
		&(struct tf_sim_resource){.gbps = 10, .collapse_destinations = 2, .collapsed_gbps = 1});
}

static void test_writes_to_two_destinations_collapse(void **state)
{
	uint16_t up = bridge();
	uint32_t a = flow(up, 0, 100, 1, 0), b = flow(up, 0, 100, 1, 3);

	(void)state;
	tf_sim_run(sim);
	ends(a, 200);
	ends(b, 200);
}

static void test_writes_to_one_destination_do_not(void **state)
{
	uint16_t up = bridge();
	uint32_t a = flow(up, 0, 100, 1, 3), b = flow(up, 0, 100, 1, 3);

	(void)state;
	tf_sim_run(sim);
	ends(a, 20);
	ends(b, 20);
}

static void test_reads_hold_beside_collapsed_writes(void **state)
{
	uint16_t up = bridge();
	uint32_t a = flow(up, 0, 10, 1, 0), b = flow(up, 0, 10, 1, 1), c = flow(up, 0, 100, 0, 2);

	(void)state;
	tf_sim_run(sim);
	ends(a, 20); /* 0.5 each */
	ends(b, 20);
	ends(c, 20 + (100 - 20 * 10.0 / 3) / 10); /* a third of 10, then all of it */
}

static void test_reads_alone_never_collapse(void **state)
{
	uint16_t up = bridge();
	uint32_t a = flow(up, 0, 100, 0, 0), b = flow(up, 0, 100, 0, 1);

	(void)state;
	tf_sim_run(sim);
	ends(a, 20);
	ends(b, 20);
}

static void test_one_after_the_other(void **state)
{
	uint16_t up = bridge();
	uint32_t a = flow(up, 0, 100, 1, 0), b = flow(up, 0, 100, 1, 1), join;

	(void)state;
	tf_sim_after(sim, b, a, 3);
	join = tf_sim_task(sim, &(struct tf_sim_task){.work_ns = 4});
	tf_sim_after(sim, join, TF_SIM_NONE, 1000);
	tf_sim_after(sim, join, a, 1000);
	tf_sim_after(sim, join, b, 5);
	tf_sim_run(sim);
	ends(a, 10);
	ends(b, 23);
	ends(join, 1014); /* the later of 1010 and 28, and its own work */
}

static void test_a_task_waits_for_its_time_and_for_others(void **state)
{
	uint32_t a, b;

	(void)state;
	tf_sim_clear(sim);
	a = tf_sim_task(sim, &(struct tf_sim_task){.work_ns = 2});
	b = tf_sim_task(sim, &(struct tf_sim_task){.from_ns = 50});
	tf_sim_after(sim, b, a, 1);
	tf_sim_run(sim);
	ends(a, 2);
	ends(b, 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_share_one_resource),
		cmocka_unit_test(test_who_comes_later_shares_from_then_on),
		cmocka_unit_test(test_a_flow_is_not_faster_than_its_cap),
		cmocka_unit_test(test_writes_to_two_destinations_collapse),
		cmocka_unit_test(test_writes_to_one_destination_do_not),
		cmocka_unit_test(test_reads_hold_beside_collapsed_writes),
		cmocka_unit_test(test_reads_alone_never_collapse),
		cmocka_unit_test(test_one_after_the_other),
		cmocka_unit_test(test_a_task_waits_for_its_time_and_for_others),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
