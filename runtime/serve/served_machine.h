/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the supervisor finds out about the machine, in a process of its own beside the ranks: asking
 * the driver takes some of the time in which they open their devices, and would come on top of it.
 */
#ifndef TF_RUNTIME_SERVE_SERVED_MACHINE_H
#define TF_RUNTIME_SERVE_SERVED_MACHINE_H

#include <event2/event.h>

#include "catalog/program.h"
#include "runtime/link/spawn.h"
#include "runtime/topology/machine_links.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tf_served_machine {
	/* why the links between GPUs were not compared with the maker's; "": they were, or none are */
	char links_note[TF_MACHINE_LINKS_NOTE_BYTES];
};

/* What is looked at, and for what; all borrowed until the look is done. */
struct tf_machine_question {
	const struct tf_program *program;
	const char *device; /* "auto" or NULL for what the program is for, "host" or "cuda" */
	int strict;         /* what cannot be told is a misfit */
	int listen_fd;      /* the supervisor's, closed by who looks; -1: none */
};

/*
 * Once, from the event loop. `why` is NULL where the machine may serve. TF_E_MISFIT: GPUs are
 * joined otherwise than the maker's, or with `strict` that cannot be told; TF_E_UNAVAILABLE: no
 * such device; TF_E_INTERNAL: the process that looked ended without an answer.
 */
typedef void (*tf_machine_answer_fn)(
	void *user, const struct tf_served_machine *found, const struct tf_error *why);

struct tf_machine_look {
	struct tf_machine_question question;
	struct tf_ranks *process; /* one; NULL: nothing is looked at, or it is done */
	struct event *socket;
	tf_machine_answer_fn answer;
	void *user;
};

/*
 * Forks who looks, where there is something to look at: a package for GPUs, on GPUs. The caller is
 * single-threaded. TF_E_INVALID: the program does not say what it is for; else as tf_ranks_spawn.
 */
TF_WARN_UNUSED enum tf_status tf_machine_look_start(
	const struct tf_machine_question *question, struct tf_machine_look *look, struct tf_error *err);

/* Whether an answer is still to come. */
int tf_machine_look_runs(const struct tf_machine_look *look);

/* Hears the answer from `base`. TF_E_NO_MEMORY. */
TF_WARN_UNUSED enum tf_status tf_machine_look_watch(struct tf_machine_look *look,
	struct event_base *base, tf_machine_answer_fn answer, void *user, struct tf_error *err);

/* Ends whoever still looks. A zeroed one is fine. */
void tf_machine_look_fini(struct tf_machine_look *look);

#ifdef __cplusplus
}
#endif
#endif
