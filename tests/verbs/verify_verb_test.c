/* SPDX-License-Identifier: Apache-2.0 */
/* `tfprep verify`: a good package, every kind of damage, contents that contradict each other. */
#include "tests/verbs/verb_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#define STEPS 48 /* places over the file where a bit is turned, or the file is cut */

static void test_good(void **state)
{
	(void)state;
	assert_int_equal(tf_verb_run("verify", TF_SMALL, NULL), 0);
	tf_verb_assert_golden("verify.txt");
	assert_int_equal(tf_verb_run("verify", "--run", TF_SMALL, NULL), 0);
	tf_verb_assert_golden("verify_run.txt");
}

/* What is wrong is told in one line; lines of what still held may stand on stdout. */
static void assert_fails(const char *path, const char *text)
{
	int code = tf_verb_run("verify", path, NULL);

	if (code != 3 || !strstr(tf_verb_err, text))
		fail_msg("code %d, no '%s' in '%s'", code, text, tf_verb_err);
	assert_ptr_equal(strchr(tf_verb_err, '\n'), tf_verb_err + strlen(tf_verb_err) - 1);
	assert_null(strstr(tf_verb_out, "sha256"));
}

static void test_damage(void **state)
{
	const char *path;
	size_t size;
	char *data = tf_verb_load(TF_SMALL, &size);

	(void)state;
	for (size_t i = 0; i < STEPS; i++) {
		size_t at = i * (size - 1) / (STEPS - 1);

		path = tf_verb_path("damaged.tfp");
		data[at] ^= 0x10;
		tf_verb_store(path, data, size);
		data[at] ^= 0x10;
		assert_fails(path, "tfprep verify: ");
		path = tf_verb_path("cut.tfp");
		tf_verb_store(path, data, at);
		assert_fails(path, "tfprep verify: ");
	}
	data = realloc(data, size + 1);
	assert_non_null(data);
	data[size] = 0;
	path = tf_verb_path("longer.tfp");
	tf_verb_store(path, data, size + 1);
	assert_fails(path, "longer.tfp");
	free(data);
}

/* The program of the package with one member more. */
static struct tf_member *give_member(
	struct tf_program *program, const char *name, const void *data, size_t bytes)
{
	struct tf_member *member = calloc(1, sizeof(*member));

	assert_non_null(member);
	snprintf(member->name, sizeof(member->name), "%s", name);
	member->bytes = bytes;
	crypto_hash_sha256(member->digest, data, bytes);
	assert_int_equal(program->member_count, 0);
	program->members = member;
	program->member_count = 1;
	return member;
}

static void drop_member(struct tf_program *program, struct tf_member *member)
{
	program->members = NULL;
	program->member_count = 0;
	free(member);
}

static void test_members(void **state)
{
	static const char data[] = "sixteen bytes...";
	struct tf_program program = {0};
	struct tf_member *member;
	const char *path = tf_verb_path("members.tfp");

	(void)state;
	tf_verb_read_program(TF_SMALL, &program);
	tf_verb_pack(path, &program, "weights/a.bin", data, 16);
	assert_fails(path, "member 'weights/a.bin' of ");
	assert_non_null(strstr(tf_verb_err, "is not in the catalog"));
	member = give_member(&program, "weights/a.bin", data, 16);
	tf_verb_pack(path, &program, "weights/a.bin", data, 16);
	assert_int_equal(tf_verb_run("verify", path, NULL), 0);
	assert_non_null(strstr(tf_verb_out, "members   1 named by the catalog"));
	tf_verb_pack(path, &program, NULL, NULL, 0);
	assert_fails(path, "weights/a.bin");
	tf_verb_pack(path, &program, "weights/a.bin", data, 15);
	assert_fails(path, "has 15 bytes, the catalog says 16");
	tf_verb_pack(path, &program, "weights/a.bin", "sixteen bytes??.", 16);
	assert_fails(path, "weights/a.bin");
	drop_member(&program, member);
	tf_program_fini(&program);
}

/* Gives the pick of group 0 to another candidate; the samples stay. */
static void move_pick(struct tf_program *program)
{
	uint32_t old = program->selectors[0];

	for (uint32_t i = 0; program->candidates[i].group == 0; i++) {
		if (i == old)
			continue;
		program->candidates[old].state = TF_CANDIDATE_SURVIVED;
		program->candidates[i].state = TF_CANDIDATE_PICKED;
		program->selectors[0] = i;
		return;
	}
	fail_msg("group 0 has one candidate");
}

static void test_selection(void **state)
{
	struct tf_program program = {0};
	const char *path = tf_verb_path("picks.tfp");
	uint32_t pick;

	(void)state;
	tf_verb_read_program(TF_SMALL, &program);
	pick = program.selectors[0];
	program.candidates[pick].stage_high_ns[1] += 1;
	tf_verb_pack(path, &program, NULL, NULL, 0);
	assert_fails(path, "has a median or an interval that its samples do not give");
	program.candidates[pick].stage_high_ns[1] -= 1;
	program.sample_count--;
	tf_verb_pack(path, &program, NULL, NULL, 0);
	assert_fails(path, "has a median and lacks samples");
	program.sample_count++;
	move_pick(&program);
	tf_verb_pack(path, &program, NULL, NULL, 0);
	assert_fails(path, "is picked, but the samples and the rule of selection give another");
	tf_program_fini(&program);
}

static void test_misfit(void **state)
{
	struct tf_program program = {0};
	const char *path = tf_verb_path("misfit.tfp");

	(void)state;
	tf_verb_read_program(TF_SMALL, &program);
	assert_int_equal(
		tf_program_set_identity(&program, "topology.signature", "host:other", NULL), TF_OK);
	tf_verb_pack(path, &program, NULL, NULL, 0);
	assert_int_equal(tf_verb_run("verify", path, NULL), 0);
	assert_int_equal(tf_verb_run("verify", "--run", path, NULL), 3);
	assert_non_null(strstr(tf_verb_err, "topology.signature"));
	assert_non_null(strstr(tf_verb_err, "host:other"));
	tf_program_fini(&program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_selection),
		cmocka_unit_test(test_misfit),
	};

	return cmocka_run_group_tests(tests, tf_verb_set_up, tf_verb_tear_down);
}
