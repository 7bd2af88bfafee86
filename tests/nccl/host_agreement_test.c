/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one-host agreement: ranks as threads, and one rank played by hand that answers otherwise.
 * Each test names the mistake of the code that it would show.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/comm/nccl/host_agreement.h"
#include "tests/link/meeting.h"
#include "tests/link/rank_threads.h"

#define WAIT_NS (5 * TF_NS_PER_S)

/* What each rank is told to do, and what it found. */
struct plan {
	int says_apart[TF_WORLD_MAX];
	int played; /* this rank speaks by hand, -1: none */
	struct tf_host_record record;
	int is_true_record, passes_wrong_word, sent_byte, answer_byte;
	int found[TF_WORLD_MAX];
	char why[TF_WORLD_MAX][128];
};

/* What a rank of this host says about itself. */
static void describe(struct tf_host_record *out)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
	struct stat info;

	if (!file || fread(out->boot_id, 1, 36, file) != 36 || stat("/proc/self/ns/net", &info) != 0)
		abort();
	fclose(file);
	out->network_device = info.st_dev;
	out->network_inode += info.st_ino; /* a test may have put a difference there */
}

/* A descriptor to rank 0's socket, of memory with another word than the record's. */
static int pass_wrong_word(const struct tf_host_record *listener, uint32_t rank)
{
	static const char prefix[] = "tf-one-host-";
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0), memory = memfd_create("wrong", 0);
	uint8_t byte = (uint8_t)rank, word[TF_HOST_WORD_BYTES] = {1};

	memcpy(name.sun_path + 1, prefix, sizeof(prefix) - 1);
	tf_hex(listener->word, sizeof(listener->word), name.sun_path + sizeof(prefix));
	if (write(memory, word, sizeof(word)) != (ssize_t)sizeof(word) ||
		connect(fd, (struct sockaddr *)&name,
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof(prefix) +
				2 * sizeof(listener->word))) != 0)
		abort();
	send_raw(fd, &byte, 1, &memory, 1);
	close(memory);
	return fd;
}

/* A rank that says the bytes it is told, and passes no descriptor, or a wrong one. */
static enum tf_status play(struct plan *plan, struct tf_link *link, struct tf_error *err)
{
	struct tf_host_record all[TF_WORLD_MAX];
	uint8_t bytes[TF_WORLD_MAX], sent = (uint8_t)plan->sent_byte,
								 answer = (uint8_t)plan->answer_byte;
	int64_t deadline = tf_deadline_after(WAIT_NS);
	enum tf_status status;
	int fd = -1;

	if (plan->is_true_record)
		describe(&plan->record);
	TF_TRY(tf_link_exchange_fixed(link, &plan->record, sizeof(plan->record), all, deadline, err));
	if (plan->passes_wrong_word)
		fd = pass_wrong_word(&all[0], tf_link_rank(link));
	status = tf_link_exchange_fixed(link, &sent, 1, bytes, deadline, err);
	if (status == TF_OK)
		status = tf_link_exchange_fixed(link, &answer, 1, bytes, deadline, err);
	if (fd >= 0)
		close(fd);
	return status;
}

static enum tf_status agree(void *user, struct tf_link *link, struct tf_error *err)
{
	struct plan *plan = user;
	uint32_t rank = tf_link_rank(link);

	plan->found[rank] = -1;
	if ((int)rank == plan->played)
		return play(plan, link, err);
	return tf_host_agreement(link, plan->says_apart[rank], tf_deadline_after(WAIT_NS),
		&plan->found[rank], plan->why[rank], sizeof(plan->why[rank]), err);
}

static void run_plan(uint32_t world, struct plan *plan, struct tf_error *errs)
{
	unsigned before = count_fds();

	run_ranks(world, agree, plan, errs);
	assert_int_equal(count_fds(), before);
}

static void assert_found(uint32_t world, const struct plan *plan, const struct tf_error *errs,
	int one_host, const char *why)
{
	for (uint32_t r = 0; r < world; r++) {
		if (errs[r].status != TF_OK)
			fail_msg("rank %u: %s", r, errs[r].text);
		if ((int)r == plan->played)
			continue;
		assert_int_equal(plan->found[r], one_host);
		if (!strstr(plan->why[r], why))
			fail_msg("rank %u: '%s' is not in '%s'", r, why, plan->why[r]);
	}
}

static void test_one_host(void **state)
{
	(void)state;
	for (uint32_t world = TF_WORLD_MIN; world <= TF_WORLD_MAX; world++) {
		struct plan plan = {.played = -1};
		struct tf_error errs[TF_WORLD_MAX] = {0};

		run_plan(world, &plan, errs);
		assert_found(world, &plan, errs, 1, "");
		for (uint32_t r = 0; r < world; r++)
			assert_string_equal(plan.why[r], "");
	}
}

/* Over TCP no link passes descriptors; the agreement's own socket does. */
static void test_one_host_over_tcp(void **state)
{
	struct tf_link_options options[2];
	struct plan plan = {.played = -1};
	struct tf_error errs[TF_WORLD_MAX] = {0};

	(void)state;
	fresh_tcp_address("127.0.0.1");
	for (uint32_t r = 0; r < 2; r++)
		options[r] = options_of(r, 2, SECRET);
	run_connected(2, options, agree, &plan, errs);
	assert_found(2, &plan, errs, 1, "");
}

