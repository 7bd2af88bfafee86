/* SPDX-License-Identifier: Apache-2.0 */
/* The sample program as a report's source, its data as JSON, and its catalog to ask in SQL. */
#ifndef TF_TESTS_REPORT_REPORT_RIG_H
#define TF_TESTS_REPORT_REPORT_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "prepare/report/report_data.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A source around `program`, with digests and sizes that are easy to tell apart. */
struct tf_report_source report_rig_source(const struct tf_program *program);

/* The data of a source; the caller ends it with json_decref. */
json_t *report_rig_data(const struct tf_report_source *source);

/*
 * Rows of a question about the program's catalog, as the text "a|b|c\n" a row, NULL as "-". Freed
 * with free.
 */
char *report_rig_ask(const struct tf_program *program, const char *sql);

/* Appends to *text (heap, NULL at first) as printf does. */
void report_rig_add(char **text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif
#endif
