/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening and closing a session.
 *
 * 1. Each phase ends in agreement: all ranks go on, or all return the same refusal, naming the
 *    rank where it arose.
 * 2. Nothing is tuned, captured or written; the program is only rebuilt.
 * 3. Closing goes backwards: graphs, modules, communicators, memory, device.
 */
#include "runtime/session/session_private.h"

#include <string.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "catalog/catalog_read.h"
#include "runtime/collective/collective.h"
#include "runtime/collective/launch_check.h"
#include "runtime/session/machine_identity.h"
#include "runtime/session/peer_access.h"
#include "runtime/session/peer_proof.h"

/*
 * A group may take this many timeouts to load: reading, mapping and probing are each bounded by
 * one.
 */
#define LOAD_TIMEOUTS  5
#define CLOSE_TIMEOUTS 2

static const char *const phase_names[TF_PHASE_COUNT] = {"package", "identity", "device", "window",
	"peers", "proof", "library", "graphs", "protocol", "probe"};

const char *tf_session_phase_name(enum tf_session_phase phase)
{
	return (unsigned)phase < TF_PHASE_COUNT ? phase_names[phase] : "unknown";
}

/* The parent's copy where there is one; its arrays then stay the parent's. */
static enum tf_status read_package(
	struct tf_session *session, const struct tf_session_options *options, struct tf_error *err)
{
	unsigned parts = options->startup ? TF_CATALOG_STARTUP | TF_CATALOG_SAMPLES : TF_CATALOG_STEP;

	if (options->loaded) {
		session->package = *options->loaded;
		session->package_borrowed = 1;
		return TF_OK;
	}
	return tf_loaded_package_open(options->path, parts, options->strict, &session->package, err);
}

static enum tf_status phase_package(struct tf_session *session,
	const struct tf_session_options *options, int64_t deadline, struct tf_error *err)
{
	struct tf_error local = {0};

	if (read_package(session, options, &local) == TF_OK)
		(void)!tf_session_library_find(session, options, &local);
	TF_TRY(tf_link_agree_ok(session->link, &local, deadline, err));
	return tf_link_agree_equal(session->link, "the package's digest", session->package.digest,
		TF_DIGEST_BYTES, deadline, err);
}

static enum tf_status phase_device(struct tf_session *session,
	const struct tf_session_options *options, int64_t deadline, struct tf_error *err)
{
	struct tf_error local = {0};

	(void)!tf_session_open_device(session, options, &local);
	TF_TRY(tf_link_agree_ok(session->link, &local, deadline, err));
	return tf_session_count_neighbours(session, deadline, err);
}

static enum tf_status check_capacity(const struct tf_session *session, struct tf_error *err)
{
	for (uint32_t i = 0; i < session->package.program.graph_count; i++) {
		const struct tf_graph *graph = &session->package.program.graphs[i];

		if (graph->kind == TF_GRAPH_STEP && graph->capacity <= session->capacity_max)
			return TF_OK;
	}
	return TF_FAIL(
		err, TF_E_USAGE, "capacity %u is below the smallest of the package", session->capacity_max);
}

static enum tf_status phase_identity(struct tf_session *session,
	const struct tf_session_options *options, int64_t deadline, struct tf_error *err)
{
	struct tf_error local = {0};

	(void)options;
	if (tf_identity_compare(
			&session->package.program, &session->properties, session->world, &local) == TF_OK &&
		check_capacity(session, &local) == TF_OK &&
		tf_protocol_check(&session->package.program.layout, session->world, &local) == TF_OK &&
		tf_launches_check(&session->package.program, &local) == TF_OK &&
		tf_peer_access_is_off(&session->package.program))
		(void)!tf_peer_access_check(&session->package.program, &local);
	if (local.status == TF_OK)
		(void)!tf_session_library_check(session, &local);
	return tf_link_agree_ok(session->link, &local, deadline, err);
}

static enum tf_status phase_window(struct tf_session *session,
	const struct tf_session_options *options, int64_t deadline, struct tf_error *err)
{
	return tf_rank_window_reserve(session->ops, session->device, session->link,
		&session->package.program.layout, options->base_first, deadline, &session->window, err);
}

