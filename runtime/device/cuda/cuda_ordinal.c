/* SPDX-License-Identifier: Apache-2.0 */
/* Devices by what an engine calls them. */
#include "runtime/device/cuda/cuda_ordinal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define UUID_BYTES     16
#define ORDINAL_DIGITS 4 /* far above any machine, far below an overflow */

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* 32 hex digits with dashes before the 5th, 7th, 9th and 11th byte. Whether it is one. */
static int read_uuid(const char *text, uint8_t out[UUID_BYTES])
{
	if (strncmp(text, "GPU-", 4) == 0)
		text += 4;
	for (int i = 0; i < UUID_BYTES; i++) {
		int high, low;

		if ((i == 4 || i == 6 || i == 8 || i == 10) && *text++ != '-')
			return 0;
		high = hex_value(text[0]);
		low = high < 0 ? -1 : hex_value(text[1]);
		if (low < 0)
			return 0;
		out[i] = (uint8_t)(16 * high + low);
		text += 2;
	}
	return !*text;
}

enum tf_status tf_cuda_ordinal_find(const struct tf_cuda_api *api, uint32_t count,
	const char *which, uint32_t *out, struct tf_error *err)
{
	size_t digits = strspn(which, "0123456789");
	uint8_t wanted[UUID_BYTES];

	if (digits && digits <= ORDINAL_DIGITS && !which[digits]) {
		*out = (uint32_t)strtoul(which, NULL, 10);
		return TF_OK;
	}
	if (!read_uuid(which, wanted))
		return TF_FAIL(err, TF_E_USAGE,
			"'%.64s' names no CUDA device; an ordinal or 'GPU-' and a UUID do", which);
	for (uint32_t i = 0; i < count; i++) {
		CUdevice device = 0;
		CUuuid uuid;

		TF_TRY(TF_CU(api, err, cuDeviceGet(&device, (int)i)));
		TF_TRY(TF_CU(api, err, cuDeviceGetUuid(&uuid, device)));
		if (memcmp(uuid.bytes, wanted, sizeof(wanted)) == 0) {
			*out = i;
			return TF_OK;
		}
	}
	return TF_FAIL(
		err, TF_E_UNAVAILABLE, "none of the %u CUDA devices has the UUID '%.64s'", count, which);
}

enum tf_status tf_cuda_ordinal_of(const struct tf_cuda_api *api, uint32_t count, CUdevice device,
	uint32_t *out, struct tf_error *err)
{
	for (uint32_t i = 0; i < count; i++) {
		CUdevice found = 0;

		TF_TRY(TF_CU(api, err, cuDeviceGet(&found, (int)i)));
		if (found == device) {
			*out = i;
			return TF_OK;
		}
	}
	return TF_FAIL(err, TF_E_UNAVAILABLE,
		"the current context is of a device that is none of the %u the driver shows", count);
}
