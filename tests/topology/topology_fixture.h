/* SPDX-License-Identifier: Apache-2.0 */
/* What the topology tests share: the XML files, edited copies of them, made-up trees of files. */
#ifndef TF_TESTS_TOPOLOGY_TOPOLOGY_FIXTURE_H
#define TF_TESTS_TOPOLOGY_TOPOLOGY_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "runtime/topology/topology.h"

#ifdef __cplusplus
extern "C" {
#endif

#define XEON_24 "24em64t-2n6c2t-pci.xml"
#define XEON_32 "32em64t-2n8c2t-pci-wholeio.xml"
#define DGX2    "nvidiaDGX2.xml"
#define POWER8  "power8gpudistances.xml"

/* The path of a data file; valid until the next call. */
const char *tf_fixture_data(const char *name);

/* The whole text of a file, ended by a zero; the caller frees it with free(). */
char *tf_fixture_load(const char *path);

/* Writes a file, making the folders above it. */
void tf_fixture_write(const char *root, const char *path, const char *text);

/* A fresh folder below $TMPDIR, and its removal with all that is in it. */
void tf_fixture_make_folder(char *out, size_t size);
void tf_fixture_remove_folder(const char *path);

/* Set-up and tear-down of a test with a fresh folder and a file in it to be. */
extern char tf_fixture_folder[256], tf_fixture_edited[320];
int tf_fixture_set_up(void **state);
int tf_fixture_tear_down(void **state);

/*
 * Writes a copy of a data file to `to` in which each of the pairs (from, to; ends with NULL) was
 * replaced wherever it stands; each must stand somewhere.
 */
void tf_fixture_edit(const char *name, const char *to, const char *const *pairs);

/* Reads an XML file, which must work. */
struct tf_topology *tf_fixture_read(const char *path);

#ifdef __cplusplus
}
#endif
#endif
