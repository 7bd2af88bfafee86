/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handshake of the rendezvous: what a rank says first, and how both ends prove the shared
 * secret.
 *
 *   rank r                                   rank 0
 *   HELLO  world, rank, group, nonce   ->
 *                                      <-    CHALLENGE  nonce         (with a secret)
 *   PROOF  MAC("rank r's", nonces, hello) ->                          (with a secret)
 *                                      <-    ACCEPT  MAC("rank 0's", ...) (empty without a secret)
 *                                      <-    WELCOME, once all came
 *   or at any time                     <-    REFUSE  status, text
 *
 * MAC is keyed BLAKE2b with 32 bytes; its key is the hash of the secret. The two labels keep an
 * answer from being played back to its author; fresh nonces of both ends keep it from being
 * played again.
 *
 * Hello payload: world, rank, flags (bit 0: has a secret), bytes of the group's name (4 bytes
 * each), nonce (32 bytes), the name.
 */
#ifndef TF_RUNTIME_LINK_HELLO_H
#define TF_RUNTIME_LINK_HELLO_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "runtime/link/link.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_HELLO_NONCE_BYTES 32
#define TF_HELLO_PROOF_BYTES 32
#define TF_HELLO_BYTES_MAX   (16 + TF_HELLO_NONCE_BYTES + TF_LINK_GROUP_MAX)

struct tf_hello {
	uint32_t world;
	uint32_t rank;
	int has_secret;
	uint8_t nonce[TF_HELLO_NONCE_BYTES];
	char group[TF_LINK_GROUP_MAX + 1];
	uint8_t bytes[TF_HELLO_BYTES_MAX]; /* the payload as it travelled: the proofs cover it */
	size_t size;
};

/* What this rank says: its options and a fresh nonce. Options were checked. */
void tf_hello_make(const struct tf_link_options *options, struct tf_hello *out_hello);

/* TF_E_INVALID: lengths that do not add up, unknown flags, a name that is not text. */
TF_WARN_UNUSED enum tf_status tf_hello_parse(
	const void *payload, size_t size, struct tf_hello *out_hello, struct tf_error *err);

/*
 * At rank 0: whether the hello fits these options: secret or none, world, rank in range and not
 * 0, group. TF_E_MISFIT names what was said and what is expected.
 */
TF_WARN_UNUSED enum tf_status tf_hello_check(
	const struct tf_link_options *options, const struct tf_hello *hello, struct tf_error *err);

enum tf_hello_side { TF_HELLO_RANK, TF_HELLO_ROOT };

/* Stores TF_HELLO_PROOF_BYTES that only a holder of the secret can make. */
void tf_hello_prove(const struct tf_link_options *options, enum tf_hello_side side,
	const struct tf_hello *hello, const uint8_t *root_nonce, uint8_t *out_proof);

/* Whether `proof` (size bytes) is that proof; compared in constant time. */
int tf_hello_is_proven(const struct tf_link_options *options, enum tf_hello_side side,
	const struct tf_hello *hello, const uint8_t *root_nonce, const void *proof, size_t size);

/* Fresh random bytes. */
void tf_hello_nonce(uint8_t *out_nonce);

/* The user at the other end of a Unix socket must be ours: TF_E_MISFIT names both. TF_E_SYSTEM. */
TF_WARN_UNUSED enum tf_status tf_hello_check_user(int fd, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
