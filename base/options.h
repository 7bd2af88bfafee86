/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command lines from tables: one static table a verb generates parsing, help, bash completion and
 * the man page, so none of them can drift from the others.
 */
#ifndef TF_BASE_OPTIONS_H
#define TF_BASE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum tf_option_kind {
	TF_OPTION_FLAG,   /* bool *: set to true */
	TF_OPTION_TEXT,   /* const char **: borrowed from argv */
	TF_OPTION_UINT,   /* uint64_t *: decimal, min <= value <= max; max 0: no upper bound */
	TF_OPTION_CHOICE, /* const char **: one of `choices` */
	TF_OPTION_PATH,   /* const char **: a file name, not empty (completion offers files) */
};

struct tf_option {
	const char *name; /* long name without dashes */
	char letter;      /* short name or 0 */
	enum tf_option_kind kind;
	const char *value; /* the value's word in help ("N", "FILE"); NULL for flags */
	const char *help;  /* a sentence, lower case, no full stop, default; choices, range are added */
	size_t off;        /* offsetof the field in the caller's options struct */
	const char *choices; /* CHOICE: "auto|cuda|host" */
	uint64_t min, max;   /* UINT */
};

/*
 * Texts: paragraphs are separated by blank lines and are filled; lines that begin with a space are
 * examples and stay as they are.
 */
struct tf_verb {
	const char *name;                /* "export"; the tool's own name for a tool without verbs */
	const char *synopsis;            /* after the name: "[options] PACKAGE" */
	const char *summary;             /* one line */
	const char *text;                /* further paragraphs for --help and the man page, or NULL */
	const struct tf_option *options; /* ends with a NULL name */
	int args_min, args_max;          /* positional arguments */
};

struct tf_tool {
	const char *name; /* "tfprep" */
	const char *summary;
	const char *text;            /* paragraphs for the man page, or NULL */
	const struct tf_verb *verbs; /* ends with a NULL name; one verb named as the tool = no verbs */
};

/*
 * Parses argv[0..argc) (without tool and verb names) into `options` and `out_args` (borrowed from
 * argv, at most args_max). Accepts --name VALUE, --name=VALUE, -x VALUE, -xVALUE, flags together
 * (-ab), "--" and options after arguments. Names are never abbreviated; the last of a repeated
 * option counts. A value that begins with a dash (other than "-" alone) must be written
 * --name=VALUE or -xVALUE.
 * --help (or -h, unless the table uses that letter) sets *out_help and returns TF_OK at once.
 * On --help and on failure `options`, `out_args` and *out_arg_count stay as they were.
 * TF_E_USAGE names the option, what was found and what is allowed, with a suggestion for a near
 * miss ("unknown option '--topolgy', did you mean '--topology'?"); the caller prints one line
 * "tfprep export: TEXT; see 'tfprep export --help'".
 */
TF_WARN_UNUSED enum tf_status tf_options_parse(const struct tf_verb *verb, int argc, char **argv,
	void *options, const char **out_args, int *out_arg_count, int *out_help, struct tf_error *err);

/*
 * Finds a verb by name. NULL and TF_E_USAGE in `err` (with a suggestion and the list of verbs) if
 * there is none or `name` is NULL.
 */
const struct tf_verb *tf_options_find_verb(
	const struct tf_tool *tool, const char *name, struct tf_error *err);

void tf_options_print_help(FILE *to, const struct tf_tool *tool, const struct tf_verb *verb);
void tf_options_print_tool_help(FILE *to, const struct tf_tool *tool);
/* A complete bash completion script, and a man page in mdoc or man macros (section 1). */
void tf_options_print_completion(FILE *to, const struct tf_tool *tool);
void tf_options_print_man(FILE *to, const struct tf_tool *tool, const char *version);

#ifdef __cplusplus
}
#endif
#endif
