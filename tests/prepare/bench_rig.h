/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test support: ranks of this process that plan, tune and capture, each on a thread of its own, and
 * the package they make.
 *
 * A planted candidate is a kernel of the test under a name of its own, whose handle takes the place
 * of a production kernel's among the loaded ones. The program does not know of it, so catalogs stay
 * equal on all ranks.
 */
#ifndef TF_TESTS_PREPARE_BENCH_RIG_H
#define TF_TESTS_PREPARE_BENCH_RIG_H

#include "ladders/ladder.h"
#include "prepare/tune/tune.h"
#include "prepare/links/links_attach.h"
#include "prepare/workload/workload.h"
#include "tests/link/rank_threads.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Only a deadlock ends in it; tests that wait for one say their own. */
#define BENCH_TIMEOUT_NS (20 * TF_NS_PER_S)

struct bench;

/* Called once a rank is open, before anything runs on it. */
typedef enum tf_status (*bench_hook)(
	struct bench *bench, struct tf_bench_rank *rank, struct tf_error *err);

struct bench {
	uint32_t world;
	int64_t timeout_ns;
	struct tf_workload workload;
	struct tf_ladder ladder;
	bench_hook hook;                            /* or NULL */
	const struct tf_links *links;               /* emulated, or NULL; borrowed */
	struct tf_link_clock *clocks[TF_WORLD_MAX]; /* of ranks that are open */
	int no_peer_access;

	/* how each rank ended */
	struct tf_error errors[TF_WORLD_MAX];
	struct tf_program programs[TF_WORLD_MAX];
	struct tf_bytes catalogs[TF_WORLD_MAX];
	uint32_t aggregates[TF_WORLD_MAX];
};

/*
 * From YAML texts; aborts on a text that does not parse. `ladder` NULL: the built-in of class
 * local.
 */
void bench_init(struct bench *bench, uint32_t world, const char *workload, const char *ladder);
void bench_fini(struct bench *bench);

/*
 * Plans and opens a rank on `link`; the caller closes it with tf_bench_rank_close, and finis
 * *program.
 */
enum tf_status bench_open(struct bench *bench, struct tf_link *link, struct tf_program *program,
	struct tf_bench_rank *rank, struct tf_error *err);

/* Plan, open, hook, tune, capture, catalog; a thread a rank. */
void bench_tune(struct bench *bench);

/* Whether every rank ended well; prints the first that did not. */
int bench_is_ok(const struct bench *bench);

/* Writes a package with that catalog to `path`; aborts if it cannot. */
void bench_write_package(const char *path, const struct tf_bytes *catalog);

#ifdef __cplusplus
}
#endif
#endif
