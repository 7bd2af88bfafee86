/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program: everything a package carries, as plain data. The catalog stores it (schema.sql),
 * tfprep fills it, tfrun rebuilds from it. Rows refer to each other by index into the arrays
 * below; a reader has checked every index, name, size and enum before anyone sees the struct.
 *
 * Addresses never appear. A place in the window is (peer, offset): peer k means the segment of rank
 * (self + k) mod world, so peer 0 is the rank's own segment and one program serves all ranks.
 */
#ifndef TF_CATALOG_PROGRAM_H
#define TF_CATALOG_PROGRAM_H

#include <stdint.h>

#include "base/bytes.h"
#include "base/dtype.h"
#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_PROGRAM_DIMS_MAX   4
#define TF_PROGRAM_NONE       UINT32_MAX /* "no such row" in an index field */
#define TF_IDENTITY_KEY_BYTES 64
/* Identity: the version of NCCL that a pick calls, "2.28.3"; absent where none does. */
#define TF_NCCL_KEY "nccl.version"
/* Groups whose sums may be of another numerics class, by name, a blank between two. */
#define TF_NUMERICS_ANY_KEY "numerics.any"
/* The one that was sampled, whatever was picked; no machine must match it. */
#define TF_NCCL_SAMPLES_KEY "samples.nccl"

/* How a group is carried out; the whole of it, never an index (DESIGN 3). */
struct tf_candidate {
	enum tf_algorithm algorithm;
	enum tf_writer writer;
	uint32_t threads; /* threads a CTA */
	uint32_t ctas;
	uint64_t chunk_bytes; /* 0 where the writer does not chunk */
};

#define TF_CANDIDATE_NAME_BYTES 96

/* One collective of the workload at one capacity. */
struct tf_group {
	char name[TF_NAME_BYTES]; /* unique together with capacity */
	enum tf_op op;
	enum tf_dtype dtype;
	uint64_t row_elements; /* elements a row of one rank's input */
	uint32_t capacity;     /* rows */
	uint32_t times;        /* calls a step */
	uint32_t buffer_pairs; /* distinct (input, output) pairs the calls rotate through, 1..times */
};

/* What became of one candidate of one group. */
enum tf_candidate_state {
	TF_CANDIDATE_COMPETED = 0, /* sampled, lost in the first stage */
	TF_CANDIDATE_SURVIVED,     /* sampled afresh in the second stage */
	TF_CANDIDATE_PICKED,
	TF_CANDIDATE_STRUCK /* wrong or late in verification; never sampled */
};

struct tf_group_candidate {
	uint32_t group;
	uint32_t rung; /* place on the ladder among the group's legal candidates, from 0 */
	struct tf_candidate candidate;
	enum tf_candidate_state state;
	char reason[160];           /* why struck, lost or picked; never empty once tuned */
	int64_t stage_median_ns[2]; /* -1: not sampled in that stage */
	int64_t stage_low_ns[2];    /* order statistic 6 of 21 */
	int64_t stage_high_ns[2];   /* order statistic 16 of 21 */
};

struct tf_sample {
	uint32_t group_candidate;
	uint8_t stage; /* 1 or 2 */
	uint8_t pass;  /* 0..20 */
	uint8_t slowest_rank;
	int64_t ns; /* maximum over ranks */
};

enum tf_buffer_role {
	TF_BUFFER_INPUT = 0,
	TF_BUFFER_OUTPUT,
	TF_BUFFER_CONSTANT,
	TF_BUFFER_WORK,
	TF_BUFFER_PROTOCOL
};

struct tf_buffer {
	char name[TF_NAME_BYTES]; /* unique */
	enum tf_buffer_role role;
	enum tf_dtype dtype;
	uint32_t dims_count;
	uint64_t dims[TF_PROGRAM_DIMS_MAX]; /* elements, outermost first */
	uint64_t segment_off;
	uint64_t bytes;
	uint8_t peer_visible;
	uint32_t group; /* whose operand it is, or TF_PROGRAM_NONE */
	uint32_t pair;  /* which pair of the group */
};

struct tf_constant {
	uint32_t buffer;
	int32_t rank; /* -1: the same for all ranks */
	uint32_t member;
};

enum tf_module_kind {
	/*
	 * Without a member: functions built into the runtime; the digest names their ABI. With one: a
	 * shared object that a user brought.
	 */
	TF_MODULE_HOST = 0,
	TF_MODULE_CUBIN /* whatever the driver loads: cubin, fatbin, PTX */
};

struct tf_module {
	char name[TF_NAME_BYTES];
	enum tf_module_kind kind;
	uint32_t compute_capability; /* 90 for sm_90; 0 for host */
	uint32_t member;             /* TF_PROGRAM_NONE for the host's built-in functions */
	uint8_t digest[TF_DIGEST_BYTES];
};

