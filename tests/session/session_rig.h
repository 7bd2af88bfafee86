/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test support: a package made once for a world, in a folder of its own under TMPDIR, and ranks
 * that open it, as threads or as processes. Ranks report into memory that all of them share; the
 * main thread judges.
 */
#ifndef TF_TESTS_SESSION_SESSION_RIG_H
#define TF_TESTS_SESSION_SESSION_RIG_H

#include "runtime/session/session.h"
#include "tests/prepare/bench_rig.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RIG_TEXT_BYTES 1024

/* What a rank says of itself. */
struct rig_report {
	int reached; /* last mark the body set, see its text */
	enum tf_status status;
	char text[RIG_TEXT_BYTES];
	uint64_t base, digest;
	int relocated;
};

struct rig {
	char folder[128], path[160];
	struct bench bench;
	struct rig_report *reports; /* (TF_WORLD_MAX), shared with children */
};

/* Tunes and writes the package; aborts if it cannot. Removed by rig_fini. */
void rig_init(struct rig *rig, uint32_t world);
/* The same with a ladder's text (NULL: local's own), and for ranks without peer access. */
void rig_init_with(struct rig *rig, uint32_t world, const char *ladder, int no_peer_access);
void rig_fini(struct rig *rig);

/*
 * Writes the rig's program with other identity values (key, value, ..., NULL) and another layout,
 * each as it is where NULL, to NAME in the rig's folder; returns `out`.
 */
const char *rig_altered(struct rig *rig, const char *name, const char *const *identity,
	const struct tf_layout *layout, char *out, size_t bytes);

/* Options for the rig's package with a bound that only a deadlock reaches. */
struct tf_session_options rig_options(const struct rig *rig);

/* A rank's part; what it returns and `err` go into its report. */
typedef enum tf_status (*rig_body)(struct rig *rig, struct rig_report *report, struct tf_link *link,
	void *user, struct tf_error *err);

void rig_threads(struct rig *rig, uint32_t world, rig_body body, void *user);

/*
 * One process a rank. Waits until every rank but `victim` ended (TF_PROGRAM_NONE: all), then ends
 * the rest. Returns 0 if one was still running after a bound far above every timeout.
 */
int rig_processes(struct rig *rig, uint32_t world, uint32_t victim, rig_body body, void *user);

/*
 * Opens, checks every capacity at its own and at fewer rows, notes base and a digest of the
 * outputs, closes.
 */
enum tf_status rig_open_and_check(struct rig *rig, struct rig_report *report, struct tf_link *link,
	const struct tf_session_options *options, struct tf_error *err);

/* Whether all ranks ended well; prints the first that did not. */
int rig_is_ok(const struct rig *rig, uint32_t world);

#ifdef __cplusplus
}
#endif
#endif
