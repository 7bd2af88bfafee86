/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_test MODE [options]: NCCL's communicator between processes, one a rank. Without --rank it
 * starts all ranks on this host; with --rank and --master it is one of them, on whichever host.
 *
 *   --world N         ranks (2)
 *   --rank R          this process is rank R
 *   --master ADDRESS  where they meet: tcp:HOST:PORT or unix:PATH; rank 0 listens
 *   --across          the ranks are on several hosts: the parent must carry
 *   --device KIND     fake (host memory) or cuda
 *   --timeout-ms N    of a rank (3000)
 *   --limit-ms N      after which ranks that still run are ended (40000)
 *   --rows N, --elements N, --least-ratio X: see rank_test_job.h
 *
 * Exit: 0 what must happen happened, 1 it did not, 77 there is no such device or no NCCL.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/deadline.h"
#include "runtime/link/spawn.h"
#include "tests/rank/rank_modes.h"

/* Keeps strangers of the test's own network out, no more. */
#define SECRET    "a secret of the rank test's"
#define EXIT_SKIP 77

struct options {
	struct rank_job job;
	uint32_t world;
	int rank; /* -1: all */
	const char *master;
	int64_t limit_ns;
};

static int run_rank(const struct options *options, struct tf_link *link)
{
	struct rank_job job = options->job;
	struct tf_error err = {0};
	enum tf_status status;

	job.link = link;
	status = rank_device_open(job.device_kind, tf_link_rank(link), &job.device, &err);
	/* So that a slow first device does not look like a rank that is missing. */
	status = tf_link_agree_ok(
		link, status == TF_OK ? NULL : &err, tf_deadline_after(60 * TF_NS_PER_S), &err);
	if (status == TF_OK)
		status = rank_mode_run(&job, &err);
	if (status == TF_OK) {
		tf_link_close(link);
		rank_device_close(&job.device);
		return 0;
	}
	printf("rank %u: %s: failed: %s: %s\n", tf_link_rank(link), job.mode, tf_status_name(status),
		err.text);
	fflush(stdout);
	return status == TF_E_UNAVAILABLE ? EXIT_SKIP : 1;
}

static int run_spawned(void *user, uint32_t rank, struct tf_link *link, int command_fd)
{
	int code = run_rank(user, link);

	(void)rank, (void)command_fd;
	fflush(stdout);
	/* The link may be closed already, and what failed may hang: the process's end takes all. */
	_exit(code);
}

static int run_all(struct options *options)
{
	struct tf_rank_exit exits[TF_WORLD_MAX] = {{0}};
	struct tf_ranks *ranks = NULL;
	struct tf_error err = {0};
	char text[TF_RANK_EXIT_TEXT_BYTES];
	int code = 0;

	if (tf_ranks_spawn(options->world, run_spawned, options, &ranks, &err) != TF_OK) {
		fprintf(stderr, "rank_test: %s\n", err.text);
		return 1;
	}
	if (tf_ranks_wait(ranks, tf_deadline_after(options->limit_ns), exits, &err) != TF_OK) {
		fprintf(stderr, "rank_test: hangs: %s\n", err.text);
		tf_ranks_destroy(ranks);
		return 1;
	}
	for (uint32_t r = 0; r < options->world; r++) {
		if (!exits[r].signal && exits[r].code == EXIT_SKIP && code == 0)
			code = EXIT_SKIP;
		else if (exits[r].signal || exits[r].code)
			code = exits[r].code == EXIT_SKIP ? code : 1;
		if (exits[r].signal)
			fprintf(
				stderr, "rank_test: %s\n", tf_rank_exit_describe(r, &exits[r], text, sizeof(text)));
	}
	tf_ranks_destroy(ranks);
	return code;
}

static int run_one(const struct options *options)
{
	struct tf_link_options link = {.size = sizeof(link),
		.address = options->master,
		.rank = (uint32_t)options->rank,
		.world = options->world,
		.group = options->job.mode,
		.secret = SECRET,
		.secret_bytes = strlen(SECRET),
		.deadline_ns = tf_deadline_after(60 * TF_NS_PER_S)};
	struct tf_link *made = NULL;
	struct tf_error err = {0};

	alarm((unsigned)(options->limit_ns / TF_NS_PER_S));
	if (tf_link_connect(&link, &made, &err) != TF_OK) {
		fprintf(stderr, "rank_test: %s\n", err.text);
		return 1;
	}
	_exit(run_rank(options, made));
}

static int parse(int argc, char **argv, struct options *options)
{
	static const struct option known[] = {{"world", 1, NULL, 'w'}, {"rank", 1, NULL, 'r'},
		{"master", 1, NULL, 'm'}, {"across", 0, NULL, 'a'}, {"device", 1, NULL, 'd'},
		{"timeout-ms", 1, NULL, 't'}, {"limit-ms", 1, NULL, 'l'}, {"rows", 1, NULL, 'R'},
		{"elements", 1, NULL, 'e'}, {"least-ratio", 1, NULL, 'x'}, {NULL, 0, NULL, 0}};
	struct rank_job *job = &options->job;
	int key;

	while ((key = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (key) {
		case 'w':
			options->world = (uint32_t)atoi(optarg);
			break;
		case 'r':
			options->rank = atoi(optarg);
			break;
		case 'm':
			options->master = optarg;
			break;
		case 'a':
			job->across = 1;
			break;
		case 'd':
			job->device_kind = optarg;
			break;
		case 't':
			job->timeout_ns = atoll(optarg) * TF_NS_PER_MS;
			break;
		case 'l':
			options->limit_ns = atoll(optarg) * TF_NS_PER_MS;
			break;
		case 'R':
			job->rows_max = (uint32_t)atoi(optarg);
			break;
		case 'e':
			job->row_elements = (uint32_t)atoi(optarg);
			break;
		case 'x':
			job->least_ratio = atof(optarg);
			break;
		default:
			return 0;
		}
	}
	job->mode = optind < argc ? argv[optind] : NULL;
	return job->mode && (options->rank < 0 || options->master) && options->world >= TF_WORLD_MIN &&
		options->world <= TF_WORLD_MAX;
}

int main(int argc, char **argv)
{
	struct options options = {.job = {.device_kind = "fake",
								  .timeout_ns = 3 * TF_NS_PER_S,
								  .rows_max = 8192,
								  .row_elements = 64},
		.world = 2,
		.rank = -1,
		.limit_ns = 40 * TF_NS_PER_S};

	if (!parse(argc, argv, &options)) {
		fprintf(stderr, "usage: rank_test MODE [options], MODE one of " RANK_MODES "\n");
		return 2;
	}
	return options.rank < 0 ? run_all(&options) : run_one(&options);
}
