/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Catalogs as bytes, for tests: written, changed by SQL as an attacker or a later version would,
 * asked.
 */
#ifndef TF_TESTS_CATALOG_CATALOG_IMAGE_H
#define TF_TESTS_CATALOG_CATALOG_IMAGE_H

#include "base/bytes.h"
#include "catalog/program.h"

/* The sample's catalog; the caller releases it. Aborts on failure. */
void catalog_image_make(struct tf_bytes *out);

/*
 * Runs `sql` on a copy of `image`, without CHECKs and foreign keys, with a writable schema. 0, or
 * SQLite's code.
 */
int catalog_image_edit(const struct tf_bytes *image, const char *sql, struct tf_bytes *out);

/*
 * All values of a statement's rows, '|' between columns and '\n' behind rows, in `out`. Aborts on
 * failure.
 */
void catalog_image_ask(const struct tf_bytes *image, const char *sql, struct tf_bytes *out);

#endif
