/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks that may not use each other's memory: by option, because a device cannot, or because a
 * package was made for such ranks.
 *
 * Then a segment has two parts. The first is host memory that all ranks map: control words,
 * protocol memory, startup storage. The second is the rank's own and mapped by nobody else:
 * operands, constants, work. The layout of the program says where it begins: at the exchange
 * buffers.
 */
#ifndef TF_RUNTIME_SESSION_PEER_ACCESS_H
#define TF_RUNTIME_SESSION_PEER_ACCESS_H

#include "catalog/program.h"
#include "runtime/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The identity row of programs for ranks without peer access; others have none. */
#define TF_PEER_ACCESS_KEY "peer.access"
#define TF_PEER_ACCESS_OFF "off"

/* Whether the program is for ranks without peer access. Such a package also fits ranks with it. */
int tf_peer_access_is_off(const struct tf_program *program);

/* Whether ranks on such a device may use each other's memory. */
int tf_peer_access_is_offered(const struct tf_device_properties *properties);

/* Takes what is of peers out of the capabilities. */
void tf_peer_access_withdraw(struct tf_device_properties *properties);

/*
 * That nothing in a program for ranks without peer access names what is another rank's own.
 * TF_E_INVALID names the launch or node.
 */
TF_WARN_UNUSED enum tf_status tf_peer_access_check(
	const struct tf_program *program, struct tf_error *err);

/*
 * How much of a segment ranks share without peer access; the rest is the rank's own. TF_E_INVALID:
 * the layout puts something that they share behind it, or cuts a granule.
 */
TF_WARN_UNUSED enum tf_status tf_peer_access_shared_bytes(const struct tf_layout *layout,
	uint64_t granularity_bytes, uint64_t *out, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
