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

static int is_foreign(const struct tf_program *program, uint32_t peer, uint64_t off)
{
	return peer && off >= program->layout.exchange_off;
}

static enum tf_status check_graph(
	const struct tf_program *program, uint32_t index, struct tf_error *err)
{
	const struct tf_graph *graph = &program->graphs[index];

	for (uint32_t i = 0; i < graph->node_count; i++) {
		const struct tf_node *node = &graph->nodes[i];

		if (node->kind == TF_NODE_KERNEL)
			continue;
		if (is_foreign(program, node->to_peer, node->to_off) ||
			is_foreign(program, node->from_peer, node->from_off))
			return TF_FAIL(err, TF_E_INVALID,
				"graph %u: node %u names what is a peer's own, in a package without peer access",
				index, i);
	}
	return TF_OK;
}

enum tf_status tf_peer_access_check(const struct tf_program *program, struct tf_error *err)
{
	for (uint32_t i = 0; i < program->launch_count; i++) {
		const struct tf_launch *launch = &program->launches[i];

		for (uint32_t w = 0; w < launch->words_count; w++) {
			const struct tf_launch_word *word = &program->launch_words[launch->words_first + w];

			if (word->kind == TF_WORD_ADDRESS && is_foreign(program, word->peer, word->segment_off))
				return TF_FAIL(err, TF_E_INVALID,
					"launch %u names what is a peer's own, in a package without peer access", i);
		}
	}
	for (uint32_t i = 0; i < program->graph_count; i++)
		TF_TRY(check_graph(program, i, err));
	return TF_OK;
}
