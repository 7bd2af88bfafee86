/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collective operations. Rank 0's answer to an exchange, the same for everyone, is a table of
 * `world` lengths (4 bytes each) and the records behind each other; rank 0 reads its own answer
 * as the others do.
 */
#include "runtime/link/link.h"
#include "runtime/link/star.h"

#include <string.h>

/* A record inside an answer. */
struct view {
	const uint8_t *data;
	size_t bytes;
};

/* This rank alone has the trouble in `own`. */
static enum tf_status fail_own(
	struct tf_link *link, const struct tf_error *own, struct tf_error *err)
{
	return tf_star_fail(link, own, TF_STAR_OWN, 0, err);
}

static enum tf_status check_size(struct tf_link *link, size_t bytes, struct tf_error *err)
{
	struct tf_error own;

	if (bytes <= TF_LINK_RECORD_MAX)
		return TF_OK;
	TF_FAIL(&own, TF_E_LIMIT, "record has %zu bytes, the limit is %u", bytes, TF_LINK_RECORD_MAX);
	return fail_own(link, &own, err);
}

static const struct tf_bytes *record_at_root(
	struct tf_link *link, uint32_t rank, struct tf_bytes *mine)
{
	return rank == 0 ? mine : &link->peers[rank].in.payload;
}

static enum tf_status put_answer_together(
	struct tf_link *link, const void *mine, size_t bytes, struct tf_error *err)
{
	struct tf_bytes own = {.data = (void *)(uintptr_t)mine, .size = bytes};
	struct tf_bytes *answer = &link->answer;
	void *table;

	answer->size = 0;
	TF_TRY(tf_bytes_extend(answer, 4 * (size_t)link->world, &table, err));
	for (uint32_t r = 0; r < link->world; r++)
		tf_put_le32((uint8_t *)table + 4 * r, (uint32_t)record_at_root(link, r, &own)->size);
	for (uint32_t r = 0; r < link->world; r++) {
		const struct tf_bytes *record = record_at_root(link, r, &own);

		TF_TRY(tf_bytes_append(answer, record->data, record->size, err));
	}
	return TF_OK;
}

/* Rank 0 sends the same answer to everyone. */
static enum tf_status answer_all(struct tf_link *link, uint16_t type, const void *payload,
	size_t bytes, int64_t deadline_ns, struct tf_error *err)
{
	for (uint32_t r = 1; r < link->world; r++)
		tf_star_answer(link, r, type, payload, bytes, NULL, 0);
	return tf_star_flush(link, type, deadline_ns, err);
}

static enum tf_status exchange_at_root(struct tf_link *link, const void *mine, size_t bytes,
	struct view *out_answer, int64_t deadline_ns, struct tf_error *err)
{
	struct tf_error own;

	TF_TRY(tf_star_gather(link, TF_FRAME_EXCHANGE, deadline_ns, err));
	if (put_answer_together(link, mine, bytes, &own) != TF_OK)
		return fail_own(link, &own, err);
	TF_TRY(answer_all(
		link, TF_FRAME_EXCHANGE, link->answer.data, link->answer.size, deadline_ns, err));
	*out_answer = (struct view){link->answer.data, link->answer.size};
	return TF_OK;
}

/* Splits an answer into one view a rank. */
static enum tf_status split_answer(
	const struct view *answer, uint32_t world, struct view *out_records, struct tf_error *err)
{
	size_t off = 4 * (size_t)world;

	for (uint32_t r = 0; r < world; r++) {
		uint32_t bytes;

		if (answer->bytes < 4 * (size_t)world)
			break;
		bytes = tf_get_le32(answer->data + 4 * r);
		if (bytes > answer->bytes - off)
			return TF_FAIL(err, TF_E_INVALID,
				"rank 0 sent a bad frame: record of rank %u has %u bytes, %zu are left", r, bytes,
				answer->bytes - off);
		out_records[r] = (struct view){answer->data + off, bytes};
		off += bytes;
	}
	if (off != answer->bytes)
		return TF_FAIL(err, TF_E_INVALID,
			"rank 0 sent a bad frame: answer of %zu bytes, its table says %zu", answer->bytes, off);
	return TF_OK;
}

/* One exchange; the views stay until tf_star_done. */
static enum tf_status gather_views(struct tf_link *link, const void *mine, size_t bytes,
	struct view *out_records, int64_t deadline_ns, struct tf_error *err)
{
	struct view answer = {0};
	struct tf_error fault;

