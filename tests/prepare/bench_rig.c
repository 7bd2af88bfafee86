/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same order of calls as a rank's process at export, on threads, with a hook before the first
 * launch.
 */
#include "tests/prepare/bench_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/catalog_write.h"
#include "packages/container_write.h"
#include "prepare/tune/plan.h"
#include "runtime/collective/collective.h"
#include "runtime/collective/startup.h"
#include "runtime/session/peer_access.h"

static void die(const char *what, const struct tf_error *err)
{
	fprintf(stderr, "%s: %s\n", what, err->text);
	abort();
}

void bench_init(struct bench *bench, uint32_t world, const char *workload, const char *ladder)
{
	struct tf_error err = {0};

	memset(bench, 0, sizeof(*bench));
	bench->world = world;
	bench->timeout_ns = BENCH_TIMEOUT_NS;
	tf_collective_register_host();
	if (tf_workload_parse(workload, strlen(workload), "test.yaml", &bench->workload, &err) != TF_OK)
		die("workload", &err);
	if (ladder) {
		if (tf_ladder_parse(ladder, strlen(ladder), "test.yaml", &bench->ladder, &err) != TF_OK)
			die("ladder", &err);
	} else if (tf_ladder_builtin("local", &bench->ladder, &err) != TF_OK) {
		die("ladder", &err);
	}
}

void bench_fini(struct bench *bench)
{
	tf_workload_fini(&bench->workload);
	tf_ladder_fini(&bench->ladder);
	for (uint32_t r = 0; r < TF_WORLD_MAX; r++) {
		tf_program_fini(&bench->programs[r]);
		tf_bytes_fini(&bench->catalogs[r]);
	}
}

enum tf_status bench_open(struct bench *bench, struct tf_link *link, struct tf_program *program,
	struct tf_bench_rank *rank, struct tf_error *err)
{
	struct tf_device_properties properties;

	rank->link = link;
	rank->timeout_ns = bench->timeout_ns;
	rank->program = program;
	TF_TRY(tf_device_ops_find("host", &rank->ops, err));
	TF_TRY(rank->ops->open(0, &rank->device, err));
	rank->ops->properties(rank->device, &properties);
	if (bench->links)
		TF_TRY(tf_links_attach(bench->links, tf_link_rank(link), bench->world, &properties,
			&bench->clocks[tf_link_rank(link)], err));
	if (bench->no_peer_access)
		tf_peer_access_withdraw(&properties);
	TF_TRY(tf_plan(&bench->workload, &bench->ladder, &properties, bench->world, program, err));
	if (bench->links)
		TF_TRY(tf_links_describe(bench->links, program, err));
	return tf_bench_rank_open(rank, err);
}

static enum tf_status tune_rank(struct bench *bench, uint32_t number, struct tf_bench_rank *rank,
	struct tf_link *link, struct tf_error *err)
{
	struct tf_tune_times times = {0};

	TF_TRY(bench_open(bench, link, &bench->programs[number], rank, err));
	if (bench->hook)
		TF_TRY(bench->hook(bench, rank, err));
	TF_TRY(tf_tune(rank, &bench->aggregates[number], &times, err));
	TF_TRY(tf_capture_step_graphs(rank, err));
	return tf_catalog_write(&bench->programs[number], &bench->catalogs[number], err);
}

static enum tf_status body(void *user, struct tf_link *link, struct tf_error *err)
{
	struct bench *bench = user;
	struct tf_bench_rank rank = {0};
	enum tf_status status = tune_rank(bench, tf_link_rank(link), &rank, link, err);

	tf_bench_rank_close(&rank);
	tf_links_detach(bench->clocks[tf_link_rank(link)]);
	bench->clocks[tf_link_rank(link)] = NULL;
	return status;
}

void bench_tune(struct bench *bench)
{
	for (uint32_t r = 0; r < bench->world; r++)
		bench->aggregates[r] =
			0; /* what a caller's zeroed storage holds: success, if nobody writes it */
	run_ranks(bench->world, body, bench, bench->errors);
}

int bench_is_ok(const struct bench *bench)
{
	for (uint32_t r = 0; r < bench->world; r++) {
		if (bench->errors[r].status == TF_OK)
			continue;
		fprintf(stderr, "rank %u: %s: %s\n", r, tf_status_name(bench->errors[r].status),
			bench->errors[r].text);
		return 0;
	}
	return 1;
}

void bench_write_package(const char *path, const struct tf_bytes *catalog)
{
	struct tf_package_writer *writer = NULL;
	struct tf_error err = {0};

	if (tf_package_writer_create(path, &writer, &err) != TF_OK ||
		tf_package_writer_add(writer, "catalog.sqlite", catalog->data, catalog->size, &err) !=
			TF_OK ||
		tf_package_writer_seal(writer, &err) != TF_OK ||
		tf_package_writer_publish(writer, NULL, NULL, &err) != TF_OK)
		die(path, &err);
	tf_package_writer_destroy(writer);
}
