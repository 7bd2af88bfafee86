/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of schema.sql and schema_foreign.sql, embedded at build time, for the writer alone. */
#ifndef TF_CATALOG_SCHEMA_H
#define TF_CATALOG_SCHEMA_H

#ifdef __cplusplus
extern "C" {
#endif

extern const char tf_catalog_schema[];
extern const char tf_catalog_schema_foreign[];

#ifdef __cplusplus
}
#endif
#endif
