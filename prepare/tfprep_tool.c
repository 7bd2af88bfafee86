/* SPDX-License-Identifier: Apache-2.0 */
/* Errors are told once, here, in one line on stderr. */
#include "prepare/tfprep_tool.h"

#include <signal.h>
#include <string.h>

volatile int tf_tfprep_interrupted;

static void on_interrupt(int number)
{
	(void)number;
	tf_tfprep_interrupted = 1;
}

/* SIGHUP is what a closed terminal leaves behind; nohup has it ignored, and it stays so. */
void tf_tfprep_catch_interrupts(void)
{
	struct sigaction action, hangup;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_interrupt;
	action.sa_flags = (int)SA_RESETHAND; /* a second interrupt ends the tool at once */
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (!sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
}

int tf_tfprep_parse(const struct tf_verb *verb, int argc, char **argv, void *options,
	const char **out_args, int *out_arg_count)
{
	struct tf_error err = {0};
	int help = 0;

	if (tf_options_parse(verb, argc, argv, options, out_args, out_arg_count, &help, &err) !=
		TF_OK) {
		fprintf(
			stderr, "tfprep %s: %s; see 'tfprep %s --help'\n", verb->name, err.text, verb->name);
		return TF_EXIT_USAGE;
	}
	if (!help)
		return -1;
	tf_options_print_help(stdout, &tf_tfprep_tool, verb);
	return TF_EXIT_DONE;
}

int tf_tfprep_fail(const struct tf_verb *verb, const struct tf_error *err)
{
	fprintf(stderr, "tfprep %s: %s\n", verb->name, err->text);
	return tf_tfprep_interrupted ? TF_EXIT_INTERRUPTED : (int)tf_status_exit(err->status);
}