static enum tf_status phase_peers(struct tf_session *session,
	const struct tf_session_options *options, int64_t deadline, struct tf_error *err)
{
	struct tf_layout layout = tf_session_layout_in_use(session);

	(void)options;
	session->memory = (struct tf_rank_memory){
		.ops = session->ops,
		.device = session->device,
		.window = &session->window,
		.capabilities = session->properties.capabilities,
	};
	TF_TRY(tf_rank_window_connect(&session->window, session->device, session->link,
		&session->package.program.layout, tf_peer_access_is_offered(&session->properties), deadline,
		err));
	tf_rank_window_populate(&session->window, session->properties.capabilities, &layout);
	return TF_OK;
}

static enum tf_status phase_proof(struct tf_session *session,
	const struct tf_session_options *options, int64_t deadline, struct tf_error *err)
{
	(void)options, (void)deadline;
	return tf_peer_proof(&session->window, session->device, session->link,
		&session->package.program.layout, session->timeout_ns, err);
}

static enum tf_status phase_library(struct tf_session *session,
	const struct tf_session_options *options, int64_t deadline, struct tf_error *err)
{
	(void)options, (void)deadline; /* NCCL's start-up has a bound of its own */
	return tf_session_library_open(session, err);
}

static enum tf_status load_modules(struct tf_session *session, struct tf_error *err)
{
	const struct tf_loaded_package *package = &session->package;
	struct tf_module_image *images = tf_calloc(package->program.module_count, sizeof(images[0]));
	enum tf_status status;

	if (!images)
		return TF_FAIL(
			err, TF_E_NO_MEMORY, "no memory for %u modules", package->program.module_count);
	for (uint32_t i = 0; i < package->program.module_count; i++)
		images[i] = (struct tf_module_image){package->images[i].data, package->images[i].size};
	status = tf_rebuild_modules_load(
		&package->program, session->ops, session->device, images, &session->modules, err);
	tf_free(images);
	return status;
}

static enum tf_status write_constants(struct tf_session *session, struct tf_error *err)
{
	const struct tf_loaded_package *package = &session->package;

	for (uint32_t i = 0; i < package->program.constant_count; i++) {
		const struct tf_constant *constant = &package->program.constants[i];

		if (constant->rank >= 0 && (uint32_t)constant->rank != session->rank)
			continue;
		TF_TRY(
			session->ops->write(session->device, tf_session_buffer_data(session, constant->buffer),
				package->constants[i].data, package->constants[i].size, err));
	}
	return TF_OK;
}

int tf_session_wants(
	const struct tf_session *session, const struct tf_session_options *options, uint32_t graph)
{
	const struct tf_graph *one = &session->package.program.graphs[graph];

	return one->kind == TF_GRAPH_STARTUP ? options->startup
										 : one->capacity <= session->capacity_max;
}

static enum tf_status build_graphs(
	struct tf_session *session, const struct tf_session_options *options, struct tf_error *err)
{
	struct tf_program *program = &session->package.program;
	struct tf_rebuild_target target = {
		.ops = session->ops,
		.device = session->device,
		.window = tf_rank_window_view(&session->window),
		.comm = session->nccl ? tf_nccl_caller_of(session->nccl) : NULL,
	};

	TF_TRY(write_constants(session, err));
	TF_TRY(load_modules(session, err));
	target.kernels = session->modules.kernels;
	session->execs = tf_calloc(program->graph_count, sizeof(session->execs[0]));
	if (!session->execs)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %u graphs", program->graph_count);
	for (uint32_t i = 0; i < program->graph_count; i++) {
		if (tf_session_wants(session, options, i))
			TF_TRY(tf_graph_rebuild(program, i, &target, &session->execs[i], err));
	}
	return TF_OK;
}

static enum tf_status phase_graphs(struct tf_session *session,
	const struct tf_session_options *options, int64_t deadline, struct tf_error *err)
{
	struct tf_error local = {0};

	(void)!build_graphs(session, options, &local);
	return tf_link_agree_ok(session->link, &local, deadline, err);
}

static enum tf_status phase_protocol(struct tf_session *session,
	const struct tf_session_options *options, int64_t deadline, struct tf_error *err)
{
	(void)options;
	return tf_session_reset_protocol(session, deadline, err);
}

static enum tf_status phase_probe(struct tf_session *session,
	const struct tf_session_options *options, int64_t deadline, struct tf_error *err)
{
	(void)deadline; /* it has bounds of its own */
	return tf_session_probe(session, options->probe, err);
}

typedef enum tf_status (*phase_fn)(struct tf_session *session,
	const struct tf_session_options *options, int64_t deadline_ns, struct tf_error *err);

struct phase_step {
	enum tf_session_phase phase;
	phase_fn fn;
};

