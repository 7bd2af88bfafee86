/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/library/library_ranks.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

void library_ranks_init(struct library_rank *out_ranks, uint32_t world, const char *path,
	library_body body, int (*ends)[LIBRARY_WORLD_MAX])
{
	struct tfrun_error error = {0};

	if (tfrun_link_pairs(world, ends, &error) != TFRUN_OK)
		fail_msg("%s", error.text);
	memset(out_ranks, 0, LIBRARY_WORLD_MAX * sizeof(out_ranks[0]));
	for (uint32_t r = 0; r < world; r++) {
		out_ranks[r].path = path;
		out_ranks[r].body = body;
		out_ranks[r].options = (struct tfrun_options){
			.size = sizeof(out_ranks[r].options),
			.rank = r,
			.world = world,
			.link_fds = ends[r],
			.timeout_ms = LIBRARY_TIMEOUT_MS,
		};
	}
}

enum tfrun_status library_rank_complain(struct library_rank *rank, int line, const char *condition)
{
	char last[400];

	snprintf(last, sizeof(last), "%.399s", rank->error.text);
	snprintf(rank->error.text, sizeof(rank->error.text), "line %d: %s; last error: %s", line,
		condition, last);
	return TFRUN_INTERNAL;
}

void library_rank_run(struct library_rank *rank)
{
	struct tfrun_session *session = NULL;

	rank->status = rank->before ? rank->before(rank) : TFRUN_OK;
	if (rank->status != TFRUN_OK)
		return;
	rank->status = tfrun_open(rank->path, &rank->options, &session, &rank->error);
	if (rank->status == TFRUN_OK && rank->body)
		rank->status = rank->body(session, rank);
	tfrun_close(session);
	if (rank->status == TFRUN_OK && rank->after)
		rank->status = rank->after(rank);
}

static void *run_thread(void *user)
{
	library_rank_run(user);
	return NULL;
}

void library_ranks_run(struct library_rank *ranks, uint32_t world)
{
	pthread_t threads[LIBRARY_WORLD_MAX];

	for (uint32_t r = 0; r < world; r++)
		assert_int_equal(pthread_create(&threads[r], NULL, run_thread, &ranks[r]), 0);
	for (uint32_t r = 0; r < world; r++)
		pthread_join(threads[r], NULL);
}

pid_t library_rank_fork(struct library_rank *rank)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	library_rank_run(rank);
	if (rank->status != TFRUN_OK)
		fprintf(stderr, "rank %u: %s\n", rank->options.rank, rank->error.text);
	_exit((int)rank->status);
}

int library_rank_wait(pid_t pid)
{
	int status = 0;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void library_assert_refused(
	const struct library_rank *rank, enum tfrun_status status, const char *part)
{
	if (rank->status != status || rank->error.status != status || !strstr(rank->error.text, part))
		fail_msg("rank %u: status %d (%d in the error), not %d, and '%s' must hold '%s'",
			rank->options.rank, (int)rank->status, (int)rank->error.status, (int)status,
			rank->error.text, part);
}

void library_assert_all_ok(const struct library_rank *ranks, uint32_t world)
{
	for (uint32_t r = 0; r < world; r++)
		if (ranks[r].status != TFRUN_OK)
			fail_msg("rank %u: status %d: %s", r, (int)ranks[r].status, ranks[r].error.text);
}
