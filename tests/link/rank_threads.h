/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test support: the ranks of a group as threads of this process, and small things the link's tests
 * share.
 */
#ifndef TF_TESTS_LINK_RANK_THREADS_H
#define TF_TESTS_LINK_RANK_THREADS_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/link/link.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Long enough for any machine; a test that needs it to pass fails by its status, not by a clock. */
#define SOON tf_deadline_after(60 * TF_NS_PER_S)

typedef enum tf_status (*rank_body)(void *user, struct tf_link *link, struct tf_error *err);

/*
 * Attaches `world` threads, runs the body in each, closes the links. out_errs (world): how each
 * ended.
 */
void run_ranks(uint32_t world, rank_body body, void *user, struct tf_error *out_errs);

/* The same with links that find each other: options (world), of which rank r uses the r-th. */
void run_connected(uint32_t world, const struct tf_link_options *options, rank_body body,
	void *user, struct tf_error *out_errs);

/* Open descriptors of this process. */
unsigned count_fds(void);

/* Writes all of it, as one message with `fd_count` descriptors on its first byte. */
void send_raw(int fd, const void *data, size_t bytes, const int *fds, unsigned fd_count);

/* A frame as bytes into `out`, with a payload; returns its size. */
size_t make_frame(uint8_t *out, uint16_t type, uint32_t sender, uint32_t tag, const void *payload,
	uint32_t bytes);

#ifdef __cplusplus
}
#endif
#endif
