/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Publishing: the target is the old file or the new one, whole, whatever happens to the writer;
 * what is left behind is removed or named.
 */
#include "packages/container_write.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sodium.h>

#include "base/alloc.h"
#include "base/log.h"
#include "packages/container_read.h"
#include "tests/packages/package_fixture.h"

#define CHILD_SKIP 77

static void same_bytes(const char *path, const struct tf_bytes *wanted)
{
	struct tf_bytes found = fixture_load(path);

	assert_int_equal(found.size, wanted->size);
	assert_memory_equal(found.data, wanted->data, wanted->size);
	tf_bytes_fini(&found);
}

static void verified(const char *path, size_t members)
{
	struct tf_package *package = NULL;

	assert_int_equal(tf_package_open(path, &package, NULL), TF_OK);
	assert_int_equal(tf_package_member_count(package), members);
	assert_int_equal(tf_package_verify(package, NULL), TF_OK);
	tf_package_close(package);
}

static void test_same_members_same_bytes(void **state)
{
	struct tf_bytes first;

	(void)state;
	assert_int_equal(
		fixture_write(fixture_path("1.tfp"), fixture_medium(), FIXTURE_MEDIUM_COUNT, NULL), TF_OK);
	assert_int_equal(
		fixture_write(fixture_path("2.tfp"), fixture_medium(), FIXTURE_MEDIUM_COUNT, NULL), TF_OK);
	first = fixture_load(fixture_path("1.tfp"));
	same_bytes(fixture_path("2.tfp"), &first);
	tf_bytes_fini(&first);
}

static void refuse_add(struct tf_package_writer *writer, const char *name, const char *words)
{
	struct tf_error err = {0};

	assert_int_equal(tf_package_writer_add(writer, name, "x", 1, &err), TF_E_USAGE);
	if (!strstr(err.text, words))
		fail_msg("'%s' does not say '%s'", err.text, words);
}

/* A refused call leaves the writer as it was. */
static void test_usage(void **state)
{
	const char *path = fixture_path("usage.tfp");
	struct tf_package_writer *writer = NULL;
	struct tf_error err = {0};

	(void)state;
	assert_int_equal(tf_package_writer_create(path, &writer, NULL), TF_OK);
	assert_int_equal(tf_package_writer_seal(writer, &err), TF_E_USAGE);
	assert_non_null(strstr(err.text, "has no 'catalog.sqlite'"));
	refuse_add(writer, "a", "first member is 'a', not 'catalog.sqlite'");
	assert_int_equal(tf_package_writer_add(
						 writer, TF_PACKAGE_CATALOG, "x", TF_PACKAGE_CATALOG_BYTES_MAX + 1, &err),
		TF_E_LIMIT);
	assert_non_null(strstr(err.text, "1073741825 bytes, more than 1073741824"));
	assert_int_equal(tf_package_writer_add(writer, TF_PACKAGE_CATALOG, "x", 1, NULL), TF_OK);
	assert_int_equal(tf_package_writer_publish(writer, NULL, NULL, &err), TF_E_USAGE);
	assert_non_null(strstr(err.text, "it is open, not sealed"));
	assert_int_equal(tf_package_writer_add(writer, "b", "x", 1, NULL), TF_OK);
	refuse_add(writer, "a", "'a' follows 'b'");
	refuse_add(writer, "b", "added twice");
	refuse_add(writer, TF_PACKAGE_CATALOG, "added twice");
	refuse_add(writer, "../c", "'../c' is not");
	refuse_add(writer, "", "'' is not");
	assert_int_equal(
		tf_package_writer_add(writer, "c", "x", TF_PACKAGE_MEMBER_BYTES_MAX + 1, &err), TF_E_LIMIT);
	assert_non_null(strstr(err.text, "68719476736 bytes, more than 68719476735"));
	assert_int_equal(tf_package_writer_seal(writer, NULL), TF_OK);
	refuse_add(writer, "c", "it is sealed, not open");
	assert_int_equal(tf_package_writer_seal(writer, NULL), TF_E_USAGE);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(tf_package_writer_publish(writer, NULL, NULL, NULL), TF_OK);
	assert_int_equal(tf_package_writer_publish(writer, NULL, NULL, NULL), TF_E_USAGE);
	tf_package_writer_destroy(writer);
	tf_package_writer_destroy(NULL);
	verified(path, 2);
}

