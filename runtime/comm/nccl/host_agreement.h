/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether all ranks are on one host, settled over the control link before NCCL is touched. Each
 * rank can find otherwise than its peer (a published port, a container with a network of its own),
 * so each finds for itself and says so, and one host it is only if all say so.
 *
 * Every rank makes the same operations of the link in the same order, and nothing else waits:
 *
 *   1. records: boot id, network namespace, a random word; rank 0's also names the socket on which
 *      it listens
 *   2. every other rank connects to that socket and sends a descriptor of memory that holds its
 *      word: neither needs rank 0 to do anything
 *   3. one byte each: sent or not. Rank 0 takes what lies in its socket by then and compares
 *   4. one byte each: what the rank finds
 *
 * An answer that is none of the two bytes is a malformed record: TF_E_INVALID on all ranks.
 */
#ifndef TF_RUNTIME_COMM_NCCL_HOST_AGREEMENT_H
#define TF_RUNTIME_COMM_NCCL_HOST_AGREEMENT_H

#include "runtime/link/link.h"

#ifdef __cplusplus
extern "C" {
#endif

/* On the wire; 0 is none of them, so that a forgotten byte is malformed. */
enum tf_host_answer { TF_HOST_ONE = 0x31, TF_HOST_APART = 0x32 };

#define TF_HOST_BOOT_ID_BYTES 40 /* 36 of the kernel's, zeros behind */
#define TF_HOST_WORD_BYTES    16 /* 128 bits cannot be guessed */

/* What a rank says about itself in step 1. On the wire; an old and a new build never meet here. */
struct tf_host_record {
	char boot_id[TF_HOST_BOOT_ID_BYTES]; /* zeros: unknown, which matches nobody */
	uint8_t word[TF_HOST_WORD_BYTES];
	uint64_t network_device, network_inode; /* of /proc/self/ns/net; 0: unknown */
	uint8_t listens;                        /* rank 0: its socket is named after its word */
	uint8_t reserved[7];
};

/*
 * Collective. `says_apart` makes this rank answer that the ranks are apart, whatever it finds; all
 * ranks then hold them apart. *out_one_host is the same on all ranks; `out_why` (`why_bytes` long,
 * may be NULL) gets why not, as this rank sees it, or "".
 * TF_E_INVALID: a rank's byte is none of enum tf_host_answer. Else the link's common failures.
 */
TF_WARN_UNUSED enum tf_status tf_host_agreement(struct tf_link *link, int says_apart,
	int64_t deadline_ns, int *out_one_host, char *out_why, size_t why_bytes, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
