/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Agreements. Every rank receives every rank's answer and judges by itself; the same answers give
 * the same verdict, so no second round is needed and a verdict leaves the link usable.
 */
#include "runtime/link/link.h"
#include "runtime/link/star.h"

#include <stdio.h>
#include <string.h>

#define SHOWN_BYTES 8 /* of a value that differs: enough to tell digests apart by eye */

static int same(const struct tf_bytes *a, const struct tf_bytes *b)
{
	return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

/* The ranks whose value is that of `rank`, as bits. */
static uint32_t ranks_with(const struct tf_bytes *values, uint32_t world, uint32_t rank)
{
	uint32_t ranks = 0;

	for (uint32_t r = 0; r < world; r++)
		if (same(&values[r], &values[rank]))
			ranks |= UINT32_C(1) << r;
	return ranks;
}

/* The ranks of the most frequent value; among equals that of the lowest rank. */
static uint32_t majority(const struct tf_bytes *values, uint32_t world)
{
	uint32_t best = 0;

	for (uint32_t r = 0; r < world; r++) {
		uint32_t ranks = ranks_with(values, world, r);

		if (__builtin_popcount(ranks) > __builtin_popcount(best))
			best = ranks;
	}
	return best;
}

/* "rank 2 has 0011223344556677", "ranks 0 and 1 have 8899" */
static void describe(uint32_t ranks, const struct tf_bytes *value, char *out, size_t size)
{
	char list[TF_STAR_LIST_BYTES];
	char hex[2 * SHOWN_BYTES + 1];
	size_t shown = value->size < SHOWN_BYTES ? value->size : SHOWN_BYTES;

	tf_hex(value->data, shown, hex);
	snprintf(out, size, "%s %s %s%s", tf_star_rank_list(ranks, list, sizeof(list)),
		ranks & (ranks - 1) ? "have" : "has", hex, value->size > shown ? "..." : "");
}

static enum tf_status name_the_odd_ones(const char *what, const struct tf_bytes *values,
	uint32_t world, uint32_t most, struct tf_error *err)
{
	uint32_t odd = ((UINT32_C(1) << world) - 1) & ~most;
	char text[TF_ERROR_TEXT_BYTES] = "";
	char one[TF_STAR_LIST_BYTES + 64];
	size_t used = 0;

	while (odd) {
		uint32_t first = (uint32_t)__builtin_ctz(odd);
		uint32_t ranks = ranks_with(values, world, first);

		describe(ranks, &values[first], one, sizeof(one));
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s, ", one);
		odd &= ~ranks;
	}
	describe(most, &values[__builtin_ctz(most)], one, sizeof(one));
	return TF_FAIL(err, TF_E_MISMATCH, "'%s' differs between ranks: %s%s", what, text, one);
}

enum tf_status tf_link_agree_equal(struct tf_link *link, const char *what, const void *value,
	size_t bytes, int64_t deadline_ns, struct tf_error *err)
{
	struct tf_bytes values[TF_WORLD_MAX] = {0};
	enum tf_status status;
	uint32_t most;

	if (bytes < 1 || bytes > TF_LINK_DIGEST_MAX)
		return TF_FAIL(err, TF_E_USAGE,
			"value of '%s' has %zu bytes, between 1 and %d can be compared", what, bytes,
			TF_LINK_DIGEST_MAX);
	TF_TRY(tf_link_exchange(link, value, bytes, values, deadline_ns, err));
	most = majority(values, link->world);
	status = TF_OK;
	if (most != (UINT32_C(1) << link->world) - 1)
		status = name_the_odd_ones(what, values, link->world, most, err);
	for (uint32_t r = 0; r < link->world; r++)
		tf_bytes_fini(&values[r]);
	return status;
}

/* The verdict of the lowest rank that failed, TF_OK if none did. */
static enum tf_status first_failure(
	struct tf_link *link, const struct tf_bytes *answers, struct tf_error *err)
{
	for (uint32_t r = 0; r < link->world; r++) {
		struct tf_error note;
		struct tf_error fault;

		if (answers[r].size == 0)
			continue;
		if (tf_frame_note_decode(answers[r].data, answers[r].size, &note, &fault) != TF_OK) {
			tf_error_prefix(&fault, "rank %u sent a bad frame", r);
			return tf_star_fail(link, &fault, TF_STAR_COMMON, 0, err);
		}
		tf_error_prefix(&note, "rank %u", r);
		if (err)
			*err = note;
		return note.status;
	}
	return TF_OK;
}

enum tf_status tf_link_agree_ok(
	struct tf_link *link, const struct tf_error *mine, int64_t deadline_ns, struct tf_error *err)
{
	struct tf_bytes answers[TF_WORLD_MAX] = {0};
	uint8_t note[TF_FRAME_NOTE_MAX];
	enum tf_status status;
	size_t bytes = 0;

	if (mine && mine->status != TF_OK)
		bytes = tf_frame_note_encode(mine->status, mine->text, note);
	TF_TRY(tf_link_exchange(link, note, bytes, answers, deadline_ns, err));
	status = first_failure(link, answers, err);
	for (uint32_t r = 0; r < link->world; r++)
		tf_bytes_fini(&answers[r]);
	return status;
}
