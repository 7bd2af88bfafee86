/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/verbs/verb_run.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catalog/catalog_read.h"
#include "catalog/catalog_write.h"
#include "packages/container_read.h"
#include "packages/container_write.h"

#define ARGS_MAX   24
#define PATHS_HELD 8

char *tf_verb_out, *tf_verb_err;
char tf_verb_folder[256];

int tf_verb_set_up(void **state)
{
	(void)state;
	snprintf(tf_verb_folder, sizeof(tf_verb_folder), "%s/verbs-XXXXXX", TF_VERBS_FOLDER);
	assert_non_null(mkdtemp(tf_verb_folder));
	return 0;
}

int tf_verb_tear_down(void **state)
{
	char command[300];

	(void)state;
	free(tf_verb_out);
	free(tf_verb_err);
	tf_verb_out = tf_verb_err = NULL;
	snprintf(command, sizeof(command), "rm -rf '%s'", tf_verb_folder);
	return system(command);
}

const char *tf_verb_path(const char *name)
{
	static char paths[PATHS_HELD][400];
	static int turn;

	turn = (turn + 1) % PATHS_HELD;
	snprintf(paths[turn], sizeof(paths[turn]), "%s/%s", tf_verb_folder, name);
	return paths[turn];
}

char *tf_verb_load(const char *path, size_t *out_size)
{
	FILE *file = fopen(path, "re");
	struct stat status;
	char *data;

	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &status), 0);
	data = calloc((size_t)status.st_size + 1, 1);
	assert_non_null(data);
	assert_int_equal(fread(data, 1, (size_t)status.st_size, file), status.st_size);
	fclose(file);
	if (out_size)
		*out_size = (size_t)status.st_size;
	return data;
}

void tf_verb_store(const char *path, const void *data, size_t size)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static int redirect(const char *path, int to)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	return dup2(fd, to) == to;
}

static void child(const char *program, char **argv, const char *out, const char *err)
{
	if (!redirect(out, 1) || !redirect(err, 2))
		_exit(99);
	execv(program, argv);
	_exit(98);
}

static int run(const char *program, va_list args)
{
	char *argv[ARGS_MAX + 2] = {(char *)(uintptr_t)program};
	char out[300], err[300];
	int argc = 1, status;
	pid_t pid;

	while ((argv[argc] = va_arg(args, char *)))
		assert_true(++argc <= ARGS_MAX);
	snprintf(out, sizeof(out), "%s/stdout", tf_verb_folder);
	snprintf(err, sizeof(err), "%s/stderr", tf_verb_folder);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		child(program, argv, out, err);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	free(tf_verb_out);
	free(tf_verb_err);
	tf_verb_out = tf_verb_load(out, NULL);
	tf_verb_err = tf_verb_load(err, NULL);
	if (!WIFEXITED(status))
		fail_msg("ended by signal %d: %s", WTERMSIG(status), tf_verb_err);
	return WEXITSTATUS(status);
}

int tf_verb_run_program(const char *program, ...)
{
	va_list args;
	int code;

	va_start(args, program);
	code = run(program, args);
	va_end(args);
	return code;
}

/* va_list has no way to put a word before others, so the words are copied. */
int tf_verb_run(const char *first, ...)
{
	const char *words[ARGS_MAX] = {first};
	va_list args;
	int count = 1;

	va_start(args, first);
	while ((words[count] = va_arg(args, const char *)))
		assert_true(++count < ARGS_MAX);
	va_end(args);
	for (int i = count; i < ARGS_MAX; i++)
		words[i] = NULL;
	return tf_verb_run_program(TF_TFPREP, words[0], words[1], words[2], words[3], words[4],
		words[5], words[6], words[7], words[8], words[9], words[10], words[11], words[12], NULL);
}

static int is_pick(const char *token)
{
	char first[64] = "";
	size_t length = strcspn(token, "/");

	if (length >= sizeof(first))
		return 0;
	memcpy(first, token, length);
	return tf_algorithm_parse(first) >= 0 || tf_writer_parse(first) >= 0;
}