	TF_TRY(tf_star_begin(link, err));
	TF_TRY(check_size(link, bytes, err));
	if (link->rank == 0) {
		TF_TRY(exchange_at_root(link, mine, bytes, &answer, deadline_ns, err));
	} else {
		TF_TRY(tf_star_ask(link, TF_FRAME_EXCHANGE, mine, bytes, -1, deadline_ns, err));
		answer = (struct view){link->peers[0].in.payload.data, link->peers[0].in.payload.size};
	}
	if (split_answer(&answer, link->world, out_records, &fault) != TF_OK)
		return tf_star_fail(link, &fault, TF_STAR_COMMON, 0, err);
	return TF_OK;
}

enum tf_status tf_link_exchange(struct tf_link *link, const void *mine, size_t bytes,
	struct tf_bytes *out_records, int64_t deadline_ns, struct tf_error *err)
{
	struct tf_bytes fresh[TF_WORLD_MAX] = {0};
	struct view views[TF_WORLD_MAX];
	enum tf_status status = TF_OK;
	struct tf_error own;

	TF_TRY(gather_views(link, mine, bytes, views, deadline_ns, err));
	for (uint32_t r = 0; r < link->world && status == TF_OK; r++)
		if (views[r].bytes)
			status = tf_bytes_append(&fresh[r], views[r].data, views[r].bytes, &own);
	tf_star_done(link);
	for (uint32_t r = 0; r < link->world; r++) {
		struct tf_bytes *drop = status == TF_OK ? &out_records[r] : &fresh[r];

		tf_bytes_fini(drop);
		if (status == TF_OK)
			*drop = fresh[r];
	}
	return status == TF_OK ? TF_OK : fail_own(link, &own, err);
}

enum tf_status tf_link_exchange_fixed(struct tf_link *link, const void *mine, size_t bytes,
	void *out_records, int64_t deadline_ns, struct tf_error *err)
{
	struct view views[TF_WORLD_MAX];
	enum tf_status status = TF_OK;

	TF_TRY(gather_views(link, mine, bytes, views, deadline_ns, err));
	for (uint32_t r = 0; r < link->world && status == TF_OK; r++) {
		struct tf_error fault;

		if (views[r].bytes == bytes)
			continue;
		TF_FAIL(&fault, TF_E_MISMATCH, "record of rank %u has %zu bytes, that of rank %u has %zu",
			r, views[r].bytes, link->rank, bytes);
		status = tf_star_fail(link, &fault, TF_STAR_COMMON, 0, err);
	}
	for (uint32_t r = 0; r < link->world && status == TF_OK && bytes; r++)
		memcpy((uint8_t *)out_records + r * bytes, views[r].data, bytes);
	tf_star_done(link);
	return status;
}

static enum tf_status broadcast_from_root(
	struct tf_link *link, const void *data, size_t bytes, int64_t deadline_ns, struct tf_error *err)
{
	TF_TRY(check_size(link, bytes, err));
	TF_TRY(tf_star_gather(link, TF_FRAME_BROADCAST, deadline_ns, err));
	return answer_all(link, TF_FRAME_BROADCAST, data, bytes, deadline_ns, err);
}

enum tf_status tf_link_broadcast(struct tf_link *link, const void *data, size_t bytes,
	struct tf_bytes *out_data, int64_t deadline_ns, struct tf_error *err)
{
	const struct tf_bytes *came = &link->peers[0].in.payload;
	struct tf_bytes fresh = {0};
	enum tf_status status = TF_OK;
	struct tf_error own;

	TF_TRY(tf_star_begin(link, err));
	if (link->rank == 0) {
		TF_TRY(broadcast_from_root(link, data, bytes, deadline_ns, err));
	} else {
		TF_TRY(tf_star_ask(link, TF_FRAME_BROADCAST, NULL, 0, -1, deadline_ns, err));
		data = came->data;
		bytes = came->size;
	}
	if (out_data && bytes)
		status = tf_bytes_append(&fresh, data, bytes, &own);
	tf_star_done(link);
	if (status != TF_OK)
		return fail_own(link, &own, err);
	if (out_data) {
		tf_bytes_fini(out_data);
		*out_data = fresh;
	}
	return TF_OK;
}

enum tf_status tf_link_barrier(struct tf_link *link, int64_t deadline_ns, struct tf_error *err)
{
	TF_TRY(tf_star_begin(link, err));
	if (link->rank == 0) {
		TF_TRY(tf_star_gather(link, TF_FRAME_BARRIER, deadline_ns, err));
		TF_TRY(answer_all(link, TF_FRAME_BARRIER, NULL, 0, deadline_ns, err));
	} else {
		TF_TRY(tf_star_ask(link, TF_FRAME_BARRIER, NULL, 0, -1, deadline_ns, err));
	}
	tf_star_done(link);
	return TF_OK;
}
