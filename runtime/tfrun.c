/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public calls of libtfrun: a thin coat over session/. Nothing of the inside leaks: statuses
 * and errors are copied, buffers are described by value, and a call that touches the device puts
 * back what the caller's thread had current. Steps are in tfrun_steps.c.
 */
#include "runtime/tfrun_private.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/deadline.h"
#include "runtime/device/caller_context.h"
#include "runtime/link/launcher.h"

#define TIMEOUT_MS_DEFAULT 2000
#define TIMEOUT_MS_MAX     600000
#define LOAD_TIMEOUTS      5

static const enum tfrun_status statuses[TF_STATUS_COUNT] = {
	[TF_OK] = TFRUN_OK,
	[TF_E_USAGE] = TFRUN_USAGE,
	[TF_E_INVALID] = TFRUN_INVALID,
	[TF_E_DAMAGED] = TFRUN_DAMAGED,
	[TF_E_VERSION] = TFRUN_VERSION,
	[TF_E_MISFIT] = TFRUN_MISFIT,
	[TF_E_NOT_FOUND] = TFRUN_NOT_FOUND,
	[TF_E_UNSUPPORTED] = TFRUN_UNAVAILABLE,
	[TF_E_UNAVAILABLE] = TFRUN_UNAVAILABLE,
	[TF_E_NO_MEMORY] = TFRUN_NO_MEMORY,
	[TF_E_LIMIT] = TFRUN_INVALID,
	[TF_E_TIMEOUT] = TFRUN_TIMEOUT,
	[TF_E_DISCONNECTED] = TFRUN_DISCONNECTED,
	[TF_E_ABORTED] = TFRUN_ABORTED,
	[TF_E_MISMATCH] = TFRUN_MISMATCH,
	[TF_E_SYSTEM] = TFRUN_SYSTEM,
	[TF_E_INTERNAL] = TFRUN_INTERNAL,
};

enum tfrun_status tf_tfrun_hand_over(
	enum tf_status status, const struct tf_error *inner, struct tfrun_error *error)
{
	enum tfrun_status outer =
		(unsigned)status < TF_STATUS_COUNT ? statuses[status] : TFRUN_INTERNAL;

	if (!error)
		return outer;
	memset(error, 0, sizeof(*error));
	error->status = outer;
	if (status != TF_OK) {
		error->native = inner->native;
		snprintf(error->text, sizeof(error->text), "%s", inner->text);
	}
	return outer;
}

static enum tf_status check_options(const struct tfrun_options *options, struct tf_error *err)
{
	if (!options || options->size != sizeof(*options))
		return TF_FAIL(err, TF_E_USAGE,
			"options.size is %zu, not %zu: built against another tfrun.h",
			options ? options->size : 0, sizeof(*options));
	if (options->world < TF_WORLD_MIN || options->world > TF_WORLD_MAX)
		return TF_FAIL(err, TF_E_USAGE, "a world of %u ranks is not allowed; %d to %d are",
			options->world, TF_WORLD_MIN, TF_WORLD_MAX);
	if (options->rank >= options->world)
		return TF_FAIL(
			err, TF_E_USAGE, "rank %u is not below the world of %u", options->rank, options->world);
	if (!options->address == !options->link_fds)
		return TF_FAIL(
			err, TF_E_USAGE, "exactly one of options.address and options.link_fds must be given");
	if (options->timeout_ms > TIMEOUT_MS_MAX)
		return TF_FAIL(err, TF_E_USAGE, "a timeout of %u ms is above the largest, %d",
			options->timeout_ms, TIMEOUT_MS_MAX);
	return TF_OK;
}

static int64_t timeout_ns(const struct tfrun_options *options)
{
	uint32_t ms = options->timeout_ms ? options->timeout_ms : TIMEOUT_MS_DEFAULT;

	return ms * TF_NS_PER_MS;
}

static enum tf_status connect_link(
	const struct tfrun_options *options, struct tf_link **out, struct tf_error *err)
{
	int64_t deadline = tf_deadline_after(LOAD_TIMEOUTS * timeout_ns(options));
	struct tf_link_options link = {
		.size = sizeof(link),
		.address = options->address,
		.rank = options->rank,
		.world = options->world,
		.secret = options->secret,
		.secret_bytes = options->secret ? strlen(options->secret) : 0,
		.deadline_ns = deadline,
	};
	struct tf_link_ends ends = {.world = options->world};

	if (options->address)
		return tf_link_connect(&link, out, err);
	for (uint32_t rank = 0; rank < TF_WORLD_MAX; rank++) {
		ends.root_fds[rank] = options->rank == 0 ? options->link_fds[rank] : -1;
		ends.peer_fds[rank] = rank == options->rank && rank ? options->link_fds[0] : -1;
	}
	return tf_link_attach(&ends, options->rank, out, err);
}

