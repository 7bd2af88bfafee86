/* SPDX-License-Identifier: Apache-2.0 */
/* Running tfprep as people do, and comparing what it says with its numbers masked. */
#ifndef TF_TESTS_VERBS_VERB_RUN_H
#define TF_TESTS_VERBS_VERB_RUN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "catalog/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the last run wrote; both are strings. */
extern char *tf_verb_out, *tf_verb_err;

/* A folder of the test's own for the packages it makes; removed by tf_verb_tear_down. */
extern char tf_verb_folder[256];

int tf_verb_set_up(void **state);
int tf_verb_tear_down(void **state);

/* PATH of a file in the folder; the text lives for seven further calls. */
const char *tf_verb_path(const char *name);

/* Runs the built tfprep, or another program, with words that end with NULL; returns its code. */
int tf_verb_run(const char *first, ...);
int tf_verb_run_program(const char *program, ...);

/*
 * Compares stdout with golden/NAME, where 64 hex digits are HEX, numbers N, names of algorithms,
 * writers and candidates PICK, and blanks one. TF_RECORD=1 writes the file anew.
 */
void tf_verb_assert_golden(const char *name);

/* stdout as JSON with "version" 1. Freed by the caller. */
json_t *tf_verb_json(void);

/* A usage or input error: the code, nothing on stdout, one line on stderr that holds `text`. */
void tf_verb_assert_refused(int code, int wanted, const char *text);

/* The whole file; freed with free. Adds a zero byte behind it. */
char *tf_verb_load(const char *path, size_t *out_size);
void tf_verb_store(const char *path, const void *data, size_t size);

/* The program of a package, all parts. */
void tf_verb_read_program(const char *path, struct tf_program *program);

/* Writes a package of a program and of one further member, unless `member` is NULL. */
void tf_verb_pack(const char *path, const struct tf_program *program, const char *member,
	const void *data, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
