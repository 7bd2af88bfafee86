/* SPDX-License-Identifier: Apache-2.0 */
/* The first address of the host that can be bound is taken. */
#include "runtime/serve/listen_socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HOST_BYTES 256 /* a DNS name has at most 253 */
#define BACKLOG    128

struct place {
	char host[HOST_BYTES];
	char port[8];
};

static enum tf_status check_port(const char *address, const char *port, struct tf_error *err)
{
	size_t length = strlen(port);
	unsigned long value = 0;

	for (size_t i = 0; i < length && length <= 5; i++)
		value = port[i] >= '0' && port[i] <= '9' ? value * 10 + (unsigned)(port[i] - '0') : 65536;
	if (!length || length > 5 || value > 65535)
		return TF_FAIL(
			err, TF_E_USAGE, "cannot listen at '%s': the port must be 0 to 65535", address);
	return TF_OK;
}

static enum tf_status split(const char *address, struct place *out, struct tf_error *err)
{
	const char *colon = strrchr(address, ':'), *host = address;
	size_t bytes = colon ? (size_t)(colon - address) : 0;

	if (bytes >= 2 && host[0] == '[' && host[bytes - 1] == ']') {
		host++;
		bytes -= 2;
	} else if (bytes && memchr(host, ':', bytes)) {
		bytes = 0;
	}
	if (!bytes || bytes >= sizeof(out->host))
		return TF_FAIL(err, TF_E_USAGE,
			"cannot listen at '%s': HOST:PORT is needed, such as 127.0.0.1:8470 or [::1]:8470",
			address);
	TF_TRY(check_port(address, colon + 1, err));
	snprintf(out->host, sizeof(out->host), "%.*s", (int)bytes, host);
	snprintf(out->port, sizeof(out->port), "%.5s", colon + 1);
	return TF_OK;
}

static int bind_one(const struct addrinfo *info)
{
	int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;

	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
		bind(fd, info->ai_addr, info->ai_addrlen) || listen(fd, BACKLOG)) {
		close(fd);
		return -1;
	}
	return fd;
}

static enum tf_status describe(int fd, char *out_text, struct tf_error *err)
{
	struct sockaddr_storage bound;
	socklen_t bytes = sizeof(bound);
	char host[TF_LISTEN_TEXT_BYTES - 10], port[8];

	if (getsockname(fd, (struct sockaddr *)&bound, &bytes) ||
		getnameinfo((struct sockaddr *)&bound, bytes, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		return TF_FAIL_ERRNO(err, "cannot ask for the address that is listened at");
	snprintf(out_text, TF_LISTEN_TEXT_BYTES, bound.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s",
		host, port);
	return TF_OK;
}

/* Only a name that does not exist is the caller's mistake; the rest may pass. */
static enum tf_status fail_name(const char *address, int code, struct tf_error *err)
{
	enum tf_status status = TF_E_SYSTEM;

	if (code == EAI_SYSTEM)
		return TF_FAIL_ERRNO(err, "cannot listen at '%s'", address);
	if (code == EAI_MEMORY)
		status = TF_E_NO_MEMORY;
	else if (code != EAI_AGAIN && code != EAI_FAIL)
		status = TF_E_NOT_FOUND;
	return TF_FAIL(err, status, "cannot listen at '%s': %s", address, gai_strerror(code));
}

enum tf_status tf_listen_open(
	const char *address, int *out_fd, char *out_text, struct tf_error *err)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
	struct addrinfo *infos = NULL;
	struct place place;
	int fd = -1, code;
	enum tf_status status;

	TF_TRY(split(address, &place, err));
	code = getaddrinfo(place.host, place.port, &hints, &infos);
	if (code)
		return fail_name(address, code, err);
	for (struct addrinfo *info = infos; info && fd < 0; info = info->ai_next)
		fd = bind_one(info);
	status =
		fd < 0 ? TF_FAIL_ERRNO(err, "cannot listen at '%s'", address) : describe(fd, out_text, err);
	freeaddrinfo(infos);
	if (status != TF_OK) {
		if (fd >= 0)
			close(fd);
		return status;
	}
	*out_fd = fd;
	return TF_OK;
}
