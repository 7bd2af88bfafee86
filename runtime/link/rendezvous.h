/* SPDX-License-Identifier: Apache-2.0 */
/* The two sides of the rendezvous. hello.h draws the handshake. */
#ifndef TF_RUNTIME_LINK_RENDEZVOUS_H
#define TF_RUNTIME_LINK_RENDEZVOUS_H

#include "base/error.h"
#include "runtime/link/address.h"
#include "runtime/link/star.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Rank 0: listens, takes in every other rank, says welcome. `link` has no connection before, all
 * of them after. Options were checked, the address is resolved. Statuses as tf_link_connect.
 */
TF_WARN_UNUSED enum tf_status tf_rendezvous_listen(const struct tf_link_options *options,
	const struct tf_address *address, struct tf_link *link, struct tf_error *err);

/* The others: connect, as often as it takes, introduce themselves, wait for the welcome. */
TF_WARN_UNUSED enum tf_status tf_rendezvous_join(const struct tf_link_options *options,
	const struct tf_address *address, struct tf_link *link, struct tf_error *err);

/*
 * What every connection between hosts has: no delay of small frames, and a dead host noticed in
 * seconds.
 */
void tf_rendezvous_tune_tcp(int fd);

#ifdef __cplusplus
}
#endif
#endif