static void refuse_create(const char *path, enum tf_status wanted, const char *words)
{
	struct tf_package_writer *writer = NULL;
	struct tf_error err = {0};

	assert_int_equal(tf_package_writer_create(path, &writer, &err), wanted);
	assert_null(writer);
	if (!strstr(err.text, words))
		fail_msg("'%s' does not say '%s'", err.text, words);
}

static void test_targets_that_cannot_be(void **state)
{
	(void)state;
	refuse_create("", TF_E_USAGE, "it names no file");
	refuse_create(fixture_path(""), TF_E_USAGE, "it names no file");
	refuse_create(fixture_path(".."), TF_E_USAGE, "it names no file");
	assert_int_equal(mkdir(fixture_path("folder.tfp"), 0755), 0);
	refuse_create(fixture_path("folder.tfp"), TF_E_USAGE, "it is a folder");
	refuse_create(fixture_path("none/x.tfp"), TF_E_NOT_FOUND, "there is no folder");
	fixture_store(fixture_path("file"), "", 0);
	refuse_create(fixture_path("file/x.tfp"), TF_E_NOT_FOUND, "there is no folder");
	refuse_create("/proc/x.tfp", TF_E_SYSTEM, "cannot create '/proc/tfprep-");
	assert_int_equal(fixture_count("tfprep-", NULL), 0);
}

/* The sealed file is complete under its temporary name; the target appears with publishing. */
static void test_sealed_file_can_be_checked(void **state)
{
	const char *path = fixture_path("sealed.tfp");
	struct tf_package_writer *writer = NULL;
	struct tf_bytes sealed;

	(void)state;
	assert_int_equal(tf_package_writer_create(path, &writer, NULL), TF_OK);
	assert_int_equal(fixture_add(writer, fixture_small(), FIXTURE_SMALL_COUNT, NULL), TF_OK);
	assert_int_equal(tf_package_writer_seal(writer, NULL), TF_OK);
	verified(tf_package_writer_path(writer), FIXTURE_SMALL_COUNT);
	sealed = fixture_load(tf_package_writer_path(writer));
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(tf_package_writer_publish(writer, NULL, NULL, NULL), TF_OK);
	tf_package_writer_destroy(writer);
	same_bytes(path, &sealed);
	tf_bytes_fini(&sealed);
	assert_int_equal(fixture_count("tfprep-", NULL), 0);
}

/* Destroying at any point before publishing leaves nothing new and the old file as it was. */
static void test_destroyed_writers_leave_the_old_file(void **state)
{
	const char *path = fixture_path("old.tfp");
	struct tf_package_writer *writer;
	struct tf_bytes old;

	(void)state;
	assert_int_equal(fixture_write(path, fixture_small(), 2, NULL), TF_OK);
	old = fixture_load(path);
	for (int steps = 0; steps < 3; steps++) {
		assert_int_equal(tf_package_writer_create(path, &writer, NULL), TF_OK);
		if (steps > 0)
			assert_int_equal(fixture_add(writer, fixture_small(), 3, NULL), TF_OK);
		if (steps > 1)
			assert_int_equal(tf_package_writer_seal(writer, NULL), TF_OK);
		assert_int_equal(fixture_count("tfprep-", NULL), 1);
		tf_package_writer_destroy(writer);
		assert_int_equal(fixture_count("tfprep-", NULL), 0);
		same_bytes(path, &old);
	}
	tf_bytes_fini(&old);
}

static void test_two_writers_of_one_name(void **state)
{
	const char *path = fixture_path("two.tfp");
	struct tf_package_writer *writers[2] = {0};

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(tf_package_writer_create(path, &writers[i], NULL), TF_OK);
	assert_string_not_equal(tf_package_writer_path(writers[0]), tf_package_writer_path(writers[1]));
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(fixture_add(writers[i], fixture_small(), 2 + i, NULL), TF_OK);
		assert_int_equal(tf_package_writer_seal(writers[i], NULL), TF_OK);
	}
	assert_int_equal(tf_package_writer_publish(writers[1], NULL, NULL, NULL), TF_OK);
	verified(path, 3);
	assert_int_equal(tf_package_writer_publish(writers[0], NULL, NULL, NULL), TF_OK);
	verified(path, 2);
	for (int i = 0; i < 2; i++)
		tf_package_writer_destroy(writers[i]);
	assert_int_equal(fixture_count("tfprep-", NULL), 0);
}

