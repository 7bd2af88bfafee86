/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which words of a launch's arguments are addresses, found without a word from whoever issued it:
 * the same launch captured at two bases of the window differs in its addresses alone, and there by
 * the distance of the bases. A third capture proves it.
 */
#ifndef TF_PREPARE_CAPTURE_ADDRESS_WORDS_H
#define TF_PREPARE_CAPTURE_ADDRESS_WORDS_H

#include "catalog/program.h"
#include "runtime/graph/locate.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_CAPTURE_BASES 3

/* One launch, captured once at each of three bases; all borrowed. */
struct tf_address_case {
	const struct tf_kernel_param *params; /* (param_count), rising */
	uint32_t param_count;
	uint32_t args_bytes;
	struct tf_window_view windows[TF_CAPTURE_BASES]; /* equal but for the base */
	const uint8_t *args[TF_CAPTURE_BASES];           /* (args_bytes) each */
};

/*
 * Sets is_address[i], (args_bytes / 8), to whether the word at byte 8 * i is an address, by the
 * first two captures. TF_E_INVALID, naming argument, byte and both values: bytes that differ
 * otherwise, an address that is not aligned or cut short, and an address in one of the windows that
 * is the same in both captures.
 */
TF_WARN_UNUSED enum tf_status tf_address_words_find(
	const struct tf_address_case *launch, uint8_t *is_address, struct tf_error *err);

/*
 * Whether the first capture, its addresses moved to the third base, is the third capture.
 * TF_E_INVALID names the first argument that differs, with both values.
 */
TF_WARN_UNUSED enum tf_status tf_address_words_prove(
	const struct tf_address_case *launch, const uint8_t *is_address, struct tf_error *err);

/* "argument 2 (byte 16)": which argument holds a byte; returns `out`. */
#define TF_ARGUMENT_TEXT_BYTES 48
const char *tf_argument_text(const struct tf_kernel_param *params, uint32_t param_count,
	uint32_t byte, char out[TF_ARGUMENT_TEXT_BYTES]);

#ifdef __cplusplus
}
#endif
#endif
