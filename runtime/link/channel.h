/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A channel: words between two processes over one stream socket, such as a supervisor and a rank
 * over the command socket of spawn.h. Frames of frame.h, types from TF_FRAME_USER on, no
 * descriptors. One thread sends and one receives at a time.
 */
#ifndef TF_RUNTIME_LINK_CHANNEL_H
#define TF_RUNTIME_LINK_CHANNEL_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Sends `bytes` of `data` (NULL if 0, at most TF_FRAME_RECORD_MAX).
 * TF_E_USAGE: a type below TF_FRAME_USER. TF_E_LIMIT: too long; nothing was sent. TF_E_TIMEOUT:
 * the peer did not take it all; TF_E_DISCONNECTED: the peer closed; TF_E_SYSTEM. After these
 * three the channel is of no further use.
 */
TF_WARN_UNUSED enum tf_status tf_channel_send(int fd, uint16_t type, uint32_t tag, const void *data,
	size_t bytes, int64_t deadline_ns, struct tf_error *err);

/*
 * Waits for the next word. `out_data` is {0} or a buffer to use again; its old content is replaced.
 * TF_E_TIMEOUT: nothing came; the channel may be asked again. TF_E_DISCONNECTED: the peer closed.
 * TF_E_DAMAGED: a frame began and its rest did not come in time. TF_E_INVALID, TF_E_VERSION,
 * TF_E_LIMIT: a bad frame. TF_E_NO_MEMORY, TF_E_SYSTEM. After all but the first the channel is of
 * no further use.
 */
TF_WARN_UNUSED enum tf_status tf_channel_recv(int fd, uint16_t *out_type, uint32_t *out_tag,
	struct tf_bytes *out_data, int64_t deadline_ns, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