enum tf_word_kind {
	TF_WORD_ADDRESS = 0, /* 8 bytes: an address in the window */
	TF_WORD_RANK         /* 4 bytes: the rank's number */
};

/*
 * A field of a kernel's argument struct that is not the same bytes on every rank and at every
 * base.
 */
struct tf_kernel_word {
	uint32_t arg_off;
	enum tf_word_kind kind;
	uint8_t nullable; /* an address may be zero */
	char name[TF_NAME_BYTES];
};

/* A parameter of a foreign kernel, as the device that loaded it told. */
struct tf_kernel_param {
	uint32_t arg_off, bytes;
};

struct tf_kernel {
	char name[TF_NAME_BYTES];
	uint32_t module;
	uint32_t args_bytes;
	uint32_t words_first, words_count; /* in program.kernel_words */
	/*
	 * In program.kernel_params. Parameters make a kernel foreign: one that a user brought. Its
	 * addresses lie in declared buffers of the rank's own segment, never in protocol memory.
	 */
	uint32_t params_first, params_count;
};

/*
 * A launch: kernel, geometry, argument bytes. Nodes share launches, so a graph of 60,000 nodes
 * stays small.
 */
struct tf_launch {
	uint32_t kernel;
	uint32_t grid[3], block[3];
	uint32_t shared_bytes;
	uint64_t args_off;                 /* in program.args; words of the kernel are zero there */
	uint32_t words_first, words_count; /* in program.launch_words */
};

struct tf_launch_word {
	uint32_t arg_off;
	enum tf_word_kind kind;
	uint32_t peer;        /* ADDRESS: whose segment, relative to self */
	uint64_t segment_off; /* ADDRESS */
};

enum tf_node_kind { TF_NODE_KERNEL = 0, TF_NODE_COPY, TF_NODE_SET, TF_NODE_EMPTY, TF_NODE_COMM };

struct tf_node {
	enum tf_node_kind kind;
	uint32_t launch;             /* KERNEL */
	uint32_t to_peer, from_peer; /* COPY, SET */
	uint64_t to_off, from_off;   /* COPY, SET; COMM: output and input of the rank's own */
	uint64_t bytes;              /* COPY, SET; COMM: of the input */
	/*
	 * SET: the byte. COMM: the group. COPY: 1 if `to` is an array of (world, bytes) of which the
	 * running rank's own row is meant, so that the node is the same on all ranks; else 0.
	 */
	uint32_t value;
};

struct tf_edge {
	uint32_t from, to; /* nodes of the same graph */
	uint8_t type;      /* 0 full, 1 programmatic (CUgraphDependencyType) */
	uint8_t from_port, to_port;
};

enum tf_graph_kind { TF_GRAPH_STEP = 0, TF_GRAPH_STARTUP };

struct tf_graph {
	enum tf_graph_kind kind;
	uint32_t capacity; /* STEP; 0 for the startup graph */
	struct tf_node *nodes;
	uint32_t node_count;
	struct tf_edge *edges;
	uint32_t edge_count;
};

struct tf_member {
	char name[256];
	uint64_t bytes;
	uint8_t digest[TF_DIGEST_BYTES];
};

/*
 * Where things lie in every rank's segment. The layout is part of the program: kernels carry
 * offsets of it.
 */
struct tf_layout {
	uint64_t stride_bytes; /* distance of two ranks' segments in the window */
	uint64_t segment_bytes;
	uint64_t control_off, control_bytes;
	uint64_t ll_off, ll_source_bytes;             /* (2 slots, world sources, bytes) */
	uint64_t sentinel_off, sentinel_source_bytes; /* (3 slots, world sources, bytes) */
	uint64_t flag_off, flag_bytes; /* flags of direct, serial, queued, pull; sentinel trailers */
	uint64_t staging_off, staging_source_bytes; /* (2 slots, world sources, bytes) */
	uint64_t exchange_off, exchange_bytes;      /* operands that peers may touch */
	uint64_t startup_off,
		startup_bytes; /* samples, selectors, statuses of the startup graph; 0 without it */
	uint64_t private_off, private_bytes; /* constants, work */
};

/*
 * What the outputs of a step must be where a foreign kernel has its hand in them: SHA-256 of the
 * output bytes of one rank after a step of `capacity` rows from the operands of `seed`
 * (runtime/session/step_state.h says which bytes).
 */
struct tf_proof {
	uint32_t capacity;
	uint64_t seed; /* at most INT64_MAX */
	uint32_t rank;
	uint8_t digest[TF_DIGEST_BYTES];
};

/* Ordered by key. Everything a machine must match is here and nothing that names one machine. */
struct tf_identity {
	char key[TF_IDENTITY_KEY_BYTES];
	char *value;
};