/* Each rank in turn: a rule that asks only some ranks fails for one of them. */
static void test_one_says_apart(void **state)
{
	(void)state;
	for (uint32_t odd = 0; odd < 4; odd++) {
		struct plan plan = {.played = -1};
		struct tf_error errs[TF_WORLD_MAX] = {0};
		char why[32];

		plan.says_apart[odd] = 1;
		snprintf(why, sizeof(why), "of rank %u", odd);
		run_plan(4, &plan, errs);
		assert_found(4, &plan, errs, 0, why);
	}
}

/* A rank that says yes to all, with one thing wrong: the others find it. */
static void assert_seen_through(struct plan *plan, const char *why)
{
	struct tf_error errs[TF_WORLD_MAX] = {0};

	plan->played = 2;
	plan->is_true_record = 1;
	plan->sent_byte = plan->answer_byte = TF_HOST_ONE;
	run_plan(3, plan, errs);
	assert_found(3, plan, errs, 0, "rank");
	assert_string_equal(plan->why[0], why);
}

static void test_word_without_descriptor(void **state)
{
	struct plan plan = {.played = 2};

	(void)state;
	assert_seen_through(&plan, "no descriptor of rank 2");
}

static void test_word_of_another(void **state)
{
	struct plan plan = {.passes_wrong_word = 1};

	(void)state;
	assert_seen_through(&plan, "no descriptor of rank 2");
}

static void test_another_network(void **state)
{
	struct plan plan = {.record = {.network_inode = 1}};

	(void)state;
	assert_seen_through(&plan, "another network namespace of rank 2");
}

/* The others' finding comes of the records too, whatever the rank answers. */
static void test_another_boot_id(void **state)
{
	struct plan plan = {.played = 1, .sent_byte = TF_HOST_ONE, .answer_byte = TF_HOST_ONE};
	struct tf_error errs[TF_WORLD_MAX] = {0};

	(void)state;
	memset(plan.record.boot_id, 'x', 36);
	run_plan(2, &plan, errs);
	assert_found(2, &plan, errs, 0, "another boot id of rank 1");
}

/* Every byte but the two is malformed, in both answers, and all ranks say so. */
static void test_malformed_bytes(void **state)
{
	(void)state;
	for (int byte = 0; byte < 256; byte += byte == 0x30 || byte == 0x33 ? 1 : 3) {
		struct plan plan = {.played = 1, .sent_byte = TF_HOST_ONE, .answer_byte = byte};
		struct tf_error errs[TF_WORLD_MAX] = {0};
		char text[64];

		if (byte == TF_HOST_ONE || byte == TF_HOST_APART)
			continue;
		snprintf(text, sizeof(text), "rank 1's answer about its host is byte 0x%02x", byte);
		run_plan(3, &plan, errs);
		assert_int_equal(errs[0].status, TF_E_INVALID);
		assert_int_equal(errs[2].status, TF_E_INVALID);
		if (!strstr(errs[0].text, text) || !strstr(errs[2].text, text))
			fail_msg("'%s' is not in '%s' and '%s'", text, errs[0].text, errs[2].text);
	}
}

static void test_malformed_sent(void **state)
{
	struct plan plan = {.played = 1, .sent_byte = 0, .answer_byte = TF_HOST_ONE};
	struct tf_error errs[TF_WORLD_MAX] = {0};

	(void)state;
	run_plan(2, &plan, errs);
	assert_int_equal(errs[0].status, TF_E_INVALID);
	assert_non_null(strstr(errs[0].text, "rank 1's word that it sent a descriptor is byte 0x00"));
}

/* A rank that never comes ends the agreement by its deadline. */
static enum tf_status agree_alone(void *user, struct tf_link *link, struct tf_error *err)
{
	int one_host = 0;

	(void)user;
	if (tf_link_rank(link) == 1) {
		/* Silent until the other one says that it gave up. */
		while (tf_link_poll_departed(link, NULL) == TF_OK)
			usleep(1000);
		return TF_OK;
	}
	return tf_host_agreement(
		link, 0, tf_deadline_after(200 * TF_NS_PER_MS), &one_host, NULL, 0, err);
}

static void test_silent_rank(void **state)
{
	struct tf_error errs[TF_WORLD_MAX] = {0};

	(void)state;
	run_ranks(2, agree_alone, NULL, errs);
	assert_int_equal(errs[0].status, TF_E_TIMEOUT);
	assert_non_null(strstr(errs[0].text, "are the ranks on one host?"));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_host),
		cmocka_unit_test(test_one_host_over_tcp), cmocka_unit_test(test_one_says_apart),
		cmocka_unit_test(test_word_without_descriptor), cmocka_unit_test(test_word_of_another),
		cmocka_unit_test(test_another_network), cmocka_unit_test(test_another_boot_id),
		cmocka_unit_test(test_malformed_bytes), cmocka_unit_test(test_malformed_sent),
		cmocka_unit_test(test_silent_rank)};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
