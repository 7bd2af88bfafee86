/* SPDX-License-Identifier: Apache-2.0 */
/* From a group of a program to a collective of NCCL's, on whatever stream the device hands over. */
#include "runtime/comm/nccl/nccl_caller.h"

#include <string.h>

#include "base/alloc.h"
#include "base/deadline.h"

struct tf_nccl_caller {
	struct tf_comm_caller base; /* first: the device's view */
	struct tf_nccl_caller_options options;
	struct tf_nccl_communicator *comm;
	int is_host;
};

static struct tf_nccl_caller *caller_of(struct tf_comm_caller *base)
{
	return (struct tf_nccl_caller *)(void *)base;
}

static enum tf_status enqueue(struct tf_comm_caller *base, uint32_t group, const void *from,
	void *to, void *stream, struct tf_error *err)
{
	struct tf_nccl_caller *caller = caller_of(base);
	const struct tf_program *program = caller->options.program;
	struct tf_nccl_collective what = {.from = from, .to = to};

	if (group >= program->group_count)
		return TF_FAIL(
			err, TF_E_USAGE, "group %u of a program with %u", group, program->group_count);
	what.op = program->groups[group].op;
	what.dtype = program->groups[group].dtype;
	what.count = tf_group_input_count(&program->groups[group]);
	return tf_nccl_communicator_enqueue(caller->comm, &what, stream, err);
}

static void graph_ref(struct tf_comm_caller *base)
{
	tf_nccl_communicator_graph_ref(caller_of(base)->comm);
}

static void graph_unref(struct tf_comm_caller *base)
{
	tf_nccl_communicator_graph_unref(caller_of(base)->comm);
}

static enum tf_status enter(void *user, struct tf_error *err)
{
	const struct tf_nccl_caller *caller = user;

	return caller->options.ops->enter(caller->options.device, err);
}

static void ending(void *user)
{
	const struct tf_nccl_caller *caller = user;

	if (caller->options.ending)
		caller->options.ending(caller->options.user);
}

/* NCCL's collectives take a GPU's memory, a stand-in's the host's. */
static enum tf_status check_memory(const struct tf_nccl_caller *caller, struct tf_error *err)
{
	const struct tf_nccl_api *api = NULL;
	char text[TF_NCCL_VERSION_BYTES];
	int takes_host;

	TF_TRY(tf_nccl_api_open(&api, err));
	tf_nccl_version_text(api->version, text);
	takes_host = api->runs_on_host && *api->runs_on_host;
	if (caller->is_host && !takes_host)
		return TF_FAIL(err, TF_E_UNAVAILABLE,
			"NCCL %s takes a GPU's memory, and the ranks run on the host device", text);
	if (!caller->is_host && takes_host)
		return TF_FAIL(err, TF_E_UNAVAILABLE,
			"this libnccl.so.2 (%s) is a stand-in that takes the host's memory, not a GPU's", text);
	return TF_OK;
}

static enum tf_status open_communicator(struct tf_nccl_caller *caller, struct tf_error *err)
{
	const struct tf_nccl_caller_options *options = &caller->options;
	struct tf_nccl_communicator_options wanted = {.size = sizeof(wanted),
		.link = options->link,
		.timeout_ns = options->timeout_ns,
		.enter = enter,
		.ending = ending,
		.user = caller};
	const struct tf_nccl_facts *facts;

	TF_TRY(tf_nccl_communicator_open(&wanted, &caller->comm, err));
	facts = tf_nccl_communicator_facts(caller->comm);
	if (!facts->one_host)
		return TF_FAIL(err, TF_E_UNAVAILABLE,
			"the ranks are not all on one host (%s): calls of NCCL's are captured on one only",
			facts->why_apart[0] ? facts->why_apart : "another rank says so");
	return TF_OK;
}

enum tf_status tf_nccl_caller_open(
	const struct tf_nccl_caller_options *options, struct tf_nccl_caller **out, struct tf_error *err)
{
	struct tf_nccl_caller *caller = tf_calloc(1, sizeof(*caller));
	struct tf_device_properties properties;
	struct tf_error local = {0};
	enum tf_status status;

	if (caller) {
		caller->base = (struct tf_comm_caller){"nccl", enqueue, graph_ref, graph_unref};
		caller->options = *options;
		options->ops->properties(options->device, &properties);
		caller->is_host = !strcmp(properties.kind, "host");
		(void)!check_memory(caller, &local);
	} else {
		(void)!TF_FAIL(&local, TF_E_NO_MEMORY, "no memory for NCCL's caller");
	}
	status =
		tf_link_agree_ok(options->link, &local, tf_deadline_after(2 * options->timeout_ns), err);
	if (status == TF_OK)
		status = open_communicator(caller, err);
	if (status == TF_OK)
		*out = caller;
	else
		(void)!tf_nccl_caller_close(caller, NULL);
	return status;
}

struct tf_comm_caller *tf_nccl_caller_of(struct tf_nccl_caller *caller)
{
	return &caller->base;
}

const struct tf_nccl_facts *tf_nccl_caller_facts(const struct tf_nccl_caller *caller)
{
	return tf_nccl_communicator_facts(caller->comm);
}

struct wait {
	const struct tf_device_ops *ops;
	struct tf_stream *stream;
};

static enum tf_status wait_for_stream(void *user, int64_t deadline_ns, struct tf_error *err)
{
	const struct wait *wait = user;

	return wait->ops->stream_wait(wait->stream, deadline_ns, err);
}

enum tf_status tf_nccl_caller_wait(
	struct tf_nccl_caller *caller, struct tf_stream *stream, int64_t bound_ns, struct tf_error *err)
{
	struct wait wait = {caller->options.ops, stream};

	/* The host's queue runs in the wait: cut into slices it would be dropped with the first. */
	if (caller->is_host)
		return wait_for_stream(&wait, tf_deadline_after(bound_ns), err);
	return tf_nccl_communicator_wait(caller->comm, bound_ns, wait_for_stream, &wait, err);
}

void tf_nccl_caller_abort(struct tf_nccl_caller *caller, const struct tf_error *why)
{
	if (caller)
		tf_nccl_communicator_abort(caller->comm, why);
}

enum tf_status tf_nccl_caller_close(struct tf_nccl_caller *caller, struct tf_error *err)
{
	enum tf_status status;

	if (!caller)
		return TF_OK;
	status = tf_nccl_communicator_close(caller->comm, err);
	if (status != TF_E_USAGE && status != TF_E_TIMEOUT)
		tf_free(caller);
	return status;
}
