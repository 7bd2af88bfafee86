/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The package is made by the ranks of bench_rig; ranks that open it never share memory but through
 * their window.
 */
#include "tests/session/session_rig.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "catalog/catalog_read.h"
#include "catalog/catalog_write.h"
#include "runtime/link/spawn.h"

#define RIG_DEADLINE_NS (60 * TF_NS_PER_S)
#define OUTPUT_SEED     77

static const char workload[] =
	"name: mixed\nsummary: One of each operation.\ncapacities: [1, 2, 8]\ngroups:\n"
	"  - {name: sum, op: all_reduce, dtype: bf16, row_elements: 1031, times: 3}\n"
	"  - {name: gather, op: all_gather, dtype: f16, row_elements: 640, times: 2}\n"
	"  - {name: scatter, op: reduce_scatter, dtype: f32, row_elements: 129, times: 2}\n";

static void die(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s\n", what, why);
	abort();
}

void rig_init_with(struct rig *rig, uint32_t world, const char *ladder, int no_peer_access)
{
	const char *temporary = getenv("TMPDIR");
	size_t bytes = TF_WORLD_MAX * sizeof(rig->reports[0]);

	memset(rig, 0, sizeof(*rig));
	snprintf(
		rig->folder, sizeof(rig->folder), "%s/tf-session-XXXXXX", temporary ? temporary : "/tmp");
	if (!mkdtemp(rig->folder))
		die(rig->folder, "cannot be made");
	snprintf(rig->path, sizeof(rig->path), "%s/good.tfp", rig->folder);
	rig->reports = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (rig->reports == MAP_FAILED)
		die("reports", "no memory");
	bench_init(&rig->bench, world, workload, ladder);
	rig->bench.no_peer_access = no_peer_access;
	bench_tune(&rig->bench);
	if (!bench_is_ok(&rig->bench))
		die("tuning", "failed");
	bench_write_package(rig->path, &rig->bench.catalogs[0]);
}

void rig_init(struct rig *rig, uint32_t world)
{
	rig_init_with(rig, world, NULL, 0);
}

void rig_fini(struct rig *rig)
{
	DIR *folder = opendir(rig->folder);
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			unlinkat(dirfd(folder), entry->d_name, 0);
	}
	if (folder)
		closedir(folder);
	rmdir(rig->folder);
	munmap(rig->reports, TF_WORLD_MAX * sizeof(rig->reports[0]));
	bench_fini(&rig->bench);
}

const char *rig_altered(struct rig *rig, const char *name, const char *const *identity,
	const struct tf_layout *layout, char *out, size_t bytes)
{
	const struct tf_bytes *catalog = &rig->bench.catalogs[0];
	struct tf_program program = {0};
	struct tf_bytes altered = {0};
	struct tf_error err = {0};

	if (tf_catalog_read(catalog->data, catalog->size, TF_CATALOG_STARTUP | TF_CATALOG_SAMPLES,
			&program, &err) != TF_OK)
		die(name, err.text);
	for (; identity && identity[0]; identity += 2) {
		if (tf_program_set_identity(&program, identity[0], identity[1], &err) != TF_OK)
			die(name, err.text);
	}
	if (layout)
		program.layout = *layout;
	if (tf_catalog_write(&program, &altered, &err) != TF_OK)
		die(name, err.text);
	snprintf(out, bytes, "%s/%s", rig->folder, name);
	bench_write_package(out, &altered);
	tf_bytes_fini(&altered);
	tf_program_fini(&program);
	return out;
}

struct tf_session_options rig_options(const struct rig *rig)
{
	return (struct tf_session_options){
		.path = rig->path, .timeout_ns = BENCH_TIMEOUT_NS, .probe = 1};
}

struct run {
	struct rig *rig;
	rig_body body;
	void *user;
};

static enum tf_status run_body(struct run *run, struct tf_link *link, struct tf_error *err)
{
	struct rig_report *report = &run->rig->reports[tf_link_rank(link)];

	report->status = run->body(run->rig, report, link, run->user, err);
	snprintf(report->text, sizeof(report->text), "%s", report->status == TF_OK ? "" : err->text);
	return report->status;
}