enum tfrun_status tfrun_link_pairs(uint32_t world, int (*ends)[8], struct tfrun_error *error)
{
	struct tf_link_ends made;
	struct tf_error err = {0};
	enum tf_status status = tf_link_create_pairs(world, &made, &err);

	if (status == TF_OK) {
		for (uint32_t rank = 0; rank < world; rank++) {
			for (uint32_t peer = 0; peer < TF_WORLD_MAX; peer++)
				ends[rank][peer] = rank == 0 && peer < world ? made.root_fds[peer] : -1;
			if (rank)
				ends[rank][0] = made.peer_fds[rank];
		}
	}
	return tf_tfrun_hand_over(status, &err, error);
}

enum tfrun_status tfrun_launch_read(struct tfrun_launch *launch, struct tfrun_error *error)
{
	struct tf_launcher found = {0};
	struct tf_error err = {0};
	enum tf_status status;

	if (launch->size != sizeof(*launch))
		status =
			TF_FAIL(&err, TF_E_USAGE, "launch.size is %zu, not %zu", launch->size, sizeof(*launch));
	else
		status = tf_launcher_read(&found, &err);
	if (status == TF_OK) {
		launch->rank = found.rank;
		launch->world = found.world;
		launch->local_rank = found.local_rank;
		memcpy(launch->address, found.address, sizeof(launch->address));
	}
	return tf_tfrun_hand_over(status, &err, error);
}

static enum tf_status open_session(const char *path, const struct tfrun_options *options,
	struct tfrun_session **out, struct tf_error *err)
{
	struct tf_session_options inner = {
		.path = path,
		.device = options->device,
		.is_guest = 1,
		.timeout_ns = timeout_ns(options),
		.capacity_max = options->capacity_max,
		.strict = options->strict,
		.no_peer_access = options->no_peer_access,
		.probe = 1,
	};
	int64_t begin = tf_now_ns();
	struct tfrun_session *session;
	struct tf_link *link = NULL;
	enum tf_status status;

	/* First of all, so that the caller's descriptors are taken whatever follows. */
	TF_TRY(connect_link(options, &link, err));
	session = tf_calloc(1, sizeof(*session));
	if (!session) {
		tf_link_close(link);
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a session");
	}
	session->link = link;
	status = tf_session_open(&inner, session->link, &session->inner, err);
	if (status != TF_OK) {
		tfrun_close(session);
		return status;
	}
	session->load_ns = tf_now_ns() - begin;
	*out = session;
	return TF_OK;
}

enum tfrun_status tfrun_open(const char *package_path, const struct tfrun_options *options,
	struct tfrun_session **out_session, struct tfrun_error *error)
{
	struct tf_error err = {0};
	enum tf_status status = check_options(options, &err);
	struct tf_caller_context caller;

	if (status == TF_OK && (!package_path || !out_session))
		status = TF_FAIL(&err, TF_E_USAGE, "package_path and out_session must not be NULL");
	tf_caller_context_learn();
	tf_caller_context_note(&caller);
	if (status == TF_OK)
		status = open_session(package_path, options, out_session, &err);
	tf_caller_context_put_back(&caller);
	return tf_tfrun_hand_over(status, &err, error);
}

void tfrun_close(struct tfrun_session *session)
{
	struct tf_caller_context caller;

	if (!session)
		return;
	tf_caller_context_note(&caller);
	tf_session_close(session->inner);
	tf_caller_context_put_back(&caller);
	tf_link_close(session->link);
	tf_free(session);
}

/* Operands only: what a caller may read and write. */
static int is_public(const struct tf_buffer *buffer)
{
	return buffer->role == TF_BUFFER_INPUT || buffer->role == TF_BUFFER_OUTPUT;
}

uint32_t tfrun_buffer_count(const struct tfrun_session *session)
{
	const struct tf_program *program = tf_session_program(session->inner);
	uint32_t count = 0;

	for (uint32_t i = 0; i < program->buffer_count; i++)
		count += (uint32_t)is_public(&program->buffers[i]);
	return count;
}

