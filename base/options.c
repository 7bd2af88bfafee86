/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command lines parsed from tables.
 *
 * Invariants:
 * 1. The same walk runs twice over argv: the first checks, the second stores. So the caller's
 *    struct and arguments change only when the whole line is right.
 * 2. Names match whole. A beginning of a name is only suggested: as an abbreviation it would
 *    change its meaning on the day another option begins alike.
 * 3. Strings handed out are borrowed from argv.
 */
#include "base/options.h"
#include "base/near_miss.h"
#include "base/options_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

/* Of the user's own words in a message, so that the rest of it stays whole. */
#define SHOWN_BYTES   72
#define SUGGEST_BYTES (TF_NEAR_MISS_NAME_MAX + 32)

struct line {
	const struct tf_verb *verb;
	int argc;
	char **argv;
	int next; /* the next word of argv */
	bool store;
	void *options;
	const char **args;
	int arg_count;
	bool help;
};

/* The first `length` bytes of `text`, cut where they are many. */
static const char *shown(const char *text, size_t length, char out[SHOWN_BYTES])
{
	size_t kept = length < SHOWN_BYTES ? length : SHOWN_BYTES - 4;

	memcpy(out, text, kept);
	memcpy(out + kept, "...", 4);
	if (kept == length)
		out[kept] = '\0';
	return out;
}

/* ", did you mean 'PREFIXname'?" or nothing. */
static const char *suggestion(
	const struct tf_near_miss *miss, const char *prefix, char out[SUGGEST_BYTES])
{
	out[0] = '\0';
	if (miss->best)
		snprintf(out, SUGGEST_BYTES, ", did you mean '%s%.*s'?", prefix, (int)miss->best_length,
			miss->best);
	return out;
}

static void offer_options(struct tf_near_miss *miss, const struct tf_verb *verb)
{
	for (const struct tf_option *option = verb->options; option->name; option++)
		tf_near_miss_offer(miss, option->name, strlen(option->name));
	tf_near_miss_offer(miss, "help", 4);
}

static enum tf_status fail_range(
	const struct tf_option *option, const char *value, struct tf_error *err)
{
	char found[SHOWN_BYTES];

	shown(value, strlen(value), found);
	if (option->max)
		return TF_FAIL(err, TF_E_USAGE,
			"option '--%s': '%s' is not a number from %" PRIu64 " to %" PRIu64, option->name, found,
			option->min, option->max);
	return TF_FAIL(err, TF_E_USAGE, "option '--%s': '%s' is not a number of %" PRIu64 " or more",
		option->name, found, option->min);
}

static enum tf_status check_uint(
	const struct tf_option *option, const char *value, uint64_t *out, struct tf_error *err)
{
	uint64_t number = 0;
	const char *digit = value;

	for (; *digit >= '0' && *digit <= '9'; digit++) {
		if (__builtin_mul_overflow(number, 10, &number) ||
			__builtin_add_overflow(number, (uint64_t)(*digit - '0'), &number))
			return fail_range(option, value, err);
	}
	if (digit == value || *digit || number < option->min || (option->max && number > option->max))
		return fail_range(option, value, err);
	*out = number;
	return TF_OK;
}

static enum tf_status check_choice(
	const struct tf_option *option, const char *value, struct tf_error *err)
{
	struct tf_near_miss miss = {.word = value, .word_length = strlen(value)};
	struct tf_text_piece choice;
	const char *at = option->choices;
	char found[SHOWN_BYTES], suggest[SUGGEST_BYTES];

	while (tf_choice_next(&at, &choice)) {
		if (choice.length == miss.word_length && !memcmp(choice.start, value, choice.length))
			return TF_OK;
		tf_near_miss_offer(&miss, choice.start, choice.length);
	}
	return TF_FAIL(err, TF_E_USAGE, "option '--%s': '%s' is none of '%s'%s", option->name,
		shown(value, miss.word_length, found), option->choices, suggestion(&miss, "", suggest));
}

