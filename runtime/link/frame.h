/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames: what travels on the control link and on command sockets. This page is the format;
 * encoding and decoding are pure functions. stream.h moves frames over sockets.
 *
 * A frame is a header of 32 bytes, little-endian, and `length` bytes of payload:
 *
 *   off  bytes  field
 *     0      4  magic     "TFLK"
 *     4      2  version   1
 *     6      2  type      enum tf_frame_type, or TF_FRAME_USER and above
 *     8      4  flags     bits 0-3: file descriptors attached to the first byte; all others zero
 *    12      4  sender    the rank whose words these are
 *    16      4  tag       the number of the operation
 *    20      4  length    bytes of payload
 *    24      8  reserved  zero
 *
 * A higher version is refused by name. A reader accepts lower versions, so that a refusal written
 * by an older build is understood.
 */
#ifndef TF_RUNTIME_LINK_FRAME_H
#define TF_RUNTIME_LINK_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/dtype.h"
#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_FRAME_MAGIC        UINT32_C(0x4b4c4654)
#define TF_FRAME_VERSION      1
#define TF_FRAME_HEADER_BYTES 32
#define TF_FRAME_FDS_MAX      8 /* one from each rank of the largest group */

/*
 * One rank's record: all samples of a tuning run (some 300 rows of 21 x 8 bytes, with room to
 * grow).
 */
#define TF_FRAME_RECORD_MAX (UINT32_C(1) << 20)
/* The largest frame: the records of all ranks, each with its length. */
#define TF_FRAME_PAYLOAD_MAX (TF_WORLD_MAX * (TF_FRAME_RECORD_MAX + 4))

enum tf_frame_type {
	TF_FRAME_HELLO = 1, /* a rank introduces itself to rank 0 */
	TF_FRAME_CHALLENGE, /* rank 0 asks for a proof of the shared secret */
	TF_FRAME_PROOF,     /* the answer */
	TF_FRAME_ACCEPT,    /* rank 0 has a place for the rank, and its own proof */
	TF_FRAME_WELCOME,   /* every rank came */
	TF_FRAME_REFUSE,    /* rank 0 has no place: a status and a text */
	TF_FRAME_FAULT,     /* the link ends: a status and a text */
	TF_FRAME_BARRIER,   /* from here on: a request to rank 0, and its answer */
	TF_FRAME_EXCHANGE,
	TF_FRAME_BROADCAST,
	TF_FRAME_FDS,
	TF_FRAME_TYPE_COUNT,
	TF_FRAME_USER = 0x100 /* first type of a channel's own words */
};

struct tf_frame {
	uint16_t type;
	uint16_t fd_count;
	uint32_t sender;
	uint32_t tag;
	uint32_t length;
};

/*
 * Writes TF_FRAME_HEADER_BYTES to `to`. The frame must be within the limits above (our own bug if
 * not).
 */
void tf_frame_encode(const struct tf_frame *frame, void *to);

/*
 * Reads TF_FRAME_HEADER_BYTES from `from`.
 * TF_E_INVALID: wrong magic, version or type zero, unknown flags, reserved bytes not zero.
 * TF_E_VERSION: a newer version. TF_E_LIMIT: too many descriptors or too long a payload.
 */
TF_WARN_UNUSED enum tf_status tf_frame_decode(
	const void *from, struct tf_frame *out_frame, struct tf_error *err);

/* TF_E_INVALID unless the frame has this type and tag; each has a text of its own. */
TF_WARN_UNUSED enum tf_status tf_frame_expect(
	const struct tf_frame *frame, uint16_t type, uint32_t tag, struct tf_error *err);

/* "barrier", "hello"; "user" from TF_FRAME_USER on, "unknown" between. Never NULL. */
const char *tf_frame_type_name(uint16_t type);

/*
 * The payload of FAULT and REFUSE: a status (4 bytes), then a text without an end. Encoding cuts
 * a text that is too long and returns the bytes written, at most TF_FRAME_NOTE_MAX. Decoding
 * replaces control characters and stores status and text in `out_note`; TF_E_INVALID if there is
 * no such status.
 */
#define TF_FRAME_NOTE_MAX (4 + TF_ERROR_TEXT_BYTES - 1)
size_t tf_frame_note_encode(enum tf_status status, const char *text, void *to);
TF_WARN_UNUSED enum tf_status tf_frame_note_decode(
	const void *payload, size_t bytes, struct tf_error *out_note, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