static enum tf_status thread_body(void *user, struct tf_link *link, struct tf_error *err)
{
	return run_body(user, link, err);
}

static void clear_reports(struct rig *rig)
{
	memset(rig->reports, 0, TF_WORLD_MAX * sizeof(rig->reports[0]));
	for (uint32_t r = 0; r < TF_WORLD_MAX; r++)
		rig->reports[r].status = TF_STATUS_COUNT; /* a rank that says nothing did not succeed */
}

void rig_threads(struct rig *rig, uint32_t world, rig_body body, void *user)
{
	struct run run = {rig, body, user};
	struct tf_error errors[TF_WORLD_MAX];

	clear_reports(rig);
	run_ranks(world, thread_body, &run, errors);
}

static int process_body(void *user, uint32_t rank, struct tf_link *link, int command_fd)
{
	struct tf_error err = {0};

	(void)rank, (void)command_fd;
	return run_body(user, link, &err) != TF_OK;
}

int rig_processes(struct rig *rig, uint32_t world, uint32_t victim, rig_body body, void *user)
{
	struct run run = {rig, body, user};
	int64_t deadline = tf_deadline_after(RIG_DEADLINE_NS);
	struct tf_ranks *ranks = NULL;
	struct tf_error err = {0};
	int all = 0;

	clear_reports(rig);
	if (tf_ranks_spawn(world, process_body, &run, &ranks, &err) != TF_OK)
		die("processes", err.text);
	while (!all && !tf_deadline_passed(deadline)) {
		struct tf_rank_exit how;

		all = 1;
		for (uint32_t r = 0; r < world; r++)
			all &= r == victim || tf_ranks_has_ended(ranks, r, &how);
		usleep(2000);
	}
	tf_ranks_destroy(ranks);
	return all;
}

static enum tf_status digest_outputs(
	struct tf_session *session, uint32_t capacity, uint64_t *digest, struct tf_error *err)
{
	const struct tf_program *program = tf_session_program(session);

	TF_TRY(tf_session_fill(session, capacity, OUTPUT_SEED, err));
	tf_session_poison(session, capacity);
	TF_TRY(tf_session_step(session, capacity, err));
	TF_TRY(tf_session_compare(session, capacity, err));
	for (uint32_t i = 0; i < program->buffer_count; i++) {
		const struct tf_buffer *buffer = &program->buffers[i];

		if (buffer->role == TF_BUFFER_OUTPUT && program->groups[buffer->group].capacity == capacity)
			*digest = tf_fnv64(*digest, tf_session_buffer_data(session, i), buffer->bytes);
	}
	return TF_OK;
}

static enum tf_status check_all(
	struct tf_session *session, struct rig_report *report, struct tf_error *err)
{
	const struct tf_program *program = tf_session_program(session);

	report->digest = TF_FNV_START;
	for (uint32_t i = 0; i < program->graph_count; i++) {
		uint32_t capacity = program->graphs[i].capacity;

		if (program->graphs[i].kind != TF_GRAPH_STEP)
			continue;
		TF_TRY(tf_session_check(session, capacity, err));
		TF_TRY(tf_session_check(session, capacity / 2 + 1, err));
		TF_TRY(digest_outputs(session, capacity, &report->digest, err));
	}
	return TF_OK;
}

enum tf_status rig_open_and_check(struct rig *rig, struct rig_report *report, struct tf_link *link,
	const struct tf_session_options *options, struct tf_error *err)
{
	struct tf_session *session = NULL;
	enum tf_status status;

	(void)rig;
	TF_TRY(tf_session_open(options, link, &session, err));
	report->base = tf_session_base(session);
	report->relocated = tf_session_relocated(session);
	status = check_all(session, report, err);
	tf_session_close(session);
	return status;
}

int rig_is_ok(const struct rig *rig, uint32_t world)
{
	for (uint32_t r = 0; r < world; r++) {
		if (rig->reports[r].status == TF_OK)
			continue;
		fprintf(stderr, "rank %u: %s: %s\n", r, tf_status_name(rig->reports[r].status),
			rig->reports[r].text);
		return 0;
	}
	return 1;
}
