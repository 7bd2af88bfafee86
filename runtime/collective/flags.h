/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Epochs, and the flag region of a segment.
 *
 * A flag holds the epoch of its source's last use. Only the source writes it, so its values rise,
 * and it has arrived once (int32_t)(flag - epoch) >= 0: a peer may already be one epoch ahead,
 * never two, because it cannot end epoch e + 1 without a word that we send in e + 1.
 *
 * A flag that no call uses (CTA 7 while all calls have one CTA) would look like the future after
 * 2^31 epochs. So in every epoch that tf_epoch_refreshes(), a source first stores its last epoch
 * into all its flags of the family at every rank. That says nothing new to a peer that still is
 * in the previous epoch, and no flag is ever older than 2^30 epochs.
 */
#ifndef TF_RUNTIME_COLLECTIVE_FLAGS_H
#define TF_RUNTIME_COLLECTIVE_FLAGS_H

#include <stdint.h>

#include "runtime/collective/collective.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The rules of epochs are the same code on every device. */
#ifdef __CUDACC__
#define TF_HOST_DEVICE __host__ __device__
#else
#define TF_HOST_DEVICE
#endif

struct tf_flag_line {
	uint32_t epoch;
	uint8_t pad[TF_LINE_BYTES - 4];
};

/* At flag_off of every segment; index [source] is the rank that writes. */
struct tf_flags {
	struct tf_flag_line
		entry[TF_WORLD_MAX];                /* pull: my input is ready; copy_engine: my output is */
	struct tf_flag_line exit[TF_WORLD_MAX]; /* pull: I have read yours (two-shot: and written) */
	/* ... copy_engine: my copies are in your output */
	uint32_t arrive[TF_WORLD_MAX][TF_CTAS_MAX]; /* direct, serial: the CTA's part is there */
	/* ... staged: [rank] of the own segment: the CTA's part is published */
	uint32_t chunk[TF_WORLD_MAX][TF_CHUNKS_MAX]; /* queued: the chunk is there */
	uint32_t trailer[TF_WORLD_MAX]
					[TF_CTAS_MAX]; /* sentinel family: the CTA's part is there as it stands */
};

/*
 * 0 marks an empty ll line and 1 the first call after a reset to 0; a wrap skips both and keeps
 * the parity alternating.
 */
TF_HOST_DEVICE static inline uint32_t tf_epoch_next(uint32_t epoch)
{
	return epoch == UINT32_MAX ? 2 : epoch + 1;
}

/* Every 2^30 epochs, at values that no wrap skips. */
TF_HOST_DEVICE static inline int tf_epoch_refreshes(uint32_t epoch)
{
	return (epoch & UINT32_C(0x3fffffff)) == 2;
}

#ifdef __cplusplus
}
#endif
#endif
