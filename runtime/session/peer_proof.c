/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   each rank: patterns for its peers into its own segment        (host side)
 *   all meet
 *   each device: own patterns into the peers' segments, and the peers' into its own, all at once
 *   all meet                                                      (the fence)
 *   each rank: what peers have written here, and what was read there
 *   all agree
 *
 * The region, at flag_off: four rows of PATTERN_BYTES a peer. Segments come zeroed, so a pattern
 * that is missing is seen as one that is wrong.
 *
 * Copies by the device, because kernels are not loaded yet: the addresses and the path are the
 * same, and a copy that the driver has to emulate would still have to bring the bytes.
 */
#include "runtime/session/peer_proof.h"

#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

#include "base/deadline.h"

#define PATTERN_WORDS 32
#define PATTERN_BYTES (8 * PATTERN_WORDS)

enum row {
	ROW_OFFER = 0, /* [reader]: ours, for the peer to read */
	ROW_SOURCE,    /* [reader]: ours, that our device writes to the peer */
	ROW_ARRIVAL,   /* [writer]: what the peer's device has written here */
	ROW_FETCHED,   /* [writer]: what our device has read from the peer's ROW_OFFER */
	ROW_COUNT
};

struct proof {
	const struct tf_rank_window *window;
	struct tf_device *device;
	struct tf_stream *stream;
	uint64_t area_off;
	uint64_t nonce;
	int64_t timeout_ns;
};

/* A step of splitmix64: one changed bit anywhere changes the word. */
static uint64_t mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static void make_pattern(const struct proof *proof, uint32_t writer, uint32_t reader, enum row row,
	uint64_t words[PATTERN_WORDS])
{
	uint64_t seed = mix(proof->nonce ^ mix((uint64_t)writer << 16 | reader << 8 | (uint32_t)row));

	for (uint32_t i = 0; i < PATTERN_WORDS; i++)
		words[i] = mix(seed + i) | 1; /* never what a fresh segment holds */
}

/* A pattern's place in the segment that is `peer` from ours. */
static void *place(const struct proof *proof, uint32_t peer, enum row row, uint32_t rank)
{
	uint64_t index = (uint64_t)row * TF_WORLD_MAX + rank;

	return tf_rank_window_at(proof->window, peer, proof->area_off + index * PATTERN_BYTES);
}

static uint32_t peer_rank(const struct proof *proof, uint32_t peer)
{
	return (proof->window->rank + peer) % proof->window->world;
}

static enum tf_status lay_out(const struct proof *proof, struct tf_error *err)
{
	const struct tf_device_ops *ops = proof->window->ops;
	uint64_t words[PATTERN_WORDS];

	for (uint32_t peer = 1; peer < proof->window->world; peer++) {
		for (enum row row = ROW_OFFER; row <= ROW_SOURCE; row++) {
			uint32_t reader = peer_rank(proof, peer);

			make_pattern(proof, proof->window->rank, reader, row, words);
			TF_TRY(
				ops->write(proof->device, place(proof, 0, row, reader), words, sizeof(words), err));
		}
	}
	return TF_OK;
}

static enum tf_status copy_all(const struct proof *proof, struct tf_error *err)
{
	const struct tf_device_ops *ops = proof->window->ops;
	uint32_t self = proof->window->rank;

	for (uint32_t peer = 1; peer < proof->window->world; peer++) {
		uint32_t rank = peer_rank(proof, peer);

		TF_TRY(ops->stream_copy(proof->stream, place(proof, peer, ROW_ARRIVAL, self),
			place(proof, 0, ROW_SOURCE, rank), PATTERN_BYTES, err));
		TF_TRY(ops->stream_copy(proof->stream, place(proof, 0, ROW_FETCHED, rank),
			place(proof, peer, ROW_OFFER, self), PATTERN_BYTES, err));
	}
	return ops->stream_wait(proof->stream, tf_deadline_after(proof->timeout_ns), err);
}

