/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures taken apart, and held against each other: made up, and of whole machines. */
#include "tests/topology/topology_fixture.h"

#include <stdio.h>
#include <string.h>

#include "runtime/topology/signature_parse.h"

static void test_links(void **state)
{
	struct tf_signature got;

	(void)state;
	tf_signature_parse("gpu;class=switched;world=2;models=10de:2335,10de:2335;"
					   "links=self nvlink@478/nvlink@477 self",
		2, &got);
	assert_int_equal(got.ranks, 2);
	assert_false(got.damaged);
	assert_string_equal(got.links[0][0].name, "self");
	assert_string_equal(got.links[0][1].name, "nvlink");
	assert_int_equal(got.links[0][1].bandwidth_gbps, 478);
	assert_int_equal(got.links[1][0].bandwidth_gbps, 477);
	assert_string_equal(got.models[1], "10de:2335");
	tf_signature_parse("gpu;links=self phb/phb self", 4, &got);
	assert_int_equal(got.ranks, 2); /* one host of several */
	assert_int_equal(got.links[0][1].bandwidth_gbps, 0);
	assert_string_equal(got.models[0], "");
	tf_signature_parse("gpu;class=switched;world=2;models=10de:2335,10de:2336", 2, &got);
	assert_int_equal(got.ranks, 0);
	assert_string_equal(got.models[1], "10de:2336");
}

static void test_no_links(void **state)
{
	static const char *const signatures[] = {NULL, "", "host:x86_64", "cuda:x86_64",
		"host;class=switched;world=4;arch=x86_64;page=4096", "gpu;link=self;llinks=self"};
	static const char *const broken[] = {"gpu;links=", "gpu;links=self nvlink", "links=self/",
		"links=self a/b", "links=self a b/a self b", "links=a a a/a a a/a a a/a a a",
		"links=self x@1x/x self", "links=self x@99999999999999999999/x self",
		"links=self <b>/x self", "links=self averyverylongnameoflink/x self",
		"links=self  x/x self", "links=a a a a a a a a a/a", "links=a/a/a/a/a/a/a/a/a/a/a"};
	struct tf_signature got;
	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof(signatures) / sizeof(signatures[0]); i++) {
		tf_signature_parse(signatures[i], 3, &got);
		assert_int_equal(got.ranks, 0);
		assert_false(got.damaged);
	}
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		tf_signature_parse(broken[i], 3, &got);
		if (got.ranks || !got.damaged)
			fail_msg("'%s' was taken", broken[i]);
		assert_string_equal(got.links[0][0].name, "");
		assert_true(tf_signature_differs(
			broken[i], "gpu;links=self a a/a self a/a a self", 3, text, sizeof(text)));
		assert_string_equal(text, "the package's links are no square matrix of at most 3 ranks");
	}
}

static void expect(const char *package, const char *machine, const char *words)
{
	char text[512] = "x";

	assert_int_equal(
		tf_signature_differs(package, machine, TF_WORLD_MAX, text, sizeof(text)), words[0] != 0);
	assert_string_equal(text, words);
}

#define PAIR "gpu;class=switched;world=2;models=10de:2335,10de:2335;links="

static void test_compare(void **state)
{
	char little[8] = "";

	(void)state;
	expect(PAIR "self nvlink@478/nvlink@478 self", PAIR "self nvlink@478/nvlink@478 self", "");
	expect(PAIR "self nvlink@478/nvlink@478 self", PAIR "self sys/sys self",
		"rank 0 to rank 1: package 'nvlink@478', machine 'sys', and 1 other pair");
	expect(PAIR "self pix/nvlink@478 self", PAIR "self pix/nvlink@451 self",
		"rank 1 to rank 0: package 'nvlink@478', machine 'nvlink@451'");
	expect(PAIR "self pix/pix self",
		"gpu;class=switched;world=2;models=10de:2335,10de:2330;links=self pix/pix self",
		"rank 1's GPU: package '10de:2335', machine '10de:2330'");
	expect("gpu;models=a,a,a;links=self x/x self", "gpu;models=b,b,b;links=self x/y self",
		"rank 0's GPU: package 'a', machine 'b', and 1 other rank; "
		"rank 1 to rank 0: package 'x', machine 'y'");
	expect("gpu;links=self x/x self", "gpu;links=self x x/x self x/x x self",
		"links of 2 ranks in the package, of 3 on the machine");
	/* what one of them does not tell is no difference; nor is the class that was selected */
	expect("gpu;class=switched;models=a,a", PAIR "self pix/pix self",
		"rank 0's GPU: package 'a', machine '10de:2335', and 1 other rank");
	expect(PAIR "self pix/pix self", "gpu;class=switched;world=2;models=10de:2335,10de:2335", "");
	expect("gpu;class=ring;links=self x/x self", "gpu;class=switched;links=self x/x self", "");
	expect("host:x86_64", "", "");
	assert_true(tf_signature_differs(
		PAIR "self pix/pix self", PAIR "self sys/sys self", 2, little, sizeof(little)));
	assert_string_equal(little, "rank 0 ");
}

static void sign(const char *path, uint32_t world, char *out)
{
	struct tf_topology *t = tf_fixture_read(path);
	enum tf_topology_class found;

	assert_int_equal(tf_topology_classify(t, world, &found, NULL), TF_OK);
	assert_int_equal(
		tf_topology_signature(t, world, found, out, TF_TOPOLOGY_SIGNATURE_BYTES, NULL), TF_OK);
	tf_topology_destroy(t);
}

/* What tf_topology_signature writes is understood, and machines are told apart by it. */
static void test_machines(void **state)
{
	char dgx2[TF_TOPOLOGY_SIGNATURE_BYTES], power8[TF_TOPOLOGY_SIGNATURE_BYTES];
	struct tf_signature got;

	(void)state;
	sign(tf_fixture_data(DGX2), 8, dgx2);
	tf_signature_parse(dgx2, 8, &got);
	assert_int_equal(got.ranks, 8);
	for (uint32_t i = 0; i < 8; i++)
		assert_string_equal(got.links[i][(i + 1) % 8].name, "nvlink");
	assert_string_equal(got.models[7], "10de:1db8");
	assert_true(tf_signature_is_of_gpus(dgx2));
	assert_false(tf_signature_is_of_gpus("host:x86_64"));
	assert_false(tf_signature_is_of_gpus(NULL));
	expect(dgx2, dgx2, "");
	sign(tf_fixture_data(DGX2), 4, dgx2);
	sign(tf_fixture_data(POWER8), 4, power8);
	expect(dgx2, power8,
		"rank 0's GPU: package '10de:1db8', machine '10de:15f9', and 3 other ranks; "
		"rank 0 to rank 1: package 'nvlink@150', machine 'nvlink@40', and 11 other pairs");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_no_links),
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
