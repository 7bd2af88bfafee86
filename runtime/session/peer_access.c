/* SPDX-License-Identifier: Apache-2.0 */
/* What a program says of peer access, and where its layout divides a segment. */
#include "runtime/session/peer_access.h"

#include <string.h>

#define PEER_CAPABILITIES (TF_DEVICE_PEER_WRITE | TF_DEVICE_PEER_READ | TF_DEVICE_PEER_ATOMIC)

int tf_peer_access_is_off(const struct tf_program *program)
{
	const char *value = tf_program_identity(program, TF_PEER_ACCESS_KEY);

	return value && !strcmp(value, TF_PEER_ACCESS_OFF);
}

int tf_peer_access_is_offered(const struct tf_device_properties *properties)
{
	return (properties->capabilities & TF_DEVICE_PEER_WRITE) != 0;
}

void tf_peer_access_withdraw(struct tf_device_properties *properties)
{
	properties->capabilities &= ~(uint32_t)PEER_CAPABILITIES;
}

enum tf_status tf_peer_access_shared_bytes(
	const struct tf_layout *layout, uint64_t granularity_bytes, uint64_t *out, struct tf_error *err)
{
	uint64_t shared = layout->exchange_off;

	if (!shared || shared % granularity_bytes || shared >= layout->segment_bytes)
		return TF_FAIL(err, TF_E_INVALID,
			"layout: without peer access exchange_off must be a multiple of %llu within the "
			"segment of %llu bytes, not %llu",
			(unsigned long long)granularity_bytes, (unsigned long long)layout->segment_bytes,
			(unsigned long long)shared);
	if (layout->control_off >= shared || layout->flag_off >= shared ||
		layout->staging_off >= shared || (layout->startup_bytes && layout->startup_off >= shared) ||
		(layout->private_bytes && layout->private_off < shared))
		return TF_FAIL(err, TF_E_INVALID,
			"layout: without peer access control, flags, staging and startup must lie before "
			"exchange_off, %llu, and what is private behind it",
			(unsigned long long)shared);
	*out = shared;
	return TF_OK;
}
