/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ladders: the ordered candidates of a topology class, with the constraints under which each may
 * run and the reason it is there. Data files in YAML, built into the binary; `--ladder FILE` reads
 * one's own.
 */
#ifndef TF_LADDERS_LADDER_H
#define TF_LADDERS_LADDER_H

#include "base/dtype.h"
#include "base/error.h"
#include "catalog/program.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_LADDER_RUNGS_MAX   256 /* one startup graph samples every rung of every group 21 times */
#define TF_LADDER_THREADS_MIN 32  /* a warp */
#define TF_LADDER_THREADS_MAX 1024
#define TF_LADDER_CTAS_MAX    128 /* a flag each; more never helped exchanges of these sizes */
/* Of one rank's input: staging of 2 slots and 8 sources is then a GiB a rank. */
#define TF_LADDER_BYTES_MAX      (UINT64_C(64) << 20)
#define TF_LADDER_ALIGN_MAX      256           /* a power of two up to what allocations guarantee */
#define TF_LADDER_CHUNK_MIN      UINT64_C(256) /* smaller queue entries cost more than they carry */
#define TF_LADDER_CHUNK_MAX      (UINT64_C(16) << 20)
#define TF_LADDER_CHUNK_MULTIPLE 16   /* the widest store */
#define TF_LADDER_CHUNKS_MAX     1024 /* chunks a destination: bounds the flag memory */

/*
 * Bit (1 << enum tf_writer): the writers this build has kernels for. Ladders may name the others,
 * which are known words: their rungs parse, and tf_ladder_legal skips them.
 */
#define TF_WRITERS_AVAILABLE                                                                       \
	(1u << TF_WRITER_LL | 1u << TF_WRITER_SENTINEL | 1u << TF_WRITER_DIRECT |                      \
		1u << TF_WRITER_SERIAL | 1u << TF_WRITER_QUEUED | 1u << TF_WRITER_PULL |                   \
		1u << TF_WRITER_STAGED | 1u << TF_WRITER_COPY_ENGINE | 1u << TF_WRITER_NCCL)

/*
 * What the links of a machine offer between all pairs of the group; the values are those of enum
 * tf_device_capability.
 */
enum tf_link_capability {
	TF_LINK_PEER_WRITE = 1,
	TF_LINK_PEER_READ = 2,
	TF_LINK_PEER_ATOMIC = 4,
	TF_LINK_LIBRARY = 16, /* a communication library is to be called; no word of a ladder's */
};

struct tf_rung {
	struct tf_candidate candidate;
	uint32_t ops;    /* bit (1 << enum tf_op) */
	uint32_t dtypes; /* bit (1 << enum tf_dtype) */
	uint32_t world_min, world_max;
	uint64_t bytes_min, bytes_max; /* of one rank's input */
	uint32_t align_bytes;          /* the input's bytes must be a multiple */
	uint32_t ctas_per_peer;        /* legal only where so many CTAs stand for each peer; 0: any */
	uint32_t needs;                /* enum tf_link_capability bits */
	uint32_t without;              /* bits of which the links may offer none */
	char *reason;                  /* why this rung is on this ladder; one sentence */
};

struct tf_ladder {
	char *name;     /* the class, or the file's own name */
	char *topology; /* class it is for: switched, host-bridge, ring, fabric, local */
	char *summary;  /* what the class is and what to expect; one sentence or two */
	struct tf_rung *rungs;
	uint32_t rung_count;
};

/*
 * Reads YAML text. `source` names it in messages. TF_E_INVALID names source, line, field, what was
 * found and what is allowed: unknown or misspelt keys, wrong units, contradictory constraints (min
 * above max), an empty ladder, duplicates whose ranges overlap, a writer with an algorithm or op it
 * cannot do, a chunk for a writer that does not chunk. The ladder's name is that of `source`
 * without folder and ".yaml". *out is freed with tf_ladder_fini.
 */
TF_WARN_UNUSED enum tf_status tf_ladder_parse(
	const char *text, size_t size, const char *source, struct tf_ladder *out, struct tf_error *err);
/* The same for a file; also TF_E_NOT_FOUND, TF_E_SYSTEM. */
TF_WARN_UNUSED enum tf_status tf_ladder_load_file(
	const char *path, struct tf_ladder *out, struct tf_error *err);
/* The built-in ladder of a class; TF_E_NOT_FOUND lists the classes there are. */
TF_WARN_UNUSED enum tf_status tf_ladder_builtin(
	const char *topology, struct tf_ladder *out, struct tf_error *err);
/* Takes NULL and a zeroed ladder. */
void tf_ladder_fini(struct tf_ladder *ladder);

/*
 * Whether a candidate can do all of `ops` (bits 1 << enum tf_op) at all, on any machine: threads
 * and CTAs within the limits above, two_shot only for all_reduce, copy_engine and wire only for
 * one_shot all_gather, copy_engine with one CTA, a chunk for queued and no other; library for nccl
 * and for no other, without threads and CTAs. TF_E_INVALID says
 * what is wrong; *out_field (may be NULL) is then the ladder's field that is ("algorithm", "chunk",
 * ...).
 */
TF_WARN_UNUSED enum tf_status tf_candidate_legal_shape(const struct tf_candidate *candidate,
	uint32_t ops, const char **out_field, struct tf_error *err);

/* What a writer cannot do without: enum tf_link_capability bits. */
uint32_t tf_writer_needs(enum tf_writer writer);

/*
 * The rungs that may carry `group` in a group of `world` ranks over links with `capabilities`, in
 * ladder order, as indices. `out` holds TF_LADDER_RUNGS_MAX. TF_E_INVALID when none is legal: names
 * group, bytes, world and the nearest constraint that failed.
 */
TF_WARN_UNUSED enum tf_status tf_ladder_legal(const struct tf_ladder *ladder,
	const struct tf_group *group, uint32_t world, uint32_t capabilities, uint32_t *out,
	uint32_t *out_count, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
