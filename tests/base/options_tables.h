/* SPDX-License-Identifier: Apache-2.0 */
/* The made-up tools whose tables the option tests parse and print. */
#ifndef TF_TESTS_BASE_OPTIONS_TABLES_H
#define TF_TESTS_BASE_OPTIONS_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the options of "brew" and "cup" fill. */
struct brew {
	bool strict;
	bool json;
	uint64_t cups;
	uint64_t count;
	const char *device;
	const char *name;
	const char *output;
};

/* "pot" has the verbs "brew" and "pour"; "cup" has no verbs. */
extern const struct tf_tool tf_test_pot;
extern const struct tf_tool tf_test_cup;

#ifdef __cplusplus
}
#endif

#endif
