/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   inputs -> ranks tune and capture -> catalog -> temporary file -> fresh ranks check it
 *          -> published
 *
 * A failure anywhere leaves the file of that name as it was; the temporary file goes with the
 * writer.
 */
#include "prepare/export/export.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "catalog/catalog_read.h"
#include "packages/container_write.h"
#include "prepare/export/job_watch.h"
#include "prepare/export/package_check.h"
#include "prepare/tune/plan_foreign.h"
#include "runtime/device/builtin_module.h"

#define WORKLOAD_DEFAULT "decode-window"
/* All phases of a job are bounded one by one; this bounds their sum. */
#define JOB_TIMEOUTS 600

struct inputs {
	struct tf_workload workload;
	struct tf_ladder ladder;
	struct tf_links links;
	int emulated; /* links is set */
};

static void inputs_fini(struct inputs *inputs)
{
	tf_workload_fini(&inputs->workload);
	tf_ladder_fini(&inputs->ladder);
}

/* Links name the class themselves; a class that was named has to be theirs. */
static enum tf_status choose_emulated(const struct tf_export_options *options,
	struct inputs *inputs, struct tf_export_result *result, struct tf_error *err)
{
	const char *device = options->device, *topology = options->topology;
	const struct tf_links *links = &inputs->links;

	if (device && strcmp(device, "auto") != 0 && strcmp(device, "host") != 0)
		return TF_FAIL(
			err, TF_E_USAGE, "links are emulated on the host device, not on '%s'", device);
	if (options->nccl)
		return TF_FAIL(err, TF_E_USAGE, "NCCL's calls have no place on emulated links");
	TF_TRY(tf_links_load(options->links, &inputs->links, err));
	if (options->links_seed)
		TF_TRY(tf_links_reseed(&inputs->links, options->links_seed, err));
	if (options->world > links->world)
		return TF_FAIL(err, TF_E_MISFIT, "the links '%s' have %u ranks, not %u", links->name,
			links->world, options->world);
	if (topology && strcmp(topology, "auto") != 0 && strcmp(topology, links->topology) != 0)
		return TF_FAIL(err, TF_E_MISFIT, "the links '%s' are of topology '%s', not '%s'",
			links->name, links->topology, topology);
	inputs->emulated = 1;
	return tf_topology_choose("host", links->topology, options->world, &result->machine, err);
}

static enum tf_status choose_machine(const struct tf_export_options *options, struct inputs *inputs,
	struct tf_export_result *result, struct tf_error *err)
{
	if (options->links)
		return choose_emulated(options, inputs, result, err);
	if (options->links_seed)
		return TF_FAIL(
			err, TF_E_USAGE, "'--links-seed' is for emulated links: it goes with '--links'");
	return tf_topology_choose(
		options->device, options->topology, options->world, &result->machine, err);
}

/* Every group keeps a rung, as far as is known before a device is open. */
static enum tf_status check_ladder(
	const struct inputs *inputs, uint32_t world, int nccl, struct tf_error *err)
{
	uint32_t offered = TF_LINK_PEER_WRITE | TF_LINK_PEER_READ | TF_LINK_PEER_ATOMIC;
	uint32_t rungs[TF_LADDER_RUNGS_MAX], count, of_nccl = 0;

	if (inputs->emulated)
		offered = tf_links_capabilities(&inputs->links, world);
	if (nccl)
		offered |= TF_LINK_LIBRARY;
	for (uint32_t g = 0; g < inputs->workload.group_count; g++) {
		TF_TRY(tf_ladder_legal(
			&inputs->ladder, &inputs->workload.groups[g], world, offered, rungs, &count, err));
		for (uint32_t i = 0; i < count; i++)
			of_nccl += tf_candidate_is_library(&inputs->ladder.rungs[rungs[i]].candidate);
	}
	if (nccl && !of_nccl)
		return TF_FAIL(err, TF_E_USAGE,
			"NCCL is on, and no rung of ladder '%s' lets it carry a group; those of switched, "
			"host-bridge, ring and fabric do ('--topology', '--ladder')",
			inputs->ladder.name);
	return TF_OK;
}

