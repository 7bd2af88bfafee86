/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tfprep topology`. Reads this machine or an XML file, checks a class that was named, prints. A
 * check that fails prints one line and nothing else.
 */
#include "prepare/topology_verb.h"
#include "base/dtype.h"
#include "prepare/links/links.h"
#include "prepare/links_print.h"
#include "prepare/topology_print.h"

#include <langinfo.h>
#include <locale.h>
#include <string.h>

struct verb_options {
	const char *topology, *peer_access;
	uint64_t tp;
	const char *xml;
	const char *links;
	bool json;
};

static const struct tf_option option_table[] = {
	{.name = "topology",
		.kind = TF_OPTION_CHOICE,
		.value = "CLASS",
		.help = "check that the machine is of this class (default auto: say which it is)",
		.off = offsetof(struct verb_options, topology),
		.choices = "auto|local|switched|host-bridge|ring|fabric"},
	{.name = "tp",
		.kind = TF_OPTION_UINT,
		.value = "N",
		.help = "look at the first N GPUs (default all, at most 8)",
		.off = offsetof(struct verb_options, tp),
		.min = 1,
		.max = TF_TOPOLOGY_RANKS_MAX},
	{.name = "peer-access",
		.kind = TF_OPTION_CHOICE,
		.value = "WORD",
		.help = "whether ranks may use each other's device memory, if they can (default on)",
		.off = offsetof(struct verb_options, peer_access),
		.choices = "on|off"},
	{.name = "xml",
		.kind = TF_OPTION_PATH,
		.value = "FILE",
		.help = "read another machine from hwloc's XML, as lstopo writes it",
		.off = offsetof(struct verb_options, xml)},
	{.name = "links",
		.kind = TF_OPTION_PATH,
		.value = "NAME|FILE",
		.help = "show an emulated machine instead, as tune --links takes it",
		.off = offsetof(struct verb_options, links)},
	{.name = "json",
		.kind = TF_OPTION_FLAG,
		.help = "print JSON",
		.off = offsetof(struct verb_options, json)},
	{.name = NULL},
};

const struct tf_verb tf_topology_verb_table = {
	.name = "topology",
	.synopsis = "[options]",
	.summary = "show how this machine's GPUs are joined, and its topology class",
	.text =
		"The class is 'switched' if all pairs of GPUs are joined by NVLink or meet at PCIe\n"
		"switches, 'host-bridge' if some pair meets at a root complex, and 'local' without a\n"
		"GPU: then the host device is used, and any class may be named. 'ring' and 'fabric' are\n"
		"classes of several hosts; naming one checks this host's RoCE ports. Without peer access "
		"the\n"
		"class is the same, but only writers through host memory are legal.",
	.options = option_table,
};

static bool is_utf8_locale(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool utf8;

	if (!locale)
		return false;
	utf8 = !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");
	freelocale(locale);
	return utf8;
}

static bool is_off(const char *word)
{
	return word && !strcmp(word, "off");
}

/* Says which class is looked at, and refuses what was asked for and is not there. */
static enum tf_status select_class(const struct verb_options *options,
	const struct tf_topology *topology, struct tf_topology_view *view, struct tf_error *err)
{
	bool any = !options->topology || !strcmp(options->topology, "auto");

	view->world = (uint32_t)options->tp;
	if (!view->world && topology->host)
		view->world = TF_WORLD_MIN;
	else if (!view->world)
		view->world = topology->rank_count < TF_WORLD_MAX ? topology->rank_count : TF_WORLD_MAX;
	if (!any) {
		view->selected = (enum tf_topology_class)tf_topology_class_parse(options->topology);
		return tf_topology_require(topology, view->world, view->selected, err);
	}
	return tf_topology_classify(topology, view->world, &view->selected, err);
}

static enum tf_status show(
	const struct verb_options *options, const struct tf_topology *topology, struct tf_error *err)
{
	char signature[TF_TOPOLOGY_SIGNATURE_BYTES * 32];
	struct tf_topology_view view = {.topology = topology, .signature = signature};

	TF_TRY(select_class(options, topology, &view, err));
	TF_TRY(tf_topology_signature(
		topology, view.world, view.selected, signature, sizeof(signature), err));
	view.utf8 = is_utf8_locale();
	view.no_peer_access = is_off(options->peer_access);
	if (options->json)
		return tf_topology_print_json(stdout, &view, err);
	tf_topology_print_table(stdout, &view);
	return TF_OK;
}

/* An emulated machine, which has a class of its own and nothing to read. */
static enum tf_status show_links(const struct verb_options *options, struct tf_error *err)
{
	bool any = !options->topology || !strcmp(options->topology, "auto");
	int no_peer_access = is_off(options->peer_access);
	struct tf_links links;
	uint32_t world;

	if (options->xml)
		return TF_FAIL(err, TF_E_USAGE, "'--links' and '--xml' each describe a machine");
	TF_TRY(tf_links_load(options->links, &links, err));
	world = options->tp ? (uint32_t)options->tp : links.world;
	if (world > links.world)
		return TF_FAIL(err, TF_E_MISFIT, "the links '%s' have %u ranks, not %u", links.name,
			links.world, world);
	if (!any && strcmp(options->topology, links.topology) != 0)
		return TF_FAIL(err, TF_E_MISFIT, "the links '%s' are of topology '%s', not '%s'",
			links.name, links.topology, options->topology);
	if (options->json)
		return tf_links_print_json(stdout, &links, world, no_peer_access, err);
	tf_links_print_table(stdout, &links, world, no_peer_access);
	return TF_OK;
}

static enum tf_status run(const struct verb_options *options, struct tf_error *err)
{
	struct tf_topology_options read_options = {
		.size = sizeof(read_options), .xml_path = options->xml, .world = (uint32_t)options->tp};
	struct tf_topology *topology = NULL;
	enum tf_status status;

	if (options->links) {
		status = show_links(options, err);
	} else {
		status = tf_topology_read(&read_options, &topology, err);
		if (status == TF_OK)
			status = show(options, topology, err);
		tf_topology_destroy(topology);
	}
	if (status == TF_OK && (fflush(stdout) || ferror(stdout)))
		status = TF_FAIL_ERRNO(err, "cannot write to standard output");
	return status;
}

int tf_topology_verb(int argc, char **argv)
{
	const struct tf_verb verbs[] = {tf_topology_verb_table, {.name = NULL}};
	const struct tf_tool tool = {.name = "tfprep", .verbs = verbs};
	struct verb_options options = {0};
	struct tf_error err = {0};
	int arg_count = 0, help = 0;
	enum tf_status status;

	status = tf_options_parse(
		&tf_topology_verb_table, argc, argv, &options, NULL, &arg_count, &help, &err);
	if (status != TF_OK) {
		fprintf(stderr, "tfprep topology: %s; see 'tfprep topology --help'\n", err.text);
		return tf_status_exit(status);
	}
	if (help) {
		tf_options_print_help(stdout, &tool, &tf_topology_verb_table);
		return TF_EXIT_DONE;
	}
	status = run(&options, &err);
	if (status != TF_OK)
		fprintf(stderr, "tfprep topology: %s\n", err.text);
	return tf_status_exit(status);
}