static void test_every_allocation_may_fail(void **state)
{
	const char *path = fixture_path("alloc.tfp");
	enum tf_status status = TF_E_NO_MEMORY;
	struct tf_bytes old;
	uint64_t nth = 0;

	(void)state;
	assert_int_equal(fixture_write(path, fixture_small(), 2, NULL), TF_OK);
	old = fixture_load(path);
	for (;;) {
		tf_alloc_fail_at(++nth);
		status = fixture_write(path, fixture_small(), FIXTURE_SMALL_COUNT, NULL);
		tf_alloc_fail_at(0);
		assert_int_equal(fixture_count("tfprep-", NULL), 0);
		if (status != TF_E_NO_MEMORY || nth == 1000)
			break;
		same_bytes(path, &old);
	}
	assert_int_equal(status, TF_OK);
	assert_true(nth > 6);
	verified(path, FIXTURE_SMALL_COUNT);
	tf_bytes_fini(&old);
}

/* Runs `body` in a child; its exit code. A child that was killed gives minus the signal. */
static int in_child(int (*body)(const char *path), const char *path)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0)
		_exit(body(path));
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/*
 * Writes until the disk is full: at the first member, at a later one, or at the end. 0 if all is
 * well.
 */
static int write_past_limit(const char *path, int native)
{
	struct tf_package_writer *writer = NULL;
	struct tf_error err = {0}, again = {0};
	enum tf_status status = tf_package_writer_create(path, &writer, &err);

	if (status == TF_OK)
		status = fixture_add(writer, fixture_medium(), FIXTURE_MEDIUM_COUNT, &err);
	if (status == TF_OK)
		status = tf_package_writer_seal(writer, &err);
	if (status != TF_E_SYSTEM || err.native != native || !strstr(err.text, path))
		return 10;
	if (tf_package_writer_add(writer, "zzz", "", 0, &again) != TF_E_SYSTEM)
		return 11;
	if (strcmp(again.text, err.text) != 0)
		return 12;
	if (tf_package_writer_seal(writer, NULL) != TF_E_SYSTEM ||
		tf_package_writer_publish(writer, NULL, NULL, NULL) != TF_E_SYSTEM)
		return 13;
	tf_package_writer_destroy(writer);
	return 0;
}

static rlim_t file_limit;

static int with_file_limit(const char *path)
{
	struct rlimit limit = {file_limit, file_limit};

	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
		return CHILD_SKIP;
	return write_past_limit(path, EFBIG);
}

static void test_file_size_limit_leaves_the_old_file(void **state)
{
	const char *path = fixture_path("limit.tfp");
	struct tf_bytes old, whole;

	(void)state;
	assert_int_equal(fixture_write(path, fixture_medium(), FIXTURE_MEDIUM_COUNT, NULL), TF_OK);
	whole = fixture_load(path);
	assert_int_equal(fixture_write(path, fixture_small(), 2, NULL), TF_OK);
	old = fixture_load(path);
	for (file_limit = 0; file_limit < whole.size; file_limit += whole.size / 7 + 1) {
		assert_int_equal(in_child(with_file_limit, path), 0);
		same_bytes(path, &old);
		assert_int_equal(fixture_count("tfprep-", NULL), 0);
	}
	file_limit = whole.size - 1;
	assert_int_equal(in_child(with_file_limit, path), 0);
	same_bytes(path, &old);
	tf_bytes_fini(&whole);
	tf_bytes_fini(&old);
}

/*
 * A tmpfs of its own, in a mount namespace of its own: nothing of it is left when the child ends.
 */
static int with_full_disk(const char *folder)
{
	char path[1024];
	struct tf_package *package = NULL;
	int code;

	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		mount("tmpfs", folder, "tmpfs", 0, "size=65536") != 0)
		return CHILD_SKIP;
	snprintf(path, sizeof(path), "%s/full.tfp", folder);
	if (fixture_write(path, fixture_small(), 2, NULL) != TF_OK)
		return 20;
	code = write_past_limit(path, ENOSPC);
	if (code != 0)
		return code;
	if (tf_package_open(path, &package, NULL) != TF_OK || tf_package_member_count(package) != 2 ||
		tf_package_verify(package, NULL) != TF_OK)
		return 21;
	tf_package_close(package);
	/* The space is free again. */
	return fixture_write(path, fixture_small(), 5, NULL) == TF_OK ? 0 : 22;
}

