/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tfprep verify`. Each check prints its line once it has passed; the first that fails ends the
 * verb with the cause on stderr, and the lines above say what still held.
 */
#include "prepare/verify_verb.h"

#include <inttypes.h>
#include <string.h>

#include "base/deadline.h"
#include "prepare/export/package_check.h"
#include "prepare/package_proof.h"
#include "prepare/tfprep_tool.h"
#include "runtime/topology/machine_links.h"

#define TIMEOUT_MS_DEFAULT 2000
#define TIMEOUT_MS_MAX     600000

struct words {
	uint64_t timeout_ms; /* 0: not given */
	_Bool run;
};

static const struct tf_option option_table[] = {
	{.name = "run",
		.kind = TF_OPTION_FLAG,
		.off = offsetof(struct words, run),
		.help = "also load it on this machine, in fresh processes at another address, and compare "
				"bytes"},
	{.name = "timeout",
		.kind = TF_OPTION_UINT,
		.value = "MS",
		.off = offsetof(struct words, timeout_ms),
		.min = 10,
		.max = TIMEOUT_MS_MAX,
		.help = "with --run: bound of every wait between ranks in milliseconds (default 2000)"},
	{.name = NULL},
};

const struct tf_verb tf_verify_verb_table = {
	.name = "verify",
	.synopsis = "[options] PACKAGE",
	.summary = "check everything about a package",
	.text = "Checks every byte of the file against its seal, every member against the catalog, the "
			"program against itself, and every pick against the samples it rests on. With --run "
			"the package must also fit this machine.",
	.options = option_table,
	.args_min = 1,
	.args_max = 1,
};

static enum tf_status verify_file(struct tf_package_view *view, struct tf_error *err)
{
	TF_TRY(tf_package_view_verify(view, err));
	printf("file      %" PRIu64 " bytes, %zu member%s: every frame, header and digest\n",
		tf_package_file_bytes(view->package), tf_package_member_count(view->package),
		tf_package_member_count(view->package) == 1 ? "" : "s");
	TF_TRY(tf_package_view_program(view, err));
	printf("catalog   %zu bytes: digest as in the seal, every row in its limits\n",
		view->catalog.size);
	printf("program   %u groups, %u kernels, %u graphs, %" PRIu64
		   " nodes: every index, word and edge\n",
		view->program.group_count, view->program.kernel_count, view->program.graph_count,
		tf_program_node_count(&view->program));
	return TF_OK;
}

static enum tf_status verify_contents(const struct tf_package_view *view, struct tf_error *err)
{
	TF_TRY(tf_proof_members(view, err));
	printf("members   %u named by the catalog: sizes and digests\n", view->program.member_count);
	TF_TRY(tf_proof_selection(&view->program, err));
	printf("picks     %u follow from %u samples by the rule of selection\n",
		view->program.group_count, view->program.sample_count);
	return TF_OK;
}

/* Says nothing of packages that are not for GPUs. */
static enum tf_status verify_links(
	const struct tf_package_view *view, const char *device, struct tf_error *err)
{
	const char *signature = tf_program_identity(&view->program, "topology.signature");
	char note[TF_MACHINE_LINKS_NOTE_BYTES];
	struct tf_device_roster roster;

	if (!strcmp(device, "host"))
		return TF_OK;
	TF_TRY(tf_device_roster_read(device, &roster, err));
	TF_TRY(tf_machine_links_compare(signature, &roster, view->program.world, note, err));
	if (note[0])
		printf("links     not compared with the maker's: %s\n", note);
	else
		printf("links     %u GPUs are joined as the maker's\n", view->program.world);
	return TF_OK;
}

static enum tf_status verify_run(
	const struct tf_package_view *view, const struct words *words, struct tf_error *err)
{
	const char *device = tf_program_identity(&view->program, "device.kind");

	if (!device)
		return TF_FAIL(err, TF_E_INVALID, "'%s' does not say which kind of device it is for",
			tf_package_path(view->package));
	TF_TRY(verify_links(view, device, err));
	TF_TRY(tf_package_check_fresh(tf_package_path(view->package), view->program.world, device,
		(int64_t)(words->timeout_ms ? words->timeout_ms : TIMEOUT_MS_DEFAULT) * TF_NS_PER_MS,
		&tf_tfprep_interrupted, err));
	printf("run       %u fresh ranks on the %s device at another base: every capacity bytewise, a "
		   "repeated step allocates nothing\n",
		view->program.world, device);
	return TF_OK;
}

static enum tf_status verify(
	struct tf_package_view *view, const struct words *words, struct tf_error *err)
{
	char hex[TF_DIGEST_HEX_BYTES];

	TF_TRY(verify_file(view, err));
	TF_TRY(verify_contents(view, err));
	if (words->run)
		TF_TRY(verify_run(view, words, err));
	tf_hex(view->file_sha256, sizeof(view->file_sha256), hex);
	printf("sha256    %s\n", hex);
	return TF_OK;
}

int tf_verify_verb(int argc, char **argv)
{
	struct words words = {0};
	struct tf_package_view view = {0};
	struct tf_error err = {0};
	const char *args[1];
	int arg_count = 0;
	int code = tf_tfprep_parse(&tf_verify_verb_table, argc, argv, &words, args, &arg_count);
	enum tf_status status;

	if (code >= 0)
		return code;
	tf_tfprep_catch_interrupts();
	status = words.timeout_ms && !words.run
		? TF_FAIL(&err, TF_E_USAGE, "'--timeout' belongs to '--run'")
		: tf_package_view_open(&view, args[0], &err);
	if (status == TF_OK)
		status = verify(&view, &words, &err);
	tf_package_view_fini(&view);
	if (fflush(stdout) && status == TF_OK)
		status = TF_FAIL_ERRNO(&err, "cannot write to standard output");
	return status == TF_OK ? TF_EXIT_DONE : tf_tfprep_fail(&tf_verify_verb_table, &err);
}