static const struct phase_step phases[] = {
	{TF_PHASE_PACKAGE, phase_package},
	{TF_PHASE_DEVICE, phase_device},
	{TF_PHASE_IDENTITY, phase_identity},
	{TF_PHASE_WINDOW, phase_window},
	{TF_PHASE_PEERS, phase_peers},
	{TF_PHASE_PROOF, phase_proof},
	{TF_PHASE_LIBRARY, phase_library},
	{TF_PHASE_GRAPHS, phase_graphs},
	{TF_PHASE_PROTOCOL, phase_protocol},
	{TF_PHASE_PROBE, phase_probe},
};

/* The host device opens at once; a stopped peer is then found within the timeout. */
static int64_t device_open_ns(const struct tf_program *program)
{
	const char *kind = tf_program_identity(program, "device.kind");

	return kind && !strcmp(kind, "host") ? 0 : TF_DEVICE_OPEN_NS;
}

/* What a phase may take on top of a timeout. */
static int64_t extra_ns(const struct tf_session *session, enum tf_session_phase phase)
{
	if (phase == TF_PHASE_DEVICE)
		return device_open_ns(&session->package.program);
	return phase == TF_PHASE_LIBRARY && session->needs_nccl
		? tf_session_library_bound(session->timeout_ns)
		: 0;
}

int64_t tf_session_load_bound(const struct tf_program *program, int64_t timeout_ns)
{
	return LOAD_TIMEOUTS * timeout_ns + device_open_ns(program) +
		(tf_program_calls_library(program) ? tf_session_library_bound(timeout_ns) : 0);
}

int64_t tf_session_close_bound(const struct tf_program *program, int64_t timeout_ns)
{
	return CLOSE_TIMEOUTS * timeout_ns + (tf_program_calls_library(program) ? TF_NCCL_END_NS : 0);
}

enum tf_status tf_session_open(const struct tf_session_options *options, struct tf_link *link,
	struct tf_session **out, struct tf_error *err)
{
	struct tf_session *session = tf_calloc(1, sizeof(*session));
	enum tf_status status = TF_OK;
	int64_t deadline, begin;

	if (!session)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a session");
	session->control_copy = tf_calloc(1, sizeof(*session->control_copy));
	if (!session->control_copy) {
		tf_free(session);
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a session");
	}
	session->link = link;
	session->rank = tf_link_rank(link);
	session->world = tf_link_world(link);
	session->timeout_ns = options->timeout_ns ? options->timeout_ns : TF_TIMEOUT_DEFAULT_NS;
	session->startup_loaded = options->startup;
	session->capacity_max = options->capacity_max ? options->capacity_max : UINT32_MAX;
	deadline = tf_deadline_after(LOAD_TIMEOUTS * session->timeout_ns);
	for (size_t i = 0; status == TF_OK && i < sizeof(phases) / sizeof(phases[0]); i++) {
		int64_t extra = extra_ns(session, phases[i].phase);
		int64_t bound = tf_deadline_after(session->timeout_ns + extra);

		begin = tf_now_ns();
		deadline += extra;
		status = phases[i].fn(session, options, bound < deadline ? bound : deadline, err);
		session->phase_ns[phases[i].phase] = tf_now_ns() - begin;
	}
	if (status != TF_OK) {
		tf_session_close(session);
		return status;
	}
	session->steps = 0; /* the probe's do not count */
	*out = session;
	return TF_OK;
}

void tf_session_close(struct tf_session *session)
{
	if (!session)
		return;
	for (uint32_t i = 0; session->execs && i < session->package.program.graph_count; i++) {
		if (session->execs[i])
			session->ops->graph_destroy(session->execs[i]);
	}
	tf_free(session->execs);
	tf_free(session->calls_nccl);
	tf_free(session->expected);
	tf_free(session->control_copy);
	tf_free(session->found);
	for (int d = 0; d < TF_DTYPE_COUNT; d++)
		tf_free(session->streams[d]);
	tf_rebuild_modules_unload(&session->modules);
	if (session->stream)
		session->ops->stream_destroy(session->stream);
	/* What NCCL did not give back may still be in this memory: all is left to the process's end. */
	if (tf_nccl_caller_close(session->nccl, NULL) == TF_E_TIMEOUT)
		return;
	tf_rank_window_close(&session->window);
	if (session->ops)
		session->ops->close(session->device);
	if (!session->package_borrowed)
		tf_loaded_package_fini(&session->package);
	tf_free(session);
}
