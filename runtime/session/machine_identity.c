/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1. No key names one machine: no UUID, path, host name, ordinal, clock or CPU model.
 * 2. Every key that tf_identity_describe sets is compared; keys it does not set are information.
 *    So what needs no peer access fits where there is some (peer_access.h), not the other way.
 */
#include "runtime/session/machine_identity.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "runtime/session/peer_access.h"
#include "runtime/topology/signature_parse.h"

/*
 * Host sums are in FP32 over ranks in order with one rounding; a package of another class would
 * give other bytes.
 */
#define NUMERICS_CLASS "fp32-rank-order-round-once"

static enum tf_status set_uint(
	struct tf_program *program, const char *key, uint64_t value, struct tf_error *err)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return tf_program_set_identity(program, key, text, err);
}

/*
 * The host device of every machine of an architecture is alike. How GPUs are joined is not known to
 * who opens one of them: tfprep puts the machine's own signature here, and tfrun compares it before
 * ranks start (runtime/topology/machine_links.h).
 */
static enum tf_status set_signature(
	struct tf_program *program, const struct tf_device_properties *properties, struct tf_error *err)
{
	struct utsname names;
	char text[160];

	if (uname(&names))
		return TF_FAIL_ERRNO(err, "cannot ask for the machine's architecture");
	snprintf(text, sizeof(text), "%s:%s", properties->kind, names.machine);
	return tf_program_set_identity(program, "topology.signature", text, err);
}

enum tf_status tf_identity_describe(struct tf_program *program,
	const struct tf_device_properties *properties, uint32_t world, struct tf_error *err)
{
	int is_host =
		!strcmp(properties->kind, "host"); /* hosts serve one another whatever their size */
	uint8_t digest[TF_DIGEST_BYTES];
	char hex[TF_DIGEST_HEX_BYTES];

	tf_host_module_digest(digest);
	tf_hex(digest, sizeof(digest), hex);
	TF_TRY(tf_program_set_identity(program, "abi", hex, err));
	TF_TRY(tf_program_set_identity(program, "device.kind", properties->kind, err));
	TF_TRY(tf_program_set_identity(program, "device.model", properties->model, err));
	TF_TRY(set_uint(program, "device.compute_capability", properties->compute_capability, err));
	TF_TRY(set_uint(program, "device.sm_count", is_host ? 0 : properties->sm_count, err));
	TF_TRY(set_uint(program, "device.memory_bytes", is_host ? 0 : properties->memory_bytes, err));
	TF_TRY(tf_program_set_identity(program, "numerics", NUMERICS_CLASS, err));
	TF_TRY(set_signature(program, properties, err));
	if (!tf_peer_access_is_offered(properties))
		TF_TRY(tf_program_set_identity(program, TF_PEER_ACCESS_KEY, TF_PEER_ACCESS_OFF, err));
	return set_uint(program, "world", world, err);
}

/*
 * A signature that ends in ";emulated=NAME" is that of the machine before it: emulated links were
 * a matter of tuning, and the package runs without them. Of one that tells how GPUs are joined only
 * that it is of GPUs is seen here.
 */
static int fits(const char *key, const char *wanted, const char *value)
{
	size_t bytes = strlen(value);

	if (!strcmp(wanted, value))
		return 1;
	if (strcmp(key, "topology.signature") != 0)
		return 0;
	if (tf_signature_is_of_gpus(wanted))
		return strncmp(value, "host:", 5) != 0;
	return !strncmp(wanted, value, bytes) && !strncmp(wanted + bytes, ";emulated=", 10);
}

enum tf_status tf_identity_compare(const struct tf_program *program,
	const struct tf_device_properties *properties, uint32_t world, struct tf_error *err)
{
	struct tf_program machine = {0};
	char misfits[TF_ERROR_TEXT_BYTES] = "";
	size_t used = 0;
	enum tf_status status = tf_identity_describe(&machine, properties, world, err);

	for (uint32_t i = 0; status == TF_OK && i < machine.identity_count; i++) {
		const char *key = machine.identity[i].key, *value = machine.identity[i].value;
		const char *wanted = tf_program_identity(program, key);

		if (wanted && fits(key, wanted, value))
			continue;
		if (!wanted && !strcmp(key, TF_PEER_ACCESS_KEY))
			wanted = "on"; /* what a program without the row is for */
		if (used < sizeof(misfits))
			used += (size_t)snprintf(misfits + used, sizeof(misfits) - used,
				"%s%s: package '%s', machine '%s'", used ? "; " : "", key, wanted ? wanted : "",
				value);
	}
	tf_program_fini(&machine);
	TF_TRY(status);
	if (used)
		return TF_FAIL(err, TF_E_MISFIT, "the package does not fit this machine: %s", misfits);
	return TF_OK;
}
