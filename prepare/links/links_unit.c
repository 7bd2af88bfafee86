/* SPDX-License-Identifier: Apache-2.0 */
/* Decimals are read as thousandths, so a text gives the same number everywhere. */
#include "prepare/links/links_unit.h"

#include <string.h>

#include "ladders/yaml_value.h"
#include "prepare/links/links.h"

#define DIGITS_MAX 10 /* before the point: more is beyond every range here */

/* Digits with up to three decimals at *text, in thousandths; moves it behind them. 0: there are
 * none, or too many. */
static int read_thousandths(const char **text, uint64_t *out)
{
	const char *p = *text;
	uint64_t value = 0;
	int digits = 0, decimals = 0;

	if (p[0] == '0' && p[1] >= '0' && p[1] <= '9')
		return 0;
	for (; *p >= '0' && *p <= '9'; p++, digits++)
		value = digits < DIGITS_MAX ? 10 * value + (uint64_t)(*p - '0') : value;
	if (!digits || digits > DIGITS_MAX)
		return 0;
	if (*p == '.') {
		for (p++; *p >= '0' && *p <= '9'; p++, decimals++)
			value = decimals < 3 ? 10 * value + (uint64_t)(*p - '0') : value;
		if (!decimals || decimals > 3)
			return 0;
	}
	for (; decimals < 3; decimals++)
		value *= 10;
	*text = p;
	*out = value;
	return 1;
}

enum tf_status tf_links_rate(const struct tf_yaml *yaml, const char *path, const char *text,
	double *out, struct tf_error *err)
{
	uint64_t value;

	if (!read_thousandths(&text, &value) || strcmp(text, "GB/s") != 0 || value < 1 ||
		value > UINT64_C(1000) * TF_LINKS_GBPS_MAX)
		return tf_yaml_fail_value(yaml, err, path, NULL);
	*out = (double)value / 1000;
	return TF_OK;
}

enum tf_status tf_links_time(const struct tf_yaml *yaml, const char *path, const char *text,
	double *out, struct tf_error *err)
{
	uint64_t value, scale = 0;

	if (read_thousandths(&text, &value))
		scale = !strcmp(text, "us") ? 1000 : !strcmp(text, "ns") ? 1 : 0;
	if (!scale || value * scale > UINT64_C(1000) * TF_LINKS_NS_MAX)
		return tf_yaml_fail_value(yaml, err, path, NULL);
	*out = (double)(value * scale) / 1000;
	return TF_OK;
}
