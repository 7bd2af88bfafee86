/* SPDX-License-Identifier: Apache-2.0 */
/* Links files: what the built-in ones offer, and the exact message of every kind of bad one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "ladders/ladder.h"
#include "prepare/links/links.h"

#define TOP "topology: switched\nsummary: for tests\nworld: 2\nport: 56GB/s\n"
#define DEVICE                                                                                     \
	"device: {launch: 546ns, cta: 2ns, poll: 500ns, cta_write: 20GB/s, cta_local: 40GB/s,\n"       \
	"  memory: 1500GB/s, read_in_flight: 64}\n"
#define LINK(from, to, more)                                                                       \
	"  - {from: " from ", to: " to ", latency: 1.07us, write: 37GB/s, read: 2.7GB/s, " more "}\n"
#define PEER "peer: [read, write]"
#define GOOD "links:\n" LINK("[0, 1]", "[0, 1]", PEER)

struct bad {
	const char *text, *message;
};

static enum tf_status parse(const char *text, struct tf_links *out, struct tf_error *err)
{
	return tf_links_parse(text, strlen(text), "dir/x.yaml", out, err);
}

static void test_builtins(void **state)
{
	static const struct {
		const char *name, *topology;
		uint32_t world, capabilities;
	} wanted[] = {{"nvlink-8", "switched", 8, 7}, {"pcie-switch-4", "switched", 4, 7},
		{"host-bridge-4", "host-bridge", 4, 7}, {"host-bridge-8", "host-bridge", 8, 7},
		{"no-peer-4", "host-bridge", 4, 0}, {"ring-3", "ring", 3, TF_LINK_PEER_WRITE},
		{"fabric-4", "fabric", 4, TF_LINK_PEER_WRITE}};
	struct tf_links links;
	struct tf_error err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (tf_links_load(wanted[i].name, &links, &err) != TF_OK)
			fail_msg("%s", err.text);
		assert_string_equal(links.name, wanted[i].name);
		assert_string_equal(links.topology, wanted[i].topology);
		assert_int_equal(links.world, wanted[i].world);
		assert_int_equal(tf_links_capabilities(&links, links.world), wanted[i].capabilities);
	}
	assert_int_equal(tf_links_load("nvlink", &links, &err), TF_E_NOT_FOUND);
	assert_non_null(strstr(err.text, "nvlink-8, pcie-switch-4"));
	assert_int_equal(tf_links_load("./absent.yaml", &links, &err), TF_E_NOT_FOUND);
}

static void test_figures(void **state)
{
	struct tf_links links;
	struct tf_error err = {0};

	(void)state;
	if (parse(TOP "root_complex: [3, 4]\njitter: {seed: 9, percent: 5}\n" DEVICE
				  "resources: [{name: up, capacity: 37GB/s, collapse_at: 2, collapsed: 2.7GB/s}]\n"
				  "links:\n" LINK("[0]", "[1]", PEER ", through: [up]") LINK("[1]", "[0]",
					  "peer: [none]") "ranks: [{rank: 1, slow_percent: 250, jitter_percent: 40}]\n",
			&links, &err) != TF_OK)
		fail_msg("%s", err.text);
	assert_string_equal(links.name, "x");
	assert_true(links.port_gbps == 56);
	assert_true(links.pairs[0][1].latency_ns == 1070);
	assert_true(links.pairs[0][1].read_gbps == 2.7);
	assert_int_equal(links.pairs[0][1].peer, TF_LINK_PEER_READ | TF_LINK_PEER_WRITE);
	assert_int_equal(links.pairs[0][1].through_count, 1);
	assert_int_equal(links.pairs[1][0].peer, 0);
	assert_int_equal(links.root_complex[1], 4);
	assert_int_equal(links.seed, 9);
	assert_true(links.ranks[1].slow == 2.5);
	assert_true(links.ranks[0].slow == 1);
	assert_true(links.ranks[1].jitter_percent == 40);
	assert_true(links.resources[0].collapsed_gbps == 2.7);
	assert_true(links.device.launch_ns == 546);
}

#define RATE "0.001GB/s to 100000GB/s, at most three decimals ('2.7GB/s')"
#define TIME "0ns to 1000000000ns, or us, at most three decimals ('730ns', '1.30us')"

static void test_refusals(void **state)
{
	static const struct bad cases[] = {
		{"topology: x\n",
			"dir/x.yaml:1: topology: found 'x', allowed: switched, host-bridge, ring, "
			"fabric, local"},
		{TOP DEVICE "links:\n" LINK("[0]", "[1]", PEER),
			"dir/x.yaml:7: links: no entry has the pair from 1 to 0"},
		{TOP DEVICE "links:\n" LINK("[0, 1]", "[0, 1]", PEER) LINK("[1]", "[0]", PEER),
			"dir/x.yaml:9: links[1]: the pair from 1 to 0 was given before"},
		{TOP DEVICE "links:\n" LINK("[0, 2]", "[0, 1]", PEER),
			"dir/x.yaml:8: links[0].from[1]: found '2', allowed: a rank below world"},
		{TOP DEVICE "links:\n" LINK("[0, 1]", "[0, 1]", "peer: [none, read]"),
			"dir/x.yaml:8: links[0].peer: 'none' stands alone"},
		{TOP DEVICE "links:\n" LINK("[0, 1]", "[0, 1]", PEER ", through: [up]"),
			"dir/x.yaml:8: links[0].through[0]: found 'up', allowed: the name of one of resources"},
		{TOP DEVICE "resources: [{name: up, capacity: 37GB/s, collapse_at: 2}]\n" GOOD,
			"dir/x.yaml:7: resources[0]: 'collapse_at' and 'collapsed' go together"},
		{TOP DEVICE
			"resources: [{name: up, capacity: 3GB/s, collapse_at: 2, collapsed: 4GB/s}]\n" GOOD,
			"dir/x.yaml:7: resources[0].collapsed: a collapse to more than 'capacity'"},
		{TOP DEVICE "resources: [{name: up, capacity: 3GB/s}, {name: up, capacity: 3GB/s}]\n" GOOD,
			"dir/x.yaml:7: resources[1].name: 'up' is also the name of resources[0]"},
		{TOP "root_complex: [0]\n" DEVICE GOOD,
			"dir/x.yaml:5: root_complex: found 1 entries, allowed: 2, one a rank"},
		{TOP DEVICE GOOD "ranks: [{rank: 2}]\n",
			"dir/x.yaml:9: ranks[0].rank: found '2', allowed: a rank below world"},
		{TOP DEVICE GOOD "ranks: [{rank: 1, slow_percent: 250}, {rank: 1, jitter_percent: 9}]\n",
			"dir/x.yaml:9: ranks[1].rank: rank 1 was given before"},
		{"topology: switched\nsummary: s\nworld: 9\nport: 56GB/s\n" DEVICE GOOD,
			"dir/x.yaml:3: world: found '9', allowed: a number from 2 to 8"},
		{"topology: switched\nsummary: s\nworld: 2\nport: 56\n" DEVICE GOOD,
			"dir/x.yaml:4: port: found '56', allowed: " RATE},
		{"topology: switched\nsummary: s\nworld: 2\nport: 0GB/s\n" DEVICE GOOD,
			"dir/x.yaml:4: port: found '0GB/s', allowed: " RATE},
		{"topology: switched\nsummary: s\nworld: 2\nport: 1.0001GB/s\n" DEVICE GOOD,
			"dir/x.yaml:4: port: found '1.0001GB/s', allowed: " RATE},
		{"topology: switched\nsummary: s\nworld: 2\nport: 99999999999GB/s\n" DEVICE GOOD,
			"dir/x.yaml:4: port: found '99999999999GB/s', allowed: " RATE},
		{TOP "device: {launch: 5, cta: 2ns, poll: 500ns, cta_write: 20GB/s, cta_local: 40GB/s,\n"
			 "  memory: 1500GB/s, read_in_flight: 64}\n" GOOD,
			"dir/x.yaml:5: device.launch: found '5', allowed: " TIME},
		{TOP "device: {launch: 2000000000ns, cta: 2ns, poll: 500ns, cta_write: 20GB/s,\n"
			 "  cta_local: 40GB/s, memory: 1500GB/s, read_in_flight: 64}\n" GOOD,
			"dir/x.yaml:5: device.launch: found '2000000000ns', allowed: " TIME},
	};
	struct tf_links links, untouched;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tf_error err = {0};

		memset(&links, 0x5a, sizeof(links));
		untouched = links;
		assert_int_equal(parse(cases[i].text, &links, &err), TF_E_INVALID);
		assert_string_equal(err.text, cases[i].message);
		assert_memory_equal(&links, &untouched, sizeof(links));
		assert_int_equal(parse(cases[i].text, &links, NULL), TF_E_INVALID);
	}
}

static void test_keys_are_strict(void **state)
{
	struct tf_links links;
	struct tf_error err = {0};

	(void)state;
	assert_int_equal(
		parse(TOP DEVICE "links:\n" LINK("[0, 1]", "[0, 1]", PEER ", trough: [x]"), &links, &err),
		TF_E_INVALID);
	assert_non_null(strstr(err.text, "links[0].trough: unknown key, did you mean 'through'"));
	assert_int_equal(parse(TOP GOOD, &links, &err), TF_E_INVALID);
	assert_non_null(strstr(err.text, "device"));
}

static void test_another_seed(void **state)
{
	struct tf_links links;
	struct tf_error err = {0};

	(void)state;
	assert_int_equal(parse(TOP DEVICE GOOD, &links, &err), TF_OK);
	assert_int_equal(tf_links_reseed(&links, "4294967295", &err), TF_OK);
	assert_int_equal(links.seed, 4294967295);
	assert_int_equal(tf_links_reseed(&links, "4294967296", &err), TF_E_USAGE);
	assert_int_equal(tf_links_reseed(&links, "-1", &err), TF_E_USAGE);
	assert_int_equal(tf_links_reseed(&links, "", &err), TF_E_USAGE);
	assert_string_equal(err.text, "found '' for the seed of links, allowed: 0 to 4294967295");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_builtins),
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_keys_are_strict),
		cmocka_unit_test(test_another_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
