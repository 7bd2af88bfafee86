/* SPDX-License-Identifier: Apache-2.0 */
/* tf_link_connect: checks the options once, then each side does its part. */
#include "runtime/link/link.h"
#include "runtime/link/rendezvous.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sodium.h>
#include <string.h>

static enum tf_status check_secret(
	const struct tf_link_options *options, int is_tcp, struct tf_error *err)
{
	if (!options->secret && is_tcp)
		return TF_FAIL(err, TF_E_USAGE,
			"link at '%s' needs a shared secret, as every TCP link does", options->address);
	if (!options->secret)
		return TF_OK;
	if (options->secret_bytes < TF_LINK_SECRET_MIN || options->secret_bytes > TF_LINK_SECRET_MAX)
		return TF_FAIL(err, TF_E_USAGE,
			"shared secret has %zu bytes, between %d and %d are allowed", options->secret_bytes,
			TF_LINK_SECRET_MIN, TF_LINK_SECRET_MAX);
	return TF_OK;
}

static enum tf_status check_group(const char *group, struct tf_error *err)
{
	size_t length = group ? strlen(group) : 0;

	if (length > TF_LINK_GROUP_MAX)
		return TF_FAIL(err, TF_E_USAGE, "name of the group has %zu bytes, the limit is %d", length,
			TF_LINK_GROUP_MAX);
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)group[i] < ' ' || group[i] == 0x7f)
			return TF_FAIL(
				err, TF_E_USAGE, "name of the group has a control character (byte %zu)", i);
	return TF_OK;
}

static enum tf_status check_options(const struct tf_link_options *options, struct tf_error *err)
{
	if (options->size != sizeof(*options))
		return TF_FAIL(err, TF_E_USAGE, "link options have %zu bytes, this build knows %zu",
			options->size, sizeof(*options));
	if (!options->address)
		return TF_FAIL(err, TF_E_USAGE, "link options have no address");
	if (options->world < TF_WORLD_MIN || options->world > TF_WORLD_MAX)
		return TF_FAIL(err, TF_E_USAGE, "world of %u ranks, between %d and %d are supported",
			options->world, TF_WORLD_MIN, TF_WORLD_MAX);
	/* Whether the rank fits the world is rank 0's to judge, whose world counts. */
	if (options->rank >= TF_WORLD_MAX)
		return TF_FAIL(err, TF_E_USAGE, "rank %u, ranks 0 to %d are supported", options->rank,
			TF_WORLD_MAX - 1);
	return check_group(options->group, err);
}

void tf_rendezvous_tune_tcp(int fd)
{
	static const struct {
		int level, name, value;
	} settings[] = {
		{IPPROTO_TCP, TCP_NODELAY, 1}, {SOL_SOCKET, SO_KEEPALIVE, 1},
		{IPPROTO_TCP, TCP_KEEPIDLE, 3}, /* seconds of silence */
		{IPPROTO_TCP, TCP_KEEPINTVL, 1}, {IPPROTO_TCP, TCP_KEEPCNT, 3},
		{IPPROTO_TCP, TCP_USER_TIMEOUT, 6000}, /* ms that sent data may stay unanswered */
	};

	/* None of these is needed for right answers: every wait has its deadline. */
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		(void)setsockopt(fd, settings[i].level, settings[i].name, &settings[i].value, sizeof(int));
}

enum tf_status tf_link_connect(
	const struct tf_link_options *options, struct tf_link **out_link, struct tf_error *err)
{
	struct tf_address address;
	struct tf_link *link = NULL;
	enum tf_status status;

	TF_TRY(check_options(options, err));
	TF_TRY(tf_address_parse(options->address, &address, err));
	TF_TRY(check_secret(options, address.is_tcp, err));
	if (sodium_init() < 0)
		return TF_FAIL(err, TF_E_SYSTEM, "cannot start libsodium: no source of random bytes");
	TF_TRY(tf_address_resolve(&address, options->deadline_ns, err));
	TF_TRY(tf_star_create(options->rank, options->world, &link, err));
	link->local = !address.is_tcp;
	if (options->rank == 0)
		status = tf_rendezvous_listen(options, &address, link, err);
	else
		status = tf_rendezvous_join(options, &address, link, err);
	if (status != TF_OK) {
		tf_link_close(link);
		return status;
	}
	*out_link = link;
	return TF_OK;
}