/* One token with its numbers masked. */
static void mask_token(const char *token, FILE *to)
{
	if (strlen(token) == 64 && strspn(token, "0123456789abcdef") == 64) {
		fputs("HEX", to);
		return;
	}
	if (is_pick(token)) {
		fputs("PICK", to);
		return;
	}
	while (*token) {
		if (isdigit((unsigned char)*token)) {
			fputc('N', to);
			token += strspn(token, "0123456789.");
		} else {
			fputc(*token++, to);
		}
	}
}

static char *masked(const char *text)
{
	char *out = NULL, token[256];
	size_t size = 0;
	FILE *to = open_memstream(&out, &size);

	assert_non_null(to);
	while (*text) {
		size_t length = strcspn(text, " \n");

		assert_true(length < sizeof(token));
		memcpy(token, text, length);
		token[length] = '\0';
		/* Folders of this machine. */
		mask_token(token[0] == '/' ? strrchr(token, '/') + 1 : token, to);
		text += length;
		if (*text)
			fputc(*text, to);
		text += *text == '\n' ? 1 : strspn(text, " ");
	}
	fclose(to);
	return out;
}

void tf_verb_assert_golden(const char *name)
{
	char path[400], *is = masked(tf_verb_out), *wanted;

	snprintf(path, sizeof(path), "%s/%s", TF_VERBS_GOLDEN, name);
	if (getenv("TF_RECORD"))
		tf_verb_store(path, is, strlen(is));
	wanted = tf_verb_load(path, NULL);
	assert_string_equal(is, wanted);
	assert_string_equal(tf_verb_err, "");
	free(is);
	free(wanted);
}

json_t *tf_verb_json(void)
{
	json_error_t error;
	json_t *root = json_loads(tf_verb_out, 0, &error);

	if (!root)
		fail_msg("%s: %s", error.text, tf_verb_out);
	assert_int_equal(json_integer_value(json_object_get(root, "version")), 1);
	assert_string_equal(tf_verb_err, "");
	return root;
}

void tf_verb_assert_refused(int code, int wanted, const char *text)
{
	if (code != wanted || !strstr(tf_verb_err, text) || *tf_verb_out)
		fail_msg("code %d, not %d, or no '%s' in '%s', or stdout is not empty: '%s'", code, wanted,
			text, tf_verb_err, tf_verb_out);
	assert_ptr_equal(strchr(tf_verb_err, '\n'), tf_verb_err + strlen(tf_verb_err) - 1);
}

void tf_verb_read_program(const char *path, struct tf_program *program)
{
	struct tf_package *package = NULL;
	struct tf_bytes catalog = {0};

	assert_int_equal(tf_package_open(path, &package, NULL), TF_OK);
	assert_int_equal(tf_package_read_catalog(package, &catalog, NULL), TF_OK);
	assert_int_equal(tf_catalog_read(catalog.data, catalog.size,
						 TF_CATALOG_STARTUP | TF_CATALOG_SAMPLES, program, NULL),
		TF_OK);
	tf_bytes_fini(&catalog);
	tf_package_close(package);
}

void tf_verb_pack(const char *path, const struct tf_program *program, const char *member,
	const void *data, size_t bytes)
{
	struct tf_package_writer *writer = NULL;
	struct tf_bytes catalog = {0};
	struct tf_error err = {0};

	if (tf_catalog_write(program, &catalog, &err) != TF_OK)
		fail_msg("%s", err.text);
	assert_int_equal(tf_package_writer_create(path, &writer, NULL), TF_OK);
	assert_int_equal(
		tf_package_writer_add(writer, TF_PACKAGE_CATALOG, catalog.data, catalog.size, NULL), TF_OK);
	if (member)
		assert_int_equal(tf_package_writer_add(writer, member, data, bytes, NULL), TF_OK);
	assert_int_equal(tf_package_writer_seal(writer, NULL), TF_OK);
	assert_int_equal(tf_package_writer_publish(writer, NULL, NULL, NULL), TF_OK);
	tf_package_writer_destroy(writer);
	tf_bytes_fini(&catalog);
}
