/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1. A package for the host device costs nothing here: neither the driver nor the PCI tree is read.
 * 2. Who looks starts no process of its own, so its end is the end of all that it asked, also where
 *    the driver hangs.
 */
#include "runtime/serve/served_machine.h"

#include <string.h>
#include <unistd.h>

#include "base/deadline.h"
#include "runtime/link/channel.h"
#include "runtime/serve/command.h"
#include "runtime/serve/rank_loop.h"

#define WORD_NS TF_NS_PER_S /* an answer is one small frame */

struct answer {
	struct tf_error why; /* status TF_OK: none */
	struct tf_served_machine found;
};

static enum tf_status look_at(
	const struct tf_machine_question *question, struct tf_served_machine *out, struct tf_error *err)
{
	const char *signature = tf_program_identity(question->program, "topology.signature");
	struct tf_device_roster roster;

	TF_TRY(
		tf_device_roster_here(tf_program_identity(question->program, "device.kind"), &roster, err));
	TF_TRY(tf_machine_links_compare(
		signature, &roster, question->program->world, out->links_note, err));
	if (question->strict && out->links_note[0])
		return TF_FAIL(err, TF_E_MISFIT,
			"the links between GPUs cannot be compared with the maker's: %s", out->links_note);
	return TF_OK;
}

/* A tf_rank_fn, of a world of one. */
static int run(void *user, uint32_t rank, struct tf_link *link, int command_fd)
{
	const struct tf_machine_question *question = user;
	struct answer answer = {0};

	(void)rank;
	(void)link;
	tf_rank_leave_signals();
	if (question->listen_fd >= 0)
		close(question->listen_fd);
	(void)!look_at(question, &answer.found, &answer.why);
	return tf_channel_send(command_fd, TF_COMMAND_MACHINE, 0, &answer, sizeof(answer),
			   tf_deadline_after(WORD_NS), NULL) == TF_OK
		? 0
		: TF_EXIT_FAILED;
}

enum tf_status tf_machine_look_start(
	const struct tf_machine_question *question, struct tf_machine_look *look, struct tf_error *err)
{
	const char *made_for = tf_program_identity(question->program, "device.kind");
	int is_asked = question->device && strcmp(question->device, "auto") != 0;

	memset(look, 0, sizeof(*look));
	look->question = *question;
	if (!made_for)
		return TF_FAIL(err, TF_E_INVALID, "the package's identity names no device.kind");
	/* A package for another device is refused by its ranks, who list all that differs. */
	if (strcmp(made_for, "cuda") != 0 || (is_asked && strcmp(question->device, made_for) != 0))
		return TF_OK;
	return tf_ranks_spawn(1, run, &look->question, &look->process, err);
}

int tf_machine_look_runs(const struct tf_machine_look *look)
{
	return look->process != NULL;
}

/* What the process said, or how it ended. */
static void read_answer(struct tf_machine_look *look, struct answer *out)
{
	struct tf_bytes data = {0};
	struct tf_error err = {0};
	uint16_t type = 0;
	uint32_t tag;

	if (tf_channel_recv(tf_ranks_command_fd(look->process, 0), &type, &tag, &data,
			tf_deadline_after(WORD_NS), &err) == TF_OK &&
		type == TF_COMMAND_MACHINE && data.size == sizeof(*out)) {
		memcpy(out, data.data, sizeof(*out));
		tf_error_adopt(&out->why);
		out->found.links_note[sizeof(out->found.links_note) - 1] = '\0';
	} else {
		(void)!TF_FAIL(&out->why, TF_E_INTERNAL,
			"the process that looks at the links between GPUs ended without an answer: %s",
			err.text);
	}
	tf_bytes_fini(&data);
}

static void on_socket(evutil_socket_t fd, short what, void *user)
{
	struct tf_machine_look *look = user;
	struct answer answer = {0};

	(void)fd;
	(void)what;
	read_answer(look, &answer);
	tf_machine_look_fini(look);
	look->answer(look->user, &answer.found, answer.why.status == TF_OK ? NULL : &answer.why);
}

enum tf_status tf_machine_look_watch(struct tf_machine_look *look, struct event_base *base,
	tf_machine_answer_fn answer, void *user, struct tf_error *err)
{
	if (!look->process)
		return TF_OK;
	look->answer = answer;
	look->user = user;
	look->socket = event_new(base, tf_ranks_command_fd(look->process, 0), EV_READ, on_socket, look);
	if (!look->socket || event_add(look->socket, NULL))
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for an event of the machine's answer");
	return TF_OK;
}

void tf_machine_look_fini(struct tf_machine_look *look)
{
	if (look->socket)
		event_free(look->socket);
	look->socket = NULL;
	tf_ranks_destroy(look->process);
	look->process = NULL;
}
