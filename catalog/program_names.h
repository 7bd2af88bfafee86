/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the program's kinds, as the catalog and people write them, and the rules for names and
 * texts in it.
 */
#ifndef TF_CATALOG_PROGRAM_NAMES_H
#define TF_CATALOG_PROGRAM_NAMES_H

#include <stddef.h>

#include "catalog/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The name of a kind, or NULL out of range; the kind of a name, or -1. tf_candidate_state_name is
 * in program.h.
 */
const char *tf_buffer_role_name(enum tf_buffer_role role);
const char *tf_module_kind_name(enum tf_module_kind kind);
const char *tf_word_kind_name(enum tf_word_kind kind);
const char *tf_node_kind_name(enum tf_node_kind kind);
const char *tf_graph_kind_name(enum tf_graph_kind kind);
int tf_candidate_state_parse(const char *name);
int tf_buffer_role_parse(const char *name);
int tf_module_kind_parse(const char *name);
int tf_graph_kind_parse(const char *name);

/* Bytes of an enum tf_word_kind word in the argument struct. */
uint32_t tf_word_bytes(enum tf_word_kind kind);

/*
 * Whether `text`, in an array of `array_bytes`, ends there and is a name: one or more of A-Z a-z
 * 0-9 . _ -
 */
int tf_text_is_name(const char *text, size_t array_bytes);

/*
 * The same for a member's path: names, which may hold + too, joined by single '/', neither '.' nor
 * '..' among them.
 */
int tf_text_is_path(const char *text, size_t array_bytes);

/*
 * Whether `text` ends within `array_bytes` and is UTF-8 without control characters; empty is a
 * text.
 */
int tf_text_is_plain(const char *text, size_t array_bytes);

/*
 * `text` if it is plain, else "(unprintable)": what a message may carry to a terminal. Takes NULL.
 */
const char *tf_text_shown(const char *text, size_t array_bytes);

#ifdef __cplusplus
}
#endif
#endif