static enum tf_status check_size(const struct tfrun_buffer *out, struct tf_error *err)
{
	if (out->size != sizeof(*out))
		return TF_FAIL(err, TF_E_USAGE, "buffer.size is %zu, not %zu", out->size, sizeof(*out));
	return TF_OK;
}

static void describe(const struct tfrun_session *session, uint32_t index, struct tfrun_buffer *out)
{
	const struct tf_program *program = tf_session_program(session->inner);
	const struct tf_buffer *buffer = &program->buffers[index];

	*out = (struct tfrun_buffer){
		.size = sizeof(*out),
		.name = buffer->name,
		.role = buffer->role == TF_BUFFER_INPUT ? TFRUN_INPUT : TFRUN_OUTPUT,
		.dtype = tf_dtype_name(buffer->dtype),
		.dims_count = buffer->dims_count,
		.bytes = buffer->bytes,
		.data = tf_session_buffer_data(session->inner, index),
		.cuda_device = tf_session_cuda_device(session->inner),
	};
	memcpy(out->dims, buffer->dims, sizeof(out->dims));
	if (buffer->group < program->group_count)
		out->capacity = program->groups[buffer->group].capacity;
}

enum tfrun_status tfrun_buffer_at(struct tfrun_session *session, uint32_t index,
	struct tfrun_buffer *out, struct tfrun_error *error)
{
	const struct tf_program *program = tf_session_program(session->inner);
	struct tf_error err = {0};
	uint32_t left = index;

	if (check_size(out, &err) != TF_OK)
		return tf_tfrun_hand_over(err.status, &err, error);
	for (uint32_t i = 0; i < program->buffer_count; i++) {
		if (!is_public(&program->buffers[i]) || left--)
			continue;
		describe(session, i, out);
		return tf_tfrun_hand_over(TF_OK, &err, error);
	}
	return tf_tfrun_hand_over(TF_FAIL(&err, TF_E_USAGE, "buffer %u is not below the count of %u",
								  index, tfrun_buffer_count(session)),
		&err, error);
}

enum tfrun_status tfrun_buffer_find(struct tfrun_session *session, const char *name,
	struct tfrun_buffer *out, struct tfrun_error *error)
{
	const struct tf_program *program = tf_session_program(session->inner);
	struct tf_error err = {0};

	if (check_size(out, &err) != TF_OK)
		return tf_tfrun_hand_over(err.status, &err, error);
	for (uint32_t i = 0; i < program->buffer_count; i++) {
		if (!is_public(&program->buffers[i]) || strcmp(program->buffers[i].name, name) != 0)
			continue;
		describe(session, i, out);
		return tf_tfrun_hand_over(TF_OK, &err, error);
	}
	return tf_tfrun_hand_over(
		TF_FAIL(&err, TF_E_NOT_FOUND, "no buffer is named '%s'", name), &err, error);
}

enum tfrun_status tfrun_get_info(
	const struct tfrun_session *session, struct tfrun_info *info, struct tfrun_error *error)
{
	const struct tf_program *program = tf_session_program(session->inner);
	struct tf_error err = {0};

	if (info->size != sizeof(*info))
		return tf_tfrun_hand_over(
			TF_FAIL(&err, TF_E_USAGE, "info.size is %zu, not %zu", info->size, sizeof(*info)), &err,
			error);
	*info = (struct tfrun_info){
		.size = sizeof(*info),
		.rank = tf_session_rank(session->inner),
		.world = program->world,
		.groups = program->group_count,
		.steps = tf_session_steps(session->inner),
		.relocated = (uint64_t)tf_session_relocated(session->inner),
		.load_ns = (uint64_t)session->load_ns,
		.window_base = tf_session_base(session->inner),
		.cuda_device = tf_session_cuda_device(session->inner),
	};
	tf_session_capacities(session->inner, &info->capacities, &info->largest_capacity);
	tf_hex(tf_session_digest(session->inner), TF_DIGEST_BYTES, info->package_sha256);
	return tf_tfrun_hand_over(TF_OK, &err, error);
}

#define TEXT_OF(x)      #x
#define DOTTED(a, b, c) TEXT_OF(a) "." TEXT_OF(b) "." TEXT_OF(c)

const char *tfrun_version(void)
{
	return DOTTED(TFRUN_VERSION_MAJOR, TFRUN_VERSION_MINOR, TFRUN_VERSION_PATCH);
}
