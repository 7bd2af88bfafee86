/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of the rendezvous, as people write them and as sockets take them. */
#ifndef TF_RUNTIME_LINK_ADDRESS_H
#define TF_RUNTIME_LINK_ADDRESS_H

#include <stdint.h>
#include <sys/socket.h>

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_ADDRESS_NAME_BYTES 256 /* a DNS name has at most 253 bytes */
/* addresses of one name that are tried: both families, a few interfaces */
#define TF_ADDRESS_CHOICES 8

struct tf_address {
	int is_tcp;
	char host[TF_ADDRESS_NAME_BYTES]; /* TCP: host and port; Unix: the path, or "@NAME" */
	char port[8];
	unsigned count; /* of `choices`, once resolved */
	struct sockaddr_storage choices[TF_ADDRESS_CHOICES];
	socklen_t bytes[TF_ADDRESS_CHOICES];
};

/*
 * Reads "unix:PATH", "unix:@NAME" or "tcp:HOST:PORT" (an IPv6 host in brackets). A Unix address
 * is resolved at once. TF_E_USAGE: anything else, a port out of range, a name too long for a
 * socket.
 */
TF_WARN_UNUSED enum tf_status tf_address_parse(
	const char *text, struct tf_address *out_address, struct tf_error *err);

/*
 * Fills `choices`. Numeric hosts are answered at once; names are asked in a thread of their own,
 * again and again while the resolver says that the name may still appear, so the deadline holds
 * whatever the resolver does. TF_E_NOT_FOUND: no such host. TF_E_TIMEOUT: no answer.
 * TF_E_NO_MEMORY, TF_E_SYSTEM.
 */
TF_WARN_UNUSED enum tf_status tf_address_resolve(
	struct tf_address *address, int64_t deadline_ns, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
