/* SPDX-License-Identifier: Apache-2.0 */
/*
 * package_sample FILE: writes a package whose members span all shapes (empty, exact blocks, several
 * frames) and prints their digests as sha256sum does.
 */
#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "tests/packages/package_fixture.h"

static enum tf_status add(
	struct tf_package_writer *writer, const struct fixture_member *member, struct tf_error *err)
{
	uint8_t digest[TF_DIGEST_BYTES];
	char hex[TF_DIGEST_HEX_BYTES];

	crypto_hash_sha256(digest, member->data, member->bytes);
	tf_hex(digest, sizeof(digest), hex);
	printf("%s  %s\n", hex, member->name);
	return fixture_add(writer, member, 1, err);
}

int main(int argc, char **argv)
{
	struct tf_package_writer *writer = NULL;
	struct tf_error err = {0};
	enum tf_status status = TF_E_USAGE;

	if (argc == 2)
		status = tf_package_writer_create(argv[1], &writer, &err);
	for (size_t i = 1; status == TF_OK && i <= FIXTURE_LARGE_COUNT; i++)
		status = add(writer, &fixture_large()[i - 1], &err);
	for (size_t i = 1; status == TF_OK && i < FIXTURE_SMALL_COUNT; i++)
		status = add(writer, &fixture_small()[i], &err);
	if (status == TF_OK)
		status = tf_package_writer_seal(writer, &err);
	if (status == TF_OK)
		status = tf_package_writer_publish(writer, NULL, NULL, &err);
	tf_package_writer_destroy(writer);
	if (status != TF_OK)
		fprintf(stderr, "package_sample: %s\n", err.text);
	return (int)tf_status_exit(status);
}
