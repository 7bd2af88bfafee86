/* SPDX-License-Identifier: Apache-2.0 */
/* Lists are read word by word; a word is quoted in the message that refuses it. */
#include "prepare/bench/bench_sizes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ladders/ladder.h"

#define SHOWN_MAX 32 /* characters of a word in a message */

struct sizes {
	uint64_t bytes[TF_BENCH_SIZES_MAX];
	uint32_t count;
};

static enum tf_status fail_size(const char *word, size_t length, struct tf_error *err)
{
	return TF_FAIL(err, TF_E_USAGE,
		"size '%.*s' is not a number of bytes such as 512, 8KiB, 1MiB or 8KiB..1MiB",
		(int)(length < SHOWN_MAX ? length : SHOWN_MAX), word);
}

/* What follows the digits: bytes a unit, or 0. */
static uint64_t unit_of(const char *text, size_t length)
{
	static const struct {
		const char *name;
		uint64_t bytes;
	} units[] = {{"", 1}, {"K", 1024}, {"KiB", 1024}, {"M", 1048576}, {"MiB", 1048576}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strlen(units[i].name) == length && !strncmp(units[i].name, text, length))
			return units[i].bytes;
	}
	return 0;
}

static enum tf_status parse_size(
	const char *word, size_t length, enum tf_dtype dtype, uint64_t *out, struct tf_error *err)
{
	size_t digits = strspn(word, "0123456789");
	uint64_t number, unit;

	if (!digits || digits > 9 || digits > length)
		return fail_size(word, length, err);
	unit = unit_of(word + digits, length - digits);
	if (!unit)
		return fail_size(word, length, err);
	number = strtoull(word, NULL, 10) * unit;
	if (!number || number > TF_LADDER_BYTES_MAX || number % tf_dtype_bytes(dtype))
		return TF_FAIL(err, TF_E_USAGE,
			"size '%.*s' is %" PRIu64 " bytes, not a multiple of %zu from %zu to %" PRIu64,
			(int)length, word, number, tf_dtype_bytes(dtype), tf_dtype_bytes(dtype),
			TF_LADDER_BYTES_MAX);
	*out = number;
	return TF_OK;
}

static enum tf_status add_size(struct sizes *sizes, uint64_t bytes, struct tf_error *err)
{
	for (uint32_t i = 0; i < sizes->count; i++) {
		if (sizes->bytes[i] == bytes)
			return TF_FAIL(err, TF_E_USAGE, "size %" PRIu64 " is given twice", bytes);
	}
	if (sizes->count == TF_BENCH_SIZES_MAX)
		return TF_FAIL(err, TF_E_USAGE, "more than %d sizes", TF_BENCH_SIZES_MAX);
	sizes->bytes[sizes->count++] = bytes;
	return TF_OK;
}

/* "8KiB" or "8KiB..1MiB", `length` characters. */
static enum tf_status parse_word(
	const char *word, size_t length, enum tf_dtype dtype, struct sizes *sizes, struct tf_error *err)
{
	const char *dots = memmem(word, length, "..", 2);
	size_t first_length = dots ? (size_t)(dots - word) : length;
	uint64_t first, last;

	TF_TRY(parse_size(word, first_length, dtype, &first, err));
	last = first;
	if (dots)
		TF_TRY(parse_size(dots + 2, length - first_length - 2, dtype, &last, err));
	if (last < first)
		return TF_FAIL(err, TF_E_USAGE, "sizes '%.*s' do not rise", (int)length, word);
	for (uint64_t bytes = first; bytes <= last; bytes *= 2)
		TF_TRY(add_size(sizes, bytes, err));
	return TF_OK;
}

static enum tf_status parse_sizes(
	const char *list, enum tf_dtype dtype, struct sizes *sizes, struct tf_error *err)
{
	for (;;) {
		size_t length = strcspn(list, ",");

		TF_TRY(parse_word(list, length, dtype, sizes, err));
		if (!list[length])
			return TF_OK;
		list += length + 1;
	}
}

static enum tf_status parse_op(
	const char *word, size_t length, enum tf_op *out, struct tf_error *err)
{
	for (int op = 0; op < TF_OP_COUNT; op++) {
		const char *name = tf_op_name((enum tf_op)op);

		if (strlen(name) == length && !strncmp(name, word, length)) {
			*out = (enum tf_op)op;
			return TF_OK;
		}
	}
	return TF_FAIL(err, TF_E_USAGE,
		"operation '%.*s' is unknown, allowed: all_reduce, all_gather, reduce_scatter",
		(int)(length < SHOWN_MAX ? length : SHOWN_MAX), word);
}

static enum tf_status add_op(enum tf_op op, const struct sizes *sizes,
	struct tf_bench_options *options, struct tf_error *err)
{
	for (uint32_t i = 0; i < options->case_count; i++) {
		if (options->cases[i].op == op)
			return TF_FAIL(err, TF_E_USAGE, "operation '%s' is given twice", tf_op_name(op));
	}
	for (uint32_t i = 0; i < sizes->count; i++)
		options->cases[options->case_count++] =
			(struct tf_bench_case){.op = op, .bytes = sizes->bytes[i]};
	return TF_OK;
}

enum tf_status tf_bench_cases(
	const char *ops, const char *sizes_list, struct tf_bench_options *options, struct tf_error *err)
{
	struct sizes sizes = {.count = 0};

	TF_TRY(parse_sizes(sizes_list, options->dtype, &sizes, err));
	options->case_count = 0;
	for (;;) {
		size_t length = strcspn(ops, ",");
		enum tf_op op = TF_OP_COUNT;

		TF_TRY(parse_op(ops, length, &op, err));
		TF_TRY(add_op(op, &sizes, options, err));
		if (!ops[length])
			return TF_OK;
		ops += length + 1;
	}
}