struct tf_program {
	uint32_t world;
	struct tf_layout layout;
	struct tf_identity *identity;
	uint32_t identity_count;
	struct tf_group *groups; /* ordered by (capacity, workload order) */
	uint32_t group_count;
	struct tf_group_candidate *candidates; /* ordered by (group, rung) */
	uint32_t candidate_count;
	uint32_t *selectors; /* (group_count): index into candidates */
	struct tf_sample *samples;
	uint32_t sample_count;
	struct tf_buffer *buffers;
	uint32_t buffer_count;
	struct tf_constant *constants;
	uint32_t constant_count;
	struct tf_module *modules;
	uint32_t module_count;
	struct tf_kernel *kernels;
	uint32_t kernel_count;
	struct tf_kernel_word *kernel_words;
	uint32_t kernel_word_count;
	struct tf_launch *launches;
	uint32_t launch_count;
	struct tf_launch_word *launch_words;
	uint32_t launch_word_count;
	struct tf_bytes args;
	struct tf_graph *graphs; /* step graphs by rising capacity, then the startup graph */
	uint32_t graph_count;
	struct tf_member *members; /* all but the catalog itself, sorted by name */
	uint32_t member_count;

	/* Programs with foreign kernels only. */
	struct tf_kernel_param *kernel_params;
	uint32_t kernel_param_count;
	uint32_t *touched; /* buffers that foreign kernels may write, rising */
	uint32_t touched_count;
	struct tf_proof *proofs; /* ordered by (capacity, seed, rank), every rank of each */
	uint32_t proof_count;
};

/* Frees every array and string inside; takes a zeroed or half-filled program. */
void tf_program_fini(struct tf_program *program);

/* Sets (or replaces) an identity row, keeping the order; copies both. */
TF_WARN_UNUSED enum tf_status tf_program_set_identity(
	struct tf_program *program, const char *key, const char *value, struct tf_error *err);
/* NULL where there is none; borrowed. */
const char *tf_program_identity(const struct tf_program *program, const char *key);

/*
 * "two_shot/direct/t256/c4/k65536" (k only where chunked); returns `out`, which holds
 * TF_CANDIDATE_NAME_BYTES.
 */
char *tf_candidate_name(const struct tf_candidate *candidate, char *out);
/* Whether a communication library carries the candidate out by itself. */
static inline int tf_candidate_is_library(const struct tf_candidate *candidate)
{
	return candidate->algorithm == TF_ALGORITHM_LIBRARY;
}
/* Whether a node of the graph is a call of a communication library. */
int tf_graph_calls_library(const struct tf_graph *graph);
/* Whether a graph that was read has such a node. */
int tf_program_calls_library(const struct tf_program *program);
/* Whether one of the candidates is a communication library's. */
int tf_program_tries_library(const struct tf_program *program);
/*
 * Whether the bytes of the group's sums need not be those of rank order: its name stands in
 * TF_NUMERICS_ANY_KEY. `rounds`: it has a pick that makes use of it.
 */
int tf_program_allows_any(const struct tf_program *program, uint32_t group);
int tf_program_rounds(const struct tf_program *program, uint32_t group);
/* Whether a foreign kernel may write the buffer. */
int tf_program_is_touched(const struct tf_program *program, uint32_t buffer);
/* Whether the program has what only schema 1.1 holds: foreign kernels, or what comes with them. */
int tf_program_has_foreign(const struct tf_program *program);

int tf_candidate_equal(const struct tf_candidate *a, const struct tf_candidate *b);

/* Indices of the buffers by rising segment_off, which the caller frees. TF_E_NO_MEMORY. */
TF_WARN_UNUSED enum tf_status tf_program_order_buffers(
	const struct tf_program *program, uint32_t **out, struct tf_error *err);
/* In that order: the last buffer that starts at or before `off`, or NULL. */
const struct tf_buffer *tf_program_buffer_before(
	const struct tf_program *program, const uint32_t *by_off, uint64_t off);

/* Elements and bytes of one rank's input, and of one rank's output. */
uint64_t tf_group_input_count(const struct tf_group *group);
uint64_t tf_group_output_count(const struct tf_group *group, uint32_t world);
uint64_t tf_group_input_bytes(const struct tf_group *group);
uint64_t tf_group_output_bytes(const struct tf_group *group, uint32_t world);

/* Elements of the largest shard of `count` elements over `world` ranks: ceil(count / world). */
uint64_t tf_shard_count(uint64_t count, uint32_t world);

const char *tf_candidate_state_name(enum tf_candidate_state state);

/*
 * Checks the whole program against itself: every index in range, every launch word and copy
 * inside the segment and (for peers) inside exported parts, buffers not overlapping, edges
 * acyclic, selectors of the right group, kinds known.
 * TF_E_INVALID names row and field. The catalog reader calls it; tests plant one fault after
 * another.
 */
TF_WARN_UNUSED enum tf_status tf_program_check(
	const struct tf_program *program, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
