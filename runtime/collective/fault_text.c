/* SPDX-License-Identifier: Apache-2.0 */
/* Faults as people read them, and the abort word from the host side. */
#include <inttypes.h>
#include <stdio.h>

#include "runtime/collective/collective.h"
#include "runtime/collective/wait.h"

static void describe(
	const struct tf_fault *fault, const struct tf_program *program, char *out, size_t bytes)
{
	if (program && fault->group < program->group_count)
		snprintf(out, bytes, "group '%s'", program->groups[fault->group].name);
	else if (fault->writer == TF_WRITER_BARRIER)
		snprintf(out, bytes, "barrier");
	else
		snprintf(out, bytes, "group %" PRIu32, fault->group);
}

enum tf_status tf_fault_to_error(
	const struct tf_control *control, const struct tf_program *program, struct tf_error *err)
{
	uint32_t code = __atomic_load_n(&control->fault.code, __ATOMIC_ACQUIRE);
	const struct tf_fault *fault = &control->fault;
	const char *writer = tf_writer_name((enum tf_writer)fault->writer);
	uint32_t raised = __atomic_load_n(&control->abort, __ATOMIC_ACQUIRE);
	char subject[TF_NAME_BYTES + 16];

	if (code == TF_FAULT_NONE && raised)
		return TF_FAIL(err, TF_E_ABORTED, "rank %" PRIu32 " ended the step", raised - 1);
	if (code == TF_FAULT_NONE)
		return TF_OK;
	if (!writer)
		writer = "barrier";
	describe(fault, program, subject, sizeof(subject));
	switch (code) {
	case TF_FAULT_TIMEOUT:
		return TF_FAIL(err, TF_E_TIMEOUT,
			"%s: no arrival from rank %" PRIu32 " within %" PRIu64 " ms (%s, epoch %" PRIu32 ")",
			subject, fault->peer, control->timeout_ns / 1000000, writer, fault->epoch);
	case TF_FAULT_ABORTED:
		return TF_FAIL(err, TF_E_ABORTED,
			"%s: rank %" PRIu32 " ended the call (%s, epoch %" PRIu32 ")", subject, fault->peer,
			writer, fault->epoch);
	case TF_FAULT_ARGUMENT:
		return TF_FAIL(err, TF_E_INTERNAL,
			"%s: rank %" PRIu32 " refused the kernel's arguments (%s)", subject, fault->peer,
			writer);
	case TF_FAULT_UNREADABLE:
		return TF_FAIL(
			err, TF_E_SYSTEM, "the rank's control words cannot be read: the device has failed");
	default:
		return TF_FAIL(err, TF_E_INTERNAL, "%s: fault code %" PRIu32 " is unknown (%s)", subject,
			code, writer);
	}
}

void tf_collective_abort(uint64_t base, uint64_t stride, uint32_t world, uint32_t rank)
{
	for (uint32_t r = 0; r < world; r++) {
		struct tf_control *control = (struct tf_control *)(uintptr_t)(base + r * stride);
		uint32_t none = 0;

		__atomic_compare_exchange_n(
			&control->abort, &none, 1 + rank, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	}
}
