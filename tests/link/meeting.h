/* SPDX-License-Identifier: Apache-2.0 */
/* Test support: a rendezvous whose rank 0 runs in a thread while the test plays the other ranks. */
#ifndef TF_TESTS_LINK_MEETING_H
#define TF_TESTS_LINK_MEETING_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/link/rank_threads.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SECRET "sixteen bytes ok"

/* Where the ranks of the present test meet; set by the two below. */
extern char address[108];

/* Rank 0. */
extern struct meeting_root {
	pthread_t thread;
	struct tf_link_options options;
	struct tf_link *link;
	struct tf_error err;
} root;

/* An abstract name that no other test of this machine uses. */
void fresh_unix_address(void);

void fresh_tcp_address(const char *host);

struct tf_link_options options_of(uint32_t rank, uint32_t world, const char *secret);

void start_root(uint32_t world, const char *secret, int64_t deadline_ns);

void join_root(void);

/* A right rank 1 comes and the group of two is whole. */
void complete_the_pair(const char *secret);

/* A raw connection to rank 0, made once it listens. */
int raw_connection(void);

/* The next frame on a raw connection must be this refusal. */
void assert_raw_refusal(int fd, enum tf_status status, const char *text);

/* A hello of rank 1 of 2 as a frame. */
size_t hello_frame(uint8_t *out, const char *secret);

#ifdef __cplusplus
}
#endif
#endif
