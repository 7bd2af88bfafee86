/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits of a program, each with its reason. A reader stops at the first row above one of them, so
 * a hostile catalog costs no more memory than these allow; a writer refuses to go above them.
 */
#ifndef TF_CATALOG_PROGRAM_LIMITS_H
#define TF_CATALOG_PROGRAM_LIMITS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TF_IDENTITY_MAX       1024  /* rows; a few dozen are in use */
#define TF_IDENTITY_VALUE_MAX 65536 /* bytes; the longest is a link matrix or a list of shapes */

#define TF_GROUPS_MAX       4096  /* a large workload has 81 groups at 16 capacities: 1,296 */
#define TF_ROWS_MAX         65536 /* of a capacity; prefill chunks have up to 32,768 */
#define TF_ROW_ELEMENTS_MAX (UINT64_C(1) << 24) /* a vocabulary has fewer than 2^20 */
#define TF_TIMES_MAX        65536               /* calls of one group in a step */
#define TF_RUNGS_MAX        256                 /* every rung of every group is sampled 21 times */
#define TF_CANDIDATES_MAX   (TF_GROUPS_MAX * TF_RUNGS_MAX)
#define TF_SAMPLE_STAGES    2
#define TF_SAMPLE_PASSES    21
#define TF_SAMPLES_MAX      (1u << 24) /* 42 for each of 400,000 candidates */
#define TF_THREADS_MAX      1024       /* of a CTA, by the hardware */
#define TF_GRID_MAX         INT32_MAX  /* CTAs along x, by the hardware; 65,535 along y and z */
#define TF_GRID_YZ_MAX      65535
#define TF_BLOCK_Z_MAX      64
#define TF_CHUNK_MAX        (UINT64_C(1) << 40) /* bytes; no message is longer than a segment */

#define TF_SEGMENT_MAX (UINT64_C(1) << 42) /* bytes; eight fit a 47-bit address space */
#define TF_STRIDE_MAX  (UINT64_C(1) << 43)

#define TF_BUFFERS_MAX   (1u << 18)                /* 4,096 groups with 32 pairs of operands */
#define TF_CONSTANTS_MAX (1u << 18)                /* 8 ranks of 32,768 tensors */
#define TF_MEMBERS_MAX   16384                     /* what the container holds */
#define TF_MEMBER_MAX    ((UINT64_C(1) << 36) - 1) /* bytes, by the container */

#define TF_MODULES_MAX       256        /* one a source and compute capability */
#define TF_KERNELS_MAX       65536      /* foreign modules hold thousands */
#define TF_KERNEL_ARGS_MAX   32764      /* bytes of kernel parameters, by the hardware */
#define TF_KERNEL_WORDS_MAX  (1u << 20) /* of all kernels */
#define TF_PARAMS_A_KERNEL   64         /* foreign kernels; argument lists are shorter */
#define TF_KERNEL_PARAMS_MAX (1u << 20) /* of all kernels */
#define TF_PROOF_SEEDS_MAX   16         /* a capacity; a handful is written */
#define TF_PROOFS_MAX        (256u * TF_PROOF_SEEDS_MAX * 8) /* capacities, seeds, ranks */
#define TF_LAUNCHES_MAX      (1u << 22)                      /* at most one a node */
#define TF_LAUNCH_WORDS_MAX  (1u << 26)                      /* 16 a launch */
#define TF_ARGS_MAX          (UINT64_C(1) << 30)             /* bytes of all launches */
#define TF_SHARED_MAX        (1u << 20) /* bytes a CTA; devices have less than 256 KiB */

#define TF_GRAPHS_MAX 257        /* 256 capacities and the startup graph */
#define TF_NODES_MAX  (1u << 22) /* of all graphs; tuning 81 groups takes about 61,000 */
#define TF_EDGES_MAX  (1u << 24) /* of all graphs */

#define TF_CATALOG_BYTES_MAX (UINT64_C(1) << 30) /* 250 times the catalog of 81 groups */

#ifdef __cplusplus
}
#endif
#endif