static enum tf_status load_inputs(const struct tf_export_options *options, struct inputs *inputs,
	struct tf_export_result *result, struct tf_error *err)
{
	TF_TRY(tf_workload_load(
		options->workload ? options->workload : WORKLOAD_DEFAULT, &inputs->workload, err));
	if (options->capacities)
		TF_TRY(tf_workload_restrict(&inputs->workload, options->capacities, err));
	TF_TRY(choose_machine(options, inputs, result, err));
	if (inputs->workload.foreign)
		TF_TRY(tf_foreign_load(inputs->workload.foreign, result->machine.device, err));
	if (options->ladder)
		TF_TRY(tf_ladder_load_file(options->ladder, &inputs->ladder, err));
	else
		TF_TRY(tf_ladder_builtin(result->machine.topology, &inputs->ladder, err));
	return check_ladder(inputs, options->world, options->nccl, err);
}

static enum tf_status read_catalog(int fd, struct tf_export_result *result, struct tf_error *err)
{
	void *to;
	size_t have = 0;

	TF_TRY(tf_bytes_extend(&result->catalog, result->job.catalog_bytes, &to, err));
	while (have < result->job.catalog_bytes) {
		ssize_t got = pread(fd, (char *)to + have, result->job.catalog_bytes - have, (off_t)have);

		if (got <= 0)
			return TF_FAIL_ERRNO(err, "cannot take the catalog over");
		have += (size_t)got;
	}
	return tf_catalog_read(result->catalog.data, result->catalog.size,
		TF_CATALOG_STARTUP | TF_CATALOG_SAMPLES, &result->program, err);
}

static enum tf_status run_ranks(const struct tf_export_options *options,
	const struct inputs *inputs, struct tf_export_result *result, struct tf_error *err)
{
	/*
	 * What a plan without a look at the machine cannot know: its class, which may be another than
	 * that of the ladder that was given, and how it is joined.
	 */
	const char *const of_machine[] = {"topology.class", result->machine.topology,
		result->machine.signature[0] ? "topology.signature" : NULL, result->machine.signature,
		NULL};
	struct tf_rank_job job = {
		.workload = &inputs->workload,
		.ladder = &inputs->ladder,
		.links = inputs->emulated ? &inputs->links : NULL,
		.device = result->machine.device,
		.device_count = result->machine.device_count,
		.timeout_ns = options->timeout_ns,
		.no_peer_access = options->no_peer_access,
		.nccl = options->nccl,
		.catalog_fd = memfd_create("catalog", MFD_CLOEXEC),
		.identity = of_machine,
	};
	int64_t begin = tf_now_ns();
	enum tf_status status;

	if (job.catalog_fd < 0)
		return TF_FAIL_ERRNO(err, "cannot create a memory file for the catalog");
	status = tf_job_run(options->world, tf_rank_job_run, &job,
		tf_deadline_after(JOB_TIMEOUTS * options->timeout_ns), options->progress,
		options->progress_user, options->interrupted, &result->job, sizeof(result->job), err);
	result->tune_ns = tf_now_ns() - begin;
	if (status == TF_OK)
		status = read_catalog(job.catalog_fd, result, err);
	close(job.catalog_fd);
	return status;
}

static enum tf_status check_options(const struct tf_export_options *options, struct tf_error *err)
{
	if (options->world < TF_WORLD_MIN || options->world > TF_WORLD_MAX)
		return TF_FAIL(err, TF_E_USAGE, "a world of %u ranks is not allowed; %d to %d are",
			options->world, TF_WORLD_MIN, TF_WORLD_MAX);
	return TF_OK;
}

enum tf_status tf_tune_only(
	const struct tf_export_options *options, struct tf_export_result *result, struct tf_error *err)
{
	struct inputs inputs = {0};
	enum tf_status status;
	int64_t begin = tf_now_ns();

	TF_TRY(check_options(options, err));
	status = load_inputs(options, &inputs, result, err);
	if (status == TF_OK)
		status = run_ranks(options, &inputs, result, err);
	inputs_fini(&inputs);
	result->total_ns = tf_now_ns() - begin;
	return status;
}

