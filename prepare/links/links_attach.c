/* SPDX-License-Identifier: Apache-2.0 */
/* A clock for the rank's thread, and rows for the program's identity. */
#include "prepare/links/links_attach.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "prepare/links/link_model.h"

#define PEER (TF_DEVICE_PEER_WRITE | TF_DEVICE_PEER_READ | TF_DEVICE_PEER_ATOMIC)

enum tf_status tf_links_attach(const struct tf_links *links, uint32_t rank, uint32_t world,
	struct tf_device_properties *properties, struct tf_link_clock **out, struct tf_error *err)
{
	if (strcmp(properties->kind, "host") != 0)
		return TF_FAIL(err, TF_E_USAGE, "links are emulated on the host device, not on '%s'",
			properties->kind);
	TF_TRY(tf_link_clock_create(links, rank, world, out, err));
	tf_virtual_clock_attach(tf_link_clock_virtual(*out));
	properties->capabilities &= ~(uint32_t)PEER | tf_links_capabilities(links, world);
	return TF_OK;
}

void tf_links_detach(struct tf_link_clock *clock)
{
	if (!clock)
		return;
	tf_virtual_clock_attach(NULL);
	tf_link_clock_destroy(clock);
}

static enum tf_status check_writers(
	const struct tf_links *links, const struct tf_program *program, struct tf_error *err)
{
	for (uint32_t i = 0; i < program->candidate_count; i++) {
		const struct tf_group_candidate *entry = &program->candidates[i];

		if (!tf_link_model_knows(entry->candidate.writer))
			return TF_FAIL(err, TF_E_UNSUPPORTED,
				"group '%s': the links '%s' cannot be emulated for writer '%s'",
				program->groups[entry->group].name, links->name,
				tf_writer_name(entry->candidate.writer));
	}
	return TF_OK;
}

enum tf_status tf_links_describe(
	const struct tf_links *links, struct tf_program *program, struct tf_error *err)
{
	const char *machine = tf_program_identity(program, "topology.signature");
	char text[256], hex[TF_DIGEST_HEX_BYTES];

	TF_TRY(check_writers(links, program, err));
	snprintf(text, sizeof(text), "%s;emulated=%s", machine ? machine : "", links->name);
	TF_TRY(tf_program_set_identity(program, "topology.signature", text, err));
	tf_hex(links->digest, sizeof(links->digest), hex);
	TF_TRY(tf_program_set_identity(program, "links", links->name, err));
	TF_TRY(tf_program_set_identity(program, "links.sha256", hex, err));
	snprintf(text, sizeof(text), "%" PRIu64, links->seed);
	return tf_program_set_identity(program, "links.seed", text, err);
}
