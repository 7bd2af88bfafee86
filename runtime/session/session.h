/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session: one rank's loaded package. The one loading path of tfrun, libtfrun and of tfprep's
 * own check before it publishes.
 *
 *   closed --open--> ready --step/check--> ready --(fault)--> failed --close--> closed
 *
 * Open, in order, each phase timed and each all-or-none over the link: package (read, digest
 * equal on all ranks), identity (all misfits of all ranks at once), device, window (base list,
 * then anywhere), peers (segments exchanged and mapped), proof (data over every pair), library
 * (NCCL's communicator, where a graph calls it), graphs, protocol (reset and fence), probe (every
 * loaded capacity, bytewise).
 */
#ifndef TF_RUNTIME_SESSION_SESSION_H
#define TF_RUNTIME_SESSION_SESSION_H

#include "base/error.h"
#include "catalog/program.h"
#include "runtime/collective/control.h"
#include "runtime/device/device.h"
#include "runtime/link/link.h"
#include "runtime/session/loaded_package.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What opening a GPU may take on top of a timeout: its driver alone takes a second a process,
 * more where many start at once. Nothing of it is a wait for a peer.
 */
#define TF_DEVICE_OPEN_NS (INT64_C(15000) * 1000000)

#define TF_TIMEOUT_DEFAULT_NS (INT64_C(2000) * 1000000)

struct tf_session_options {
	const char *path; /* borrowed */
	const struct tf_loaded_package
		*loaded; /* instead of reading `path`; borrowed, outlives the session */
	const char
		*device;  /* "auto", "host", "cuda"; NULL = auto; a guest's may name which: "cuda:1" */
	int is_guest; /* in an engine's process: the device is opened by guest_open (device.h) */
	uint32_t device_ordinal; /* not of a guest */
	int spread;              /* instead: rank r takes device r modulo what this process may use */
	int64_t timeout_ns;      /* 0: default */
	uint32_t capacity_max;   /* 0: all */
	/* which window base to try first: the check before publishing takes another one than tuning */
	uint32_t base_first;
	int strict;
	int no_peer_access; /* ranks may not use each other's memory; so is a package made for such */
	int startup;        /* load the startup graph too (drift) */
	int probe;          /* prove every loaded capacity bytewise before ready */
};

enum tf_session_phase {
	TF_PHASE_PACKAGE = 0,
	TF_PHASE_IDENTITY,
	TF_PHASE_DEVICE,
	TF_PHASE_WINDOW,
	TF_PHASE_PEERS,
	TF_PHASE_PROOF,
	TF_PHASE_LIBRARY,
	TF_PHASE_GRAPHS,
	TF_PHASE_PROTOCOL,
	TF_PHASE_PROBE,
	TF_PHASE_COUNT
};

const char *tf_session_phase_name(enum tf_session_phase phase);

struct tf_session;

/* `link` is borrowed and must outlive the session; its rank and world are the session's. */
TF_WARN_UNUSED enum tf_status tf_session_open(const struct tf_session_options *options,
	struct tf_link *link, struct tf_session **out, struct tf_error *err);
/*
 * ns that the phases of an opening may take in all, for whoever waits for ranks: five timeouts, and
 * what a GPU's driver and NCCL need on top. The proof of peer access and the probe have bounds of
 * their own, in which a rank that is lost is found.
 */
int64_t tf_session_load_bound(const struct tf_program *program, int64_t timeout_ns);

/* The same of a close between steps: two timeouts, and the end of NCCL where it is called. */
int64_t tf_session_close_bound(const struct tf_program *program, int64_t timeout_ns);

void tf_session_close(struct tf_session *session); /* takes NULL; graphs, then memory */