static enum tf_status choose_path(const struct tf_export_options *options,
	const struct inputs *inputs, struct tf_export_result *result, struct tf_error *err)
{
	result->path = options->out_path ? tf_strdup(options->out_path)
									 : tf_asprintf("%s-tp%u-%s.tfp", inputs->workload.name,
										   options->world, result->machine.topology);
	if (!result->path)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for the package's name");
	return TF_OK;
}

/* The image of the build's own kernels. */
static enum tf_status add_builtin(const struct tf_export_result *result, uint32_t member,
	struct tf_package_writer *writer, struct tf_error *err)
{
	const struct tf_module *module = &result->program.modules[0];
	struct tf_device_properties properties = {.compute_capability = module->compute_capability};
	struct tf_builtin_module builtin;

	memcpy(properties.kind, result->machine.device, sizeof(properties.kind));
	TF_TRY(tf_builtin_module_for(&properties, &builtin, err));
	return tf_package_writer_add(
		writer, result->program.members[member].name, builtin.bytes, builtin.size, err);
}

/* Images and constants in the order of names: the workload's by digest, else this build's. */
static enum tf_status add_members(const struct inputs *inputs,
	const struct tf_export_result *result, struct tf_package_writer *writer, struct tf_error *err)
{
	const struct tf_program *program = &result->program;

	for (uint32_t i = 0; i < program->member_count; i++) {
		const struct tf_member *member = &program->members[i];
		const struct tf_bytes *bytes =
			tf_plan_foreign_member(inputs->workload.foreign, member->digest);

		if (bytes)
			TF_TRY(tf_package_writer_add(writer, member->name, bytes->data, bytes->size, err));
		else
			TF_TRY(add_builtin(result, i, writer, err));
	}
	return TF_OK;
}

static enum tf_status write_and_check(const struct tf_export_options *options,
	const struct inputs *inputs, struct tf_export_result *result, struct tf_package_writer *writer,
	struct tf_error *err)
{
	int64_t begin = tf_now_ns();

	TF_TRY(tf_package_writer_add(
		writer, "catalog.sqlite", result->catalog.data, result->catalog.size, err));
	TF_TRY(add_members(inputs, result, writer, err));
	TF_TRY(tf_package_writer_seal(writer, err));
	result->write_ns = tf_now_ns() - begin;
	begin = tf_now_ns();
	TF_TRY(tf_package_check_fresh(tf_package_writer_path(writer), options->world,
		result->machine.device, options->timeout_ns, options->interrupted, err));
	result->check_ns = tf_now_ns() - begin;
	begin = tf_now_ns();
	TF_TRY(tf_package_writer_publish(writer, &result->file_bytes, result->digest, err));
	result->publish_ns = tf_now_ns() - begin;
	return TF_OK;
}

static enum tf_status export_inputs(const struct tf_export_options *options,
	const struct inputs *inputs, struct tf_export_result *result, struct tf_error *err)
{
	struct tf_package_writer *writer = NULL;
	enum tf_status status;

	TF_TRY(choose_path(options, inputs, result, err));
	TF_TRY(tf_package_writer_try(result->path, err));
	TF_TRY(run_ranks(options, inputs, result, err));
	TF_TRY(tf_package_writer_create(result->path, &writer, err));
	status = write_and_check(options, inputs, result, writer, err);
	tf_package_writer_destroy(writer);
	return status;
}

enum tf_status tf_export(
	const struct tf_export_options *options, struct tf_export_result *result, struct tf_error *err)
{
	struct inputs inputs = {0};
	int64_t begin = tf_now_ns();
	enum tf_status status;

	TF_TRY(check_options(options, err));
	status = load_inputs(options, &inputs, result, err);
	if (status == TF_OK)
		status = export_inputs(options, &inputs, result, err);
	inputs_fini(&inputs);
	result->total_ns = tf_now_ns() - begin;
	return status;
}

void tf_export_result_fini(struct tf_export_result *result)
{
	tf_program_fini(&result->program);
	tf_bytes_fini(&result->catalog);
	tf_free(result->path);
	memset(result, 0, sizeof(*result));
}
