/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1. On an addressable device nothing is allocated and nothing copied: steps look at their
 *    control words in place.
 * 2. Elsewhere what a reset writes is made in host memory by the same function and copied as a
 *    whole.
 */
#include "runtime/session/rank_memory.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "runtime/collective/collective.h"
#include "runtime/collective/startup.h"

static int is_addressable(const struct tf_rank_memory *memory)
{
	return (memory->capabilities & TF_DEVICE_ADDRESSABLE) != 0;
}

/* Everything that a reset writes lies before the staging slots. */
enum tf_status tf_rank_memory_reset(const struct tf_rank_memory *memory,
	const struct tf_layout *layout, int64_t timeout_ns, struct tf_error *err)
{
	const struct tf_rank_window *window = memory->window;
	void *own = tf_rank_window_at(window, 0, 0);
	enum tf_status status;
	void *image;

	if (is_addressable(memory)) {
		tf_protocol_reset(own, layout, window->rank, window->world, (uint64_t)timeout_ns, 0);
		return TF_OK;
	}
	image = tf_calloc(1, layout->staging_off);
	if (!image)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for an image of the protocol memory");
	tf_protocol_reset(image, layout, window->rank, window->world, (uint64_t)timeout_ns, 0);
	status = memory->ops->write(memory->device, own, image, layout->staging_off, err);
	tf_free(image);
	return status;
}

enum tf_status tf_rank_memory_prepare_startup(
	const struct tf_rank_memory *memory, const struct tf_program *program, struct tf_error *err)
{
	void *own = tf_rank_window_at(memory->window, 0, program->layout.startup_off);
	uint64_t needed = tf_startup_places(
		program->group_count, program->candidate_count, NULL, NULL, NULL, NULL, NULL);
	enum tf_status status;
	void *image;

	/* The layout is the file's word; what is written goes by the counts. */
	if (program->layout.startup_bytes < needed)
		return TF_FAIL(err, TF_E_INVALID,
			"the startup storage has %" PRIu64 " bytes, its %u candidates need %" PRIu64,
			program->layout.startup_bytes, program->candidate_count, needed);
	if (is_addressable(memory)) {
		tf_startup_prepare(own, program);
		return TF_OK;
	}
	image = tf_calloc(1, program->layout.startup_bytes);
	if (!image)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for an image of the startup storage");
	tf_startup_prepare(image, program);
	status = memory->ops->write(memory->device, own, image, program->layout.startup_bytes, err);
	tf_free(image);
	return status;
}

static const struct tf_fault unreadable = {
	.code = TF_FAULT_UNREADABLE,
	.group = TF_PROGRAM_NONE,
};

const struct tf_control *tf_rank_memory_control(
	const struct tf_rank_memory *memory, uint32_t peer, struct tf_control *copy)
{
	const struct tf_control *control = tf_rank_window_at(memory->window, peer, 0);

	if (is_addressable(memory))
		return control;
	if (memory->ops->read(memory->device, copy, control, sizeof(*copy), NULL) != TF_OK) {
		memset(copy, 0, sizeof(*copy));
		copy->fault = unreadable;
	}
	return copy;
}

_Static_assert(offsetof(struct tf_control, fault) - offsetof(struct tf_control, abort) ==
		offsetof(struct tf_verdict, fault),
	"a verdict is not what stands in the control words");

int tf_rank_memory_counts(const struct tf_rank_memory *memory)
{
	const void *words = tf_rank_window_at(memory->window, 0, offsetof(struct tf_control, abort));
	struct tf_verdict copy;

	if (is_addressable(memory))
		return tf_verdict_counts(words);
	return memory->ops->read(memory->device, &copy, words, sizeof(copy), NULL) == TF_OK &&
		tf_verdict_counts(&copy);
}

int tf_verdict_counts(const struct tf_verdict *verdict)
{
	return __atomic_load_n(&verdict->fault.code, __ATOMIC_ACQUIRE) == TF_FAULT_NONE &&
		!__atomic_load_n(&verdict->abort, __ATOMIC_ACQUIRE);
}

void tf_rank_memory_abort(const struct tf_rank_memory *memory)
{
	const struct tf_rank_window *window = memory->window;
	uint32_t raised = 1 + window->rank, found = 0;

	if (is_addressable(memory)) {
		tf_collective_abort(window->base, window->stride, window->world, window->rank);
		return;
	}
	for (uint32_t peer = 0; peer < window->world; peer++) {
		struct tf_control *control = tf_rank_window_at(window, peer, 0);
		enum tf_status status =
			memory->ops->read(memory->device, &found, &control->abort, sizeof(found), NULL);

		if (status == TF_OK && !found)
			status =
				memory->ops->write(memory->device, &control->abort, &raised, sizeof(raised), NULL);
		if (status == TF_E_TIMEOUT)
			return;
	}
}

void tf_rank_memory_ending(void *user)
{
	tf_rank_memory_abort(user);
}