const struct tf_program *tf_session_program(const struct tf_session *session);
uint32_t tf_session_rank(const struct tf_session *session);
uint64_t tf_session_base(const struct tf_session *session);
int tf_session_relocated(const struct tf_session *session);
uint64_t tf_session_steps(const struct tf_session *session);
int64_t tf_session_phase_ns(const struct tf_session *session, enum tf_session_phase phase);
const struct tf_control *tf_session_control(const struct tf_session *session);
const uint8_t *tf_session_digest(const struct tf_session *session); /* SHA-256 of the package */

/*
 * Members of the package that nothing of this load refers to; out_names: "'a', 'b'", borrowed,
 * cut.
 */
uint32_t tf_session_idle_members(const struct tf_session *session, const char **out_names);

/* Own address of a buffer of the program. */
void *tf_session_buffer_data(const struct tf_session *session, uint32_t buffer);

/* TF_E_USAGE names rows and the largest loaded capacity. */
TF_WARN_UNUSED enum tf_status tf_session_capacity_for(
	const struct tf_session *session, uint64_t rows, uint32_t *out_capacity, struct tf_error *err);

/* One step; no allocation, lock or log on success. */
TF_WARN_UNUSED enum tf_status tf_session_step(
	struct tf_session *session, uint64_t rows, struct tf_error *err);

/*
 * Puts one step on the caller's stream (graph_enqueue of device.h) and returns; not on the legacy
 * default stream while ranks of this group share the context, and not where the graph calls NCCL,
 * whose calls nothing on that stream would bound (TF_E_UNSUPPORTED). On the host device `stream` is
 * NULL, and the step runs in tf_session_status. No allocation (host: of the first 64), no lock.
 * TF_E_USAGE ends nothing; after a failure that tf_session_status has seen, every call returns it.
 */
TF_WARN_UNUSED enum tf_status tf_session_enqueue(
	struct tf_session *session, uint64_t rows, void *stream, struct tf_error *err);

/*
 * How the steps ended that were put on streams and have run: never waits for a stream of the
 * caller's. On the host device it runs those that wait, each with the bound of a step. A fault ends
 * the session, as in tf_session_step.
 */
TF_WARN_UNUSED enum tf_status tf_session_status(struct tf_session *session, struct tf_error *err);

/* Where the memory of the session is: an ordinal of a CUDA device, -1 where the CPU may use it. */
int32_t tf_session_cuda_device(const struct tf_session *session);

/*
 * Fills the inputs of the capacity for `rows` with generated operands of `seed`, and prepares
 * what the outputs must be. Local.
 */
TF_WARN_UNUSED enum tf_status tf_session_fill(
	struct tf_session *session, uint64_t rows, uint64_t seed, struct tf_error *err);
/* Overwrites the outputs of the capacity, so that stale bytes cannot pass a comparison. Local. */
void tf_session_poison(struct tf_session *session, uint64_t rows);
/*
 * Compares the outputs with what tf_session_fill prepared; TF_E_MISMATCH names buffer, first
 * element and both values. Local.
 */
TF_WARN_UNUSED enum tf_status tf_session_compare(
	struct tf_session *session, uint64_t rows, struct tf_error *err);

/*
 * Fill, poison, step, compare, all ranks agreeing on the outcome. A rank that cannot fill ends
 * nothing: no rank steps. One that does not come, or is lost, ends the session, as in
 * tf_session_step. Collective.
 */
TF_WARN_UNUSED enum tf_status tf_session_check(
	struct tf_session *session, uint64_t rows, struct tf_error *err);

/* How many step graphs are loaded, and the largest capacity among them. */
void tf_session_capacities(
	const struct tf_session *session, uint32_t *out_count, uint32_t *out_largest);

/*
 * Replays the startup graph (options.startup) and leaves its samples in `out_samples`,
 * (candidate_count, TF_PASSES) maxima over ranks of the first stage, TF_NS_NONE where struck.
 * Selectors do not change. Collective.
 */
TF_WARN_UNUSED enum tf_status tf_session_drift(
	struct tf_session *session, uint64_t *out_samples, struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