/* Checks the value of an option (NULL for a flag) and, in the second walk, stores it. */
static enum tf_status take(
	struct line *line, const struct tf_option *option, const char *value, struct tf_error *err)
{
	uint64_t number = 0;
	char *field;

	if (option->kind == TF_OPTION_UINT)
		TF_TRY(check_uint(option, value, &number, err));
	if (option->kind == TF_OPTION_CHOICE)
		TF_TRY(check_choice(option, value, err));
	if (option->kind == TF_OPTION_PATH && !*value)
		return TF_FAIL(err, TF_E_USAGE, "option '--%s': a file name is empty", option->name);
	if (!line->store)
		return TF_OK;
	field = (char *)line->options + option->off;
	if (option->kind == TF_OPTION_FLAG)
		*(bool *)field = true;
	else if (option->kind == TF_OPTION_UINT)
		*(uint64_t *)field = number;
	else
		*(const char **)field = value;
	return TF_OK;
}

/*
 * The value in the next word; a word that looks like an option means that the value was
 * forgotten.
 */
static enum tf_status next_value(
	struct line *line, const struct tf_option *option, const char **out, struct tf_error *err)
{
	const char *word = line->next < line->argc ? line->argv[line->next] : NULL;
	char found[SHOWN_BYTES];

	if (!word)
		return TF_FAIL(err, TF_E_USAGE,
			"option '--%s' needs a value '%s', found the end of the line", option->name,
			tf_option_value_word(option));
	if (word[0] == '-' && word[1])
		return TF_FAIL(err, TF_E_USAGE,
			"option '--%s' needs a value '%s', found '%s'; a value with a dash is written "
			"'--%s=VALUE'",
			option->name, tf_option_value_word(option), shown(word, strlen(word), found),
			option->name);
	line->next++;
	*out = word;
	return TF_OK;
}

/* `word` is what follows the two dashes. */
static enum tf_status parse_long(struct line *line, const char *word, struct tf_error *err)
{
	const char *equals = strchr(word, '=');
	size_t length = equals ? (size_t)(equals - word) : strlen(word);
	const char *value = equals ? equals + 1 : NULL;
	struct tf_near_miss miss = {.word = word, .word_length = length};
	char found[SHOWN_BYTES], suggest[SUGGEST_BYTES];
	const struct tf_option *option = line->verb->options;

	while (option->name && (strlen(option->name) != length || memcmp(option->name, word, length)))
		option++;
	if (!option->name && !strcmp(word, "help")) {
		line->help = true;
		return TF_OK;
	}
	if (!option->name) {
		offer_options(&miss, line->verb);
		return TF_FAIL(err, TF_E_USAGE, "unknown option '--%s'%s", shown(word, length, found),
			suggestion(&miss, "--", suggest));
	}
	if (option->kind == TF_OPTION_FLAG && value)
		return TF_FAIL(err, TF_E_USAGE, "option '--%s' takes no value, found '%s'", option->name,
			shown(value, strlen(value), found));
	if (option->kind != TF_OPTION_FLAG && !value)
		TF_TRY(next_value(line, option, &value, err));
	return take(line, option, value, err);
}

/* `word` is what follows the one dash: letters of flags, the last of which may take a value. */
static enum tf_status parse_short(struct line *line, const char *word, struct tf_error *err)
{
	struct tf_near_miss miss = {.word = word, .word_length = strlen(word)};
	char found[SHOWN_BYTES], suggest[SUGGEST_BYTES];

