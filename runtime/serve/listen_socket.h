/* SPDX-License-Identifier: Apache-2.0 */
/* The listening socket, bound before any rank starts so that a taken port costs no load. */
#ifndef TF_RUNTIME_SERVE_LISTEN_SOCKET_H
#define TF_RUNTIME_SERVE_LISTEN_SOCKET_H

#include <stddef.h>

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_LISTEN_TEXT_BYTES 80 /* "[IPv6 with a zone]:65535" */

/*
 * Listens at "HOST:PORT" ("[::1]:8470"; port 0: any free one). *out_fd is non-blocking and closed
 * by the caller; `out_text` (TF_LISTEN_TEXT_BYTES) gets the address with its real port.
 * TF_E_USAGE: not such an address. TF_E_NOT_FOUND: no such host. TF_E_SYSTEM: the port is taken or
 * not allowed, or the host's name cannot be asked for now. TF_E_NO_MEMORY.
 */
TF_WARN_UNUSED enum tf_status tf_listen_open(
	const char *address, int *out_fd, char *out_text, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
