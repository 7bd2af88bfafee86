/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What parser, help, man page and completion read alike from option tables: words, choices,
 * paragraphs.
 */
#ifndef TF_BASE_OPTIONS_TEXT_H
#define TF_BASE_OPTIONS_TEXT_H

#include <stddef.h>

#include "base/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A piece of a longer text, borrowed from it. */
struct tf_text_piece {
	const char *start;
	size_t length;
	int verbatim; /* paragraphs: an example, its line ends count */
};

/* Steps through "auto|cuda|host": *at starts as the text and ends as NULL. Returns 0 at the end. */
int tf_choice_next(const char **at, struct tf_text_piece *out);

/*
 * Steps through the paragraphs of a text (NULL: none) in the same way. A paragraph ends at a
 * blank line and where examples (lines that begin with a space) start or end; its last line end
 * is not part of it.
 */
int tf_paragraph_next(const char **at, struct tf_text_piece *out);

/* The word for an option's value ("N", "auto|cuda|host"), NULL for a flag. */
const char *tf_option_value_word(const struct tf_option *option);

/* Whether the tool has one verb that bears its own name, so that no verb is written. */
int tf_tool_is_single(const struct tf_tool *tool);

/* Whether a table uses `letter` as a short name. */
int tf_verb_has_letter(const struct tf_verb *verb, char letter);

#ifdef __cplusplus
}
#endif
#endif
