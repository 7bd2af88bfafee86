/* SPDX-License-Identifier: Apache-2.0 */
/* Rates and times of a links file, with their units in the text: "2.7GB/s", "730ns", "1.30us". */
#ifndef TF_PREPARE_LINKS_LINKS_UNIT_H
#define TF_PREPARE_LINKS_LINKS_UNIT_H

#include "ladders/yaml_tree.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_LINKS_RATE_HINT "0.001GB/s to 100000GB/s, at most three decimals ('2.7GB/s')"
#define TF_LINKS_TIME_HINT "0ns to 1000000000ns, or us, at most three decimals ('730ns', '1.30us')"

/* *out in decimal gigabytes a second; TF_E_INVALID: the hint of the path, which is as above. */
TF_WARN_UNUSED enum tf_status tf_links_rate(const struct tf_yaml *yaml, const char *path,
	const char *text, double *out, struct tf_error *err);
/* *out in ns. */
TF_WARN_UNUSED enum tf_status tf_links_time(const struct tf_yaml *yaml, const char *path,
	const char *text, double *out, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
