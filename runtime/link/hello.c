/* SPDX-License-Identifier: Apache-2.0 */
/* The words of the handshake and their proofs. No socket is read or written here. */
#include "runtime/link/hello.h"
#include "base/bytes.h"

#include <sodium.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HAS_SECRET  1u
#define FIXED_BYTES (16 + TF_HELLO_NONCE_BYTES)

static const char *group_of(const struct tf_link_options *options)
{
	return options->group ? options->group : "";
}

void tf_hello_nonce(uint8_t *out_nonce)
{
	randombytes_buf(out_nonce, TF_HELLO_NONCE_BYTES);
}

void tf_hello_make(const struct tf_link_options *options, struct tf_hello *out_hello)
{
	struct tf_hello hello = {
		.world = options->world,
		.rank = options->rank,
		.has_secret = options->secret != NULL,
	};
	size_t length = strlen(group_of(options));

	memcpy(hello.group, group_of(options), length);
	tf_hello_nonce(hello.nonce);
	tf_put_le32(hello.bytes, hello.world);
	tf_put_le32(hello.bytes + 4, hello.rank);
	tf_put_le32(hello.bytes + 8, hello.has_secret ? HAS_SECRET : 0);
	tf_put_le32(hello.bytes + 12, (uint32_t)length);
	memcpy(hello.bytes + 16, hello.nonce, TF_HELLO_NONCE_BYTES);
	memcpy(hello.bytes + FIXED_BYTES, hello.group, length);
	hello.size = FIXED_BYTES + length;
	*out_hello = hello;
}

enum tf_status tf_hello_parse(
	const void *payload, size_t size, struct tf_hello *out_hello, struct tf_error *err)
{
	struct tf_hello hello = {.size = size};
	uint32_t flags, length;

	if (size < FIXED_BYTES || size > TF_HELLO_BYTES_MAX)
		return TF_FAIL(err, TF_E_INVALID, "hello has %zu bytes, between %d and %d are allowed",
			size, FIXED_BYTES, TF_HELLO_BYTES_MAX);
	memcpy(hello.bytes, payload, size);
	hello.world = tf_get_le32(hello.bytes);
	hello.rank = tf_get_le32(hello.bytes + 4);
	flags = tf_get_le32(hello.bytes + 8);
	length = tf_get_le32(hello.bytes + 12);
	if (flags & ~HAS_SECRET)
		return TF_FAIL(err, TF_E_INVALID, "hello has unknown flags 0x%x", flags);
	if (length != size - FIXED_BYTES)
		return TF_FAIL(err, TF_E_INVALID, "hello names a group of %u bytes, %zu came", length,
			size - FIXED_BYTES);
	hello.has_secret = flags == HAS_SECRET;
	memcpy(hello.nonce, hello.bytes + 16, TF_HELLO_NONCE_BYTES);
	memcpy(hello.group, hello.bytes + FIXED_BYTES, length);
	for (uint32_t i = 0; i < length; i++)
		if ((unsigned char)hello.group[i] < ' ' || hello.group[i] == 0x7f)
			return TF_FAIL(err, TF_E_INVALID, "hello names a group that is not text (byte %u)", i);
	*out_hello = hello;
	return TF_OK;
}

enum tf_status tf_hello_check(
	const struct tf_link_options *options, const struct tf_hello *hello, struct tf_error *err)
{
	if (hello->has_secret != (options->secret != NULL))
		return TF_FAIL(err, TF_E_MISFIT, "rank %u %s a shared secret, rank 0 %s", hello->rank,
			hello->has_secret ? "has" : "lacks", options->secret ? "has one" : "has none");
	if (strcmp(hello->group, group_of(options)) != 0)
		return TF_FAIL(err, TF_E_MISFIT, "rank %u is of group '%s', this is group '%s'",
			hello->rank, hello->group, group_of(options));
	if (hello->world != options->world)
		return TF_FAIL(err, TF_E_MISFIT, "rank %u says the world has %u ranks, rank 0 says %u",
			hello->rank, hello->world, options->world);
	if (hello->rank == 0 || hello->rank >= options->world)
		return TF_FAIL(err, TF_E_MISFIT, "rank %u cannot join, ranks 1 to %u can", hello->rank,
			options->world - 1);
	return TF_OK;
}

void tf_hello_prove(const struct tf_link_options *options, enum tf_hello_side side,
	const struct tf_hello *hello, const uint8_t *root_nonce, uint8_t *out_proof)
{
	static const char rank_label[16] = "tf link rank r's";
	static const char root_label[16] = "tf link rank 0's";
	uint8_t key[crypto_generichash_KEYBYTES];
	crypto_generichash_state state;

	crypto_generichash(key, sizeof(key), options->secret, options->secret_bytes, NULL, 0);
	crypto_generichash_init(&state, key, sizeof(key), TF_HELLO_PROOF_BYTES);
	crypto_generichash_update(&state,
		(const unsigned char *)(side == TF_HELLO_RANK ? rank_label : root_label),
		sizeof(rank_label));
	crypto_generichash_update(&state, root_nonce, TF_HELLO_NONCE_BYTES);
	crypto_generichash_update(&state, hello->bytes, hello->size);
	crypto_generichash_final(&state, out_proof, TF_HELLO_PROOF_BYTES);
	sodium_memzero(key, sizeof(key));
	sodium_memzero(&state, sizeof(state));
}

int tf_hello_is_proven(const struct tf_link_options *options, enum tf_hello_side side,
	const struct tf_hello *hello, const uint8_t *root_nonce, const void *proof, size_t size)
{
	uint8_t expected[TF_HELLO_PROOF_BYTES];

	if (size != sizeof(expected))
		return 0;
	tf_hello_prove(options, side, hello, root_nonce, expected);
	return sodium_memcmp(expected, proof, sizeof(expected)) == 0;
}

enum tf_status tf_hello_check_user(int fd, struct tf_error *err)
{
	struct ucred user;
	socklen_t bytes = sizeof(user);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &bytes) != 0)
		return TF_FAIL_ERRNO(err, "cannot read the user of a peer");
	if (user.uid != geteuid())
		return TF_FAIL(err, TF_E_MISFIT, "peer process %d runs as user %u, this one as user %u",
			(int)user.pid, (unsigned)user.uid, (unsigned)geteuid());
	return TF_OK;
}