static void test_full_disk_leaves_the_old_file(void **state)
{
	const char *folder = fixture_path("disk");
	int code;

	(void)state;
	assert_int_equal(mkdir(folder, 0755), 0);
	code = in_child(with_full_disk, folder);
	if (code == CHILD_SKIP)
		skip();
	assert_int_equal(code, 0);
}

static char stale_lines[4096];
static int stale_count;

static void on_log(void *user, enum tf_log_level level, const char *text)
{
	(void)user;
	assert_int_equal(level, TF_LOG_WARN);
	stale_count++;
	strncat(stale_lines, text, sizeof(stale_lines) - strlen(stale_lines) - 1);
}

/* Gets killed between two members, or, sealed, before publishing. */
static int killed_before_add(const char *path)
{
	struct tf_package_writer *writer = NULL;

	if (tf_package_writer_create(path, &writer, NULL) != TF_OK ||
		fixture_add(writer, fixture_medium(), 2, NULL) != TF_OK)
		return 1;
	raise(SIGKILL);
	return 2;
}

static int killed_before_publish(const char *path)
{
	struct tf_package_writer *writer = NULL;

	if (tf_package_writer_create(path, &writer, NULL) != TF_OK ||
		fixture_add(writer, fixture_medium(), FIXTURE_MEDIUM_COUNT, NULL) != TF_OK ||
		tf_package_writer_seal(writer, NULL) != TF_OK)
		return 1;
	raise(SIGKILL);
	return 2;
}

static void test_killed_writers_leave_the_old_file_and_are_named(void **state)
{
	const char *path = fixture_path("killed.tfp");
	struct tf_package_writer *living = NULL;
	struct tf_bytes old;
	char name[256];

	(void)state;
	assert_int_equal(fixture_write(path, fixture_small(), 2, NULL), TF_OK);
	old = fixture_load(path);
	assert_int_equal(in_child(killed_before_add, path), -SIGKILL);
	same_bytes(path, &old);
	assert_int_equal(in_child(killed_before_publish, path), -SIGKILL);
	same_bytes(path, &old);
	assert_int_equal(fixture_count("tfprep-", NULL), 2);
	/* A writer at work is not stale. */
	assert_int_equal(tf_package_writer_create(path, &living, NULL), TF_OK);
	tf_log_install(on_log, NULL, TF_LOG_WARN);
	assert_int_equal(fixture_write(path, fixture_small(), 3, NULL), TF_OK);
	tf_log_install(NULL, NULL, TF_LOG_WARN);
	tf_package_writer_destroy(living);
	verified(path, 3);
	assert_int_equal(stale_count, 2);
	assert_int_equal(fixture_count("tfprep-", name), 2);
	assert_non_null(strstr(stale_lines, name));
	assert_non_null(strstr(stale_lines, "was left by process"));
	tf_bytes_fini(&old);
}

/* A relative path goes to the folder that was current when the writer was made. */
static void test_relative_path(void **state)
{
	char before[4096];
	struct tf_package_writer *writer = NULL;

	(void)state;
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(fixture_path("")), 0);
	assert_int_equal(tf_package_writer_create("relative.tfp", &writer, NULL), TF_OK);
	assert_int_equal(fixture_add(writer, fixture_small(), 2, NULL), TF_OK);
	assert_int_equal(chdir(before), 0);
	assert_int_equal(tf_package_writer_seal(writer, NULL), TF_OK);
	assert_int_equal(tf_package_writer_publish(writer, NULL, NULL, NULL), TF_OK);
	tf_package_writer_destroy(writer);
	verified(fixture_path("relative.tfp"), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_members_same_bytes),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_targets_that_cannot_be),
		cmocka_unit_test(test_sealed_file_can_be_checked),
		cmocka_unit_test(test_destroyed_writers_leave_the_old_file),
		cmocka_unit_test(test_two_writers_of_one_name),
		cmocka_unit_test(test_every_allocation_may_fail),
		cmocka_unit_test(test_file_size_limit_leaves_the_old_file),
		cmocka_unit_test(test_full_disk_leaves_the_old_file),
		cmocka_unit_test(test_killed_writers_leave_the_old_file_and_are_named),
		cmocka_unit_test(test_relative_path),
	};

	return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