static enum tf_status look_at(
	const struct proof *proof, uint32_t writer, enum row row, struct tf_error *err)
{
	const char *subject = proof->window->parted ? "shared host memory" : "peer access";
	uint64_t wanted[PATTERN_WORDS], found[PATTERN_WORDS];
	uint32_t self = proof->window->rank;

	make_pattern(proof, writer, self, row == ROW_FETCHED ? ROW_OFFER : ROW_SOURCE, wanted);
	TF_TRY(proof->window->ops->read(
		proof->device, found, place(proof, 0, row, writer), sizeof(found), err));
	for (uint32_t i = 0; i < PATTERN_WORDS; i++) {
		if (found[i] == wanted[i])
			continue;
		if (row == ROW_FETCHED)
			return TF_FAIL(err, TF_E_MISFIT,
				"rank %u reads 0x%" PRIx64 " from rank %u, not 0x%" PRIx64 ": %s is not believed",
				self, found[i], writer, wanted[i], subject);
		return TF_FAIL(err, TF_E_MISFIT,
			"rank %u finds 0x%" PRIx64 " where rank %u wrote 0x%" PRIx64 ": %s is not believed",
			self, found[i], writer, wanted[i], subject);
	}
	return TF_OK;
}

static enum tf_status look_at_all(const struct proof *proof, struct tf_error *err)
{
	for (uint32_t peer = 1; peer < proof->window->world; peer++) {
		TF_TRY(look_at(proof, peer_rank(proof, peer), ROW_ARRIVAL, err));
		TF_TRY(look_at(proof, peer_rank(proof, peer), ROW_FETCHED, err));
	}
	return TF_OK;
}

/* Rank 0's; every proof another one, so that nothing of an earlier window passes. */
static enum tf_status share_nonce(struct proof *proof, struct tf_link *link, struct tf_error *err)
{
	uint64_t all[TF_WORLD_MAX], mine = 0;

	if (getrandom(&mine, sizeof(mine), 0) != (ssize_t)sizeof(mine))
		return TF_FAIL_ERRNO(err, "cannot draw a number for the proof of peer access");
	TF_TRY(tf_link_exchange_fixed(
		link, &mine, sizeof(mine), all, tf_deadline_after(proof->timeout_ns), err));
	proof->nonce = all[0];
	return TF_OK;
}

typedef enum tf_status (*step_fn)(const struct proof *proof, struct tf_error *err);

static enum tf_status run(const struct proof *proof, struct tf_link *link, struct tf_error *err)
{
	static const step_fn steps[] = {lay_out, copy_all, look_at_all};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct tf_error local = {0};

		(void)!steps[i](proof, &local);
		/* A peer's step may have used up its own bound. */
		TF_TRY(tf_link_agree_ok(link, &local, tf_deadline_after(2 * proof->timeout_ns), err));
	}
	return TF_OK;
}

enum tf_status tf_peer_proof(const struct tf_rank_window *window, struct tf_device *device,
	struct tf_link *link, const struct tf_layout *layout, int64_t timeout_ns, struct tf_error *err)
{
	struct proof proof = {
		.window = window,
		.device = device,
		.area_off = layout->flag_off,
		.timeout_ns = timeout_ns,
	};
	struct tf_error local = {0};
	enum tf_status status;

	if (layout->flag_bytes < ROW_COUNT * TF_WORLD_MAX * PATTERN_BYTES)
		(void)!TF_FAIL(&local, TF_E_INVALID, "layout: flag_bytes is %" PRIu64 ", not %d or more",
			layout->flag_bytes, ROW_COUNT * TF_WORLD_MAX * PATTERN_BYTES);
	else
		(void)!window->ops->stream_create(device, &proof.stream, &local);
	status = tf_link_agree_ok(link, &local, tf_deadline_after(timeout_ns), err);
	if (status == TF_OK)
		status = share_nonce(&proof, link, err);
	if (status == TF_OK)
		status = run(&proof, link, err);
	if (proof.stream)
		window->ops->stream_destroy(proof.stream);
	return status;
}
