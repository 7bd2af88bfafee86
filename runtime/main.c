/* SPDX-License-Identifier: Apache-2.0 */
/* tfrun: the command line. Everything else is runtime/serve. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/deadline.h"
#include "base/options.h"
#include "base/process_start.h"
#include "runtime/serve/supervisor.h"

#ifndef TF_VERSION
#error "TF_VERSION is set by the build"
#endif

#define LISTEN_DEFAULT     "127.0.0.1:8470"
#define TIMEOUT_MS_DEFAULT 2000
#define TIMEOUT_MS_MIN     100 /* ranks that share a CPU must speak within a quarter of it */
#define TIMEOUT_MS_MAX     600000

struct words {
	uint64_t capacity, timeout_ms;
	const char *listen, *device, *peer_access;
	_Bool check, drift, bench, strict, json, version, completion, man;
};

#define FLAG(word, sentence)                                                                       \
	{                                                                                              \
		.name = #word, .kind = TF_OPTION_FLAG, .off = offsetof(struct words, word),                \
		.help = sentence                                                                           \
	}

static const struct tf_option options[] = {
	FLAG(check, "load on all ranks, prove every capacity, say so in one line and end"),
	FLAG(drift, "replay the startup graph, compare with the packaged samples and end"),
	FLAG(bench, "measure steps a second of every capacity and end"),
	{.name = "capacity",
		.kind = TF_OPTION_UINT,
		.value = "N",
		.min = 1,
		.max = UINT32_MAX,
		.off = offsetof(struct words, capacity),
		.help = "largest capacity to load (default all of the package)"},
	{.name = "device",
		.kind = TF_OPTION_CHOICE,
		.value = "KIND",
		.off = offsetof(struct words, device),
		.choices = "auto|host|cuda",
		.help = "where to run (default auto: what the package was made for)"},
	{.name = "listen",
		.kind = TF_OPTION_TEXT,
		.value = "HOST:PORT",
		.off = offsetof(struct words, listen),
		.help = "address to serve at, port 0 for any free one (default " LISTEN_DEFAULT ")"},
	{.name = "peer-access",
		.kind = TF_OPTION_CHOICE,
		.value = "WORD",
		.off = offsetof(struct words, peer_access),
		.choices = "on|off",
		.help = "whether ranks may use each other's device memory; off fits packages made so "
				"(default on)"},
	{.name = "timeout",
		.kind = TF_OPTION_UINT,
		.value = "MS",
		.min = TIMEOUT_MS_MIN,
		.max = TIMEOUT_MS_MAX,
		.off = offsetof(struct words, timeout_ms),
		.help = "bound of every wait between ranks in milliseconds (default 2000)"},
	FLAG(strict, "take anything unused or missing for an error"),
	FLAG(json, "print JSON"),
	FLAG(version, "print the version"),
	FLAG(completion, "print a bash completion script"),
	FLAG(man, "print the man page"),
	{.name = NULL},
};

static const struct tf_verb verbs[] = {
	{
		.name = "tfrun",
		.synopsis = "[options] PACKAGE",
		.summary = "serve a prepared package",
		.text =
			"Starts one process a rank, loads the package without tuning, capturing or writing "
			"anything, proves every capacity bytewise and serves over HTTP: /health/live, "
			"/health/ready, /metrics, /v1/package, /v1/steps and /v1/tensors.\n\n"
			"SIGTERM and SIGINT drain: the request under way is finished, the ranks close. A rank "
			"that dies or falls silent for longer than the timeout ends the group.\n\n"
			"Exit codes: 0 done, 1 failed, 2 usage, 3 the package is invalid or does not fit, 4 a "
			"library, driver or device is absent, 130 interrupted.",
		.options = options,
		.args_min = 0,
		.args_max = 1,
	},
	{.name = NULL},
};

static const struct tf_tool tool = {
	.name = "tfrun", .summary = "serve a prepared package", .verbs = verbs};

static int fail_usage(const char *text)
{
	fprintf(stderr, "tfrun: %s; see 'tfrun --help'\n", text);
	return TF_EXIT_USAGE;
}

/* What could not be written was not told; success would be a lie. */
static int end_told(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return TF_EXIT_DONE;
	fprintf(stderr, "tfrun: cannot write to stdout: %s\n", strerror(errno));
	return TF_EXIT_FAILED;
}

/* What needs no package; nonzero if one of them was asked for. */
static int print_about(const struct words *words)
{
	if (words->version)
		printf("tfrun %s\n", TF_VERSION);
	else if (words->completion)
		tf_options_print_completion(stdout, &tool);
	else if (words->man)
		tf_options_print_man(stdout, &tool, TF_VERSION);
	return words->version || words->completion || words->man;
}

static int serve(const struct words *words, const char *path, int64_t begin_ns)
{
	struct tf_serve_options serve_options = {
		.path = path,
		.listen = words->listen ? words->listen : LISTEN_DEFAULT,
		.device = words->device,
		.version = TF_VERSION,
		.capacity_max = words->capacity,
		.timeout_ns = (int64_t)words->timeout_ms * TF_NS_PER_MS,
		.begin_ns = begin_ns,
		.strict = words->strict,
		.no_peer_access = words->peer_access && !strcmp(words->peer_access, "off"),
		.json = words->json,
		.mode = words->check ? TF_SERVE_CHECK
			: words->drift   ? TF_SERVE_DRIFT
			: words->bench   ? TF_SERVE_BENCH
							 : TF_SERVE_HTTP,
	};

	if (words->check + words->drift + words->bench > 1)
		return fail_usage("--check, --drift and --bench exclude each other");
	if (serve_options.mode != TF_SERVE_HTTP && words->listen)
		return fail_usage("--listen is for serving, not for --check, --drift or --bench");
	return tf_serve(&serve_options);
}

int main(int argc, char **argv)
{
	int64_t begin_ns = tf_now_ns();
	struct words words = {.timeout_ms = TIMEOUT_MS_DEFAULT};
	const char *args[1] = {NULL};
	struct tf_error err = {0};
	int arg_count = 0, help = 0;

	tf_process_start();
	if (tf_options_parse(&verbs[0], argc - 1, argv + 1, &words, args, &arg_count, &help, &err) !=
		TF_OK)
		return fail_usage(err.text);
	if (help) {
		tf_options_print_help(stdout, &tool, &verbs[0]);
		return end_told();
	}
	if (print_about(&words))
		return end_told();
	if (!arg_count)
		return fail_usage("a package is needed");
	return serve(&words, args[0], begin_ns);
}
