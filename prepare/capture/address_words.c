/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1. A word is 8 bytes at a multiple of 8, all of it inside one argument. Every other byte must be
 *    the same in all captures.
 * 2. A word that differs is an address, or the launch is refused: there is no third reading.
 */
#include "prepare/capture/address_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint64_t load(const uint8_t *from)
{
	uint64_t value;

	memcpy(&value, from, sizeof(value));
	return value;
}

const char *tf_argument_text(const struct tf_kernel_param *params, uint32_t param_count,
	uint32_t byte, char out[TF_ARGUMENT_TEXT_BYTES])
{
	for (uint32_t i = 0; i < param_count; i++) {
		if (byte >= params[i].arg_off && byte - params[i].arg_off < params[i].bytes) {
			snprintf(out, TF_ARGUMENT_TEXT_BYTES, "argument %u (byte %u)", i, byte);
			return out;
		}
	}
	snprintf(out, TF_ARGUMENT_TEXT_BYTES, "padding (byte %u)", byte);
	return out;
}

/* The argument that holds all of [byte, byte + 8), or NULL. */
static const struct tf_kernel_param *holder(const struct tf_address_case *launch, uint32_t byte)
{
	for (uint32_t i = 0; i < launch->param_count; i++) {
		const struct tf_kernel_param *param = &launch->params[i];

		if (byte >= param->arg_off && param->bytes >= 8 &&
			byte - param->arg_off <= param->bytes - 8)
			return param;
	}
	return NULL;
}

static uint64_t distance(const struct tf_address_case *launch, int capture)
{
	return launch->windows[capture].base - launch->windows[0].base;
}

static int moves_with_the_window(const struct tf_address_case *launch, uint32_t byte)
{
	return load(launch->args[1] + byte) - load(launch->args[0] + byte) == distance(launch, 1);
}

/* Says what the bytes around the first difference look like. */
static enum tf_status refuse_difference(
	const struct tf_address_case *launch, uint32_t byte, struct tf_error *err)
{
	char text[TF_ARGUMENT_TEXT_BYTES];
	uint32_t first = byte < 8 ? 0 : byte - 7;
	uint8_t hex[2][8] = {{0}};
	uint32_t bytes = launch->args_bytes - byte < 8 ? launch->args_bytes - byte : 8;

	for (uint32_t at = first; at <= byte && at + 8 <= launch->args_bytes; at++) {
		if (at % 8 && holder(launch, at) && moves_with_the_window(launch, at))
			return TF_FAIL(err, TF_E_INVALID,
				"%s: 0x%" PRIx64 " and 0x%" PRIx64
				" are an address at a byte that is no multiple of 8, which cannot be moved",
				tf_argument_text(launch->params, launch->param_count, at, text),
				load(launch->args[0] + at), load(launch->args[1] + at));
	}
	memcpy(hex[0], launch->args[0] + byte, bytes);
	memcpy(hex[1], launch->args[1] + byte, bytes);
	return TF_FAIL(err, TF_E_INVALID,
		"%s: 0x%" PRIx64 " at base 0x%" PRIx64 " and 0x%" PRIx64 " at base 0x%" PRIx64
		" differ, but not by the distance of the bases: this is no address and no constant",
		tf_argument_text(launch->params, launch->param_count, byte, text), load(hex[0]),
		launch->windows[0].base, load(hex[1]), launch->windows[1].base);
}

/* The same in both captures, and yet in a window: it would point there wherever the window lies. */
static enum tf_status refuse_absolute(
	const struct tf_address_case *launch, uint32_t byte, struct tf_error *err)
{
	uint64_t value = load(launch->args[0] + byte);
	char text[TF_ARGUMENT_TEXT_BYTES];

	for (int i = 0; i < TF_CAPTURE_BASES; i++) {
		const struct tf_window_view *window = &launch->windows[i];

		if (value < window->base || value - window->base >= window->world * window->stride)
			continue;
		return TF_FAIL(err, TF_E_INVALID,
			"%s: 0x%" PRIx64 " is the same at bases 0x%" PRIx64 " and 0x%" PRIx64
			", but an address in the window at 0x%" PRIx64 ": it would not move with it",
			tf_argument_text(launch->params, launch->param_count, byte, text), value,
			launch->windows[0].base, launch->windows[1].base, window->base);
	}
	return TF_OK;
}

enum tf_status tf_address_words_find(
	const struct tf_address_case *launch, uint8_t *is_address, struct tf_error *err)
{
	memset(is_address, 0, launch->args_bytes / 8);
	for (uint32_t byte = 0; byte < launch->args_bytes; byte++) {
		int is_word = byte % 8 == 0 && holder(launch, byte) != NULL;

		if (is_word && load(launch->args[0] + byte) == load(launch->args[1] + byte)) {
			TF_TRY(refuse_absolute(launch, byte, err));
			byte += 7;
		} else if (is_word && moves_with_the_window(launch, byte)) {
			is_address[byte / 8] = 1;
			byte += 7;
		} else if (launch->args[0][byte] != launch->args[1][byte]) {
			return refuse_difference(launch, byte, err);
		}
	}
	return TF_OK;
}

enum tf_status tf_address_words_prove(
	const struct tf_address_case *launch, const uint8_t *is_address, struct tf_error *err)
{
	char text[TF_ARGUMENT_TEXT_BYTES];

	for (uint32_t byte = 0; byte < launch->args_bytes; byte++) {
		int is_word = byte % 8 == 0 && byte + 8 <= launch->args_bytes;
		uint64_t placed, found;

		if (!is_word || !is_address[byte / 8]) {
			if (launch->args[0][byte] == launch->args[2][byte])
				continue;
			return TF_FAIL(err, TF_E_INVALID,
				"%s: 0x%02x in the first capture, 0x%02x in the third: no address, and no constant",
				tf_argument_text(launch->params, launch->param_count, byte, text),
				launch->args[0][byte], launch->args[2][byte]);
		}
		placed = load(launch->args[0] + byte) + distance(launch, 2);
		found = load(launch->args[2] + byte);
		if (placed != found)
			return TF_FAIL(err, TF_E_INVALID,
				"%s: 0x%" PRIx64 " of the first capture would be 0x%" PRIx64 " at base 0x%" PRIx64
				", the third capture has 0x%" PRIx64,
				tf_argument_text(launch->params, launch->param_count, byte, text),
				load(launch->args[0] + byte), placed, launch->windows[2].base, found);
		byte += 7;
	}
	return TF_OK;
}
