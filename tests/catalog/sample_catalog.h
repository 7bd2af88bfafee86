/* SPDX-License-Identifier: Apache-2.0 */
/* The sample's catalog, shared by all tests of a group, and what a reader must refuse. */
#ifndef TF_TESTS_CATALOG_SAMPLE_CATALOG_H
#define TF_TESTS_CATALOG_SAMPLE_CATALOG_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/bytes.h"
#include "base/error.h"

extern struct tf_bytes sample_catalog;

/* Set-up and tear-down of a group. */
int sample_catalog_make(void **state);
int sample_catalog_drop(void **state);

/* Reading ends in `status`, says `text` behind "catalog: ", and leaves its output as it was. */
void sample_catalog_refused(
	const void *bytes, size_t size, enum tf_status status, const char *text);

#endif