	for (const char *letter = word; *letter; letter++) {
		const struct tf_option *option = line->verb->options;
		const char *value = NULL;

		while (option->name && option->letter != *letter)
			option++;
		if (!option->name && *letter == 'h') {
			line->help = true;
			return TF_OK;
		}
		if (!option->name) {
			if (miss.word_length > 1)
				offer_options(&miss, line->verb);
			return TF_FAIL(err, TF_E_USAGE, "unknown option '-%s'%s",
				shown(letter, *letter & 0x80 ? strlen(letter) : 1, found),
				suggestion(&miss, "--", suggest));
		}
		if (option->kind == TF_OPTION_FLAG) {
			TF_TRY(take(line, option, NULL, err));
			continue;
		}
		if (letter[1])
			value = letter + 1;
		else
			TF_TRY(next_value(line, option, &value, err));
		return take(line, option, value, err);
	}
	return TF_OK;
}

static enum tf_status take_argument(struct line *line, const char *word, struct tf_error *err)
{
	char found[SHOWN_BYTES];

	if (line->arg_count >= line->verb->args_max)
		return TF_FAIL(err, TF_E_USAGE, "unexpected argument '%s'; '%s' takes %s",
			shown(word, strlen(word), found), line->verb->name, line->verb->synopsis);
	if (line->store)
		line->args[line->arg_count] = word;
	line->arg_count++;
	return TF_OK;
}

static enum tf_status walk(struct line *line, struct tf_error *err)
{
	bool only_arguments = false;

	while (line->next < line->argc && !line->help) {
		const char *word = line->argv[line->next++];

		if (only_arguments || word[0] != '-' || !word[1])
			TF_TRY(take_argument(line, word, err));
		else if (word[1] != '-')
			TF_TRY(parse_short(line, word + 1, err));
		else if (word[2])
			TF_TRY(parse_long(line, word + 2, err));
		else
			only_arguments = true;
	}
	if (!line->help && line->arg_count < line->verb->args_min)
		return TF_FAIL(err, TF_E_USAGE, "found %d of %d arguments; '%s' takes %s", line->arg_count,
			line->verb->args_min, line->verb->name, line->verb->synopsis);
	return TF_OK;
}

enum tf_status tf_options_parse(const struct tf_verb *verb, int argc, char **argv, void *options,
	const char **out_args, int *out_arg_count, int *out_help, struct tf_error *err)
{
	struct line check = {.verb = verb, .argc = argc, .argv = argv};
	struct line store = check;

	store.store = true;
	store.options = options;
	store.args = out_args;
	TF_TRY(walk(&check, err));
	*out_help = check.help;
	if (check.help)
		return TF_OK;
	TF_TRY(walk(&store, err));
	*out_arg_count = store.arg_count;
	return TF_OK;
}

/* "export, tune, ..." of all verbs, cut where it does not fit. */
static void list_verbs(const struct tf_tool *tool, char *out, size_t bytes)
{
	size_t used = 0;

	out[0] = '\0';
	for (const struct tf_verb *verb = tool->verbs; verb->name && used < bytes; verb++)
		used += (size_t)snprintf(out + used, bytes - used, "%s%s", used ? ", " : "", verb->name);
}

const struct tf_verb *tf_options_find_verb(
	const struct tf_tool *tool, const char *name, struct tf_error *err)
{
	struct tf_near_miss miss = {.word = name ? name : "", .word_length = name ? strlen(name) : 0};
	char found[SHOWN_BYTES], suggest[SUGGEST_BYTES], verbs[TF_ERROR_TEXT_BYTES / 2];

	for (const struct tf_verb *verb = tool->verbs; name && verb->name; verb++) {
		if (!strcmp(verb->name, name))
			return verb;
		tf_near_miss_offer(&miss, verb->name, strlen(verb->name));
	}
	list_verbs(tool, verbs, sizeof(verbs));
	if (!name)
		(void)TF_FAIL(err, TF_E_USAGE, "no verb given; one of %s is needed", verbs);
	else
		(void)TF_FAIL(err, TF_E_USAGE, "unknown verb '%s'%s the verbs are %s",
			shown(name, miss.word_length, found), miss.best ? suggestion(&miss, "", suggest) : ";",
			verbs);
	return NULL;
}
