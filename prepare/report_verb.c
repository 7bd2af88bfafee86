/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tfprep report`. The page shows the file's digest, so the whole file is verified first. What can
 * be refused is refused before anything is read: a page that was not built in, a folder that is not
 * there, an output that would replace the package.
 */
#include "prepare/report_verb.h"

#include <string.h>
#include <sys/stat.h>

#include "packages/temporary_file.h"
#include "prepare/package_view.h"
#include "prepare/report/report_data.h"
#include "prepare/report/report_page.h"
#include "prepare/tfprep_tool.h"

#ifndef TF_VERSION
#error "TF_VERSION is set by the build"
#endif

struct words {
	const char *out_path, *load_path;
	_Bool json;
};

static const struct tf_option option_table[] = {
	{.name = "output",
		.letter = 'o',
		.kind = TF_OPTION_PATH,
		.value = "FILE",
		.off = offsetof(struct words, out_path),
		.help = "the file to write, - for standard output (default report.html, or report.json "
				"with --json)"},
	{.name = "load",
		.kind = TF_OPTION_PATH,
		.value = "FILE",
		.off = offsetof(struct words, load_path),
		.help = "a load to show: what 'tfrun PACKAGE --check --json' printed for this package"},
	{.name = "json",
		.kind = TF_OPTION_FLAG,
		.off = offsetof(struct words, json),
		.help = "write the page's data alone, as JSON"},
	{.name = NULL},
};

const struct tf_verb tf_report_verb_table = {
	.name = "report",
	.synopsis = "[options] PACKAGE",
	.summary = "write one HTML page about a package",
	.text = "The page needs no network and no other file: topology, picks, every sample as "
			"distributions, what each writer costs across sizes, load, identity, members. It "
			"can be mailed, kept beside the package, and read on a phone or with a screen "
			"reader.\n\n"
			"The file takes its name only when it is complete, and replaces one that bears it.\n\n"
			"  tfrun x.tfp --check --json > load.json\n"
			"  tfprep report x.tfp --load load.json -o x.html",
	.options = option_table,
	.args_min = 1,
	.args_max = 1,
};

static int to_stdout(const struct words *words)
{
	return !strcmp(words->out_path, "-");
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The rename would leave a page where the package was. */
static enum tf_status check_not_input(
	const char *out_path, const char *in_path, struct tf_error *err)
{
	struct stat out, in;

	if (stat(out_path, &out) || stat(in_path, &in))
		return TF_OK; /* one that is not there is not the other */
	if (out.st_dev == in.st_dev && out.st_ino == in.st_ino)
		return TF_FAIL(
			err, TF_E_USAGE, "'-o %s' would replace '%s', which it reads", out_path, in_path);
	return TF_OK;
}

static enum tf_status check_words(
	const struct words *words, const char *package, struct tf_error *err)
{
	if (!words->json)
		TF_TRY(tf_report_page_available(err));
	if (to_stdout(words))
		return TF_OK;
	TF_TRY(check_not_input(words->out_path, package, err));
	if (words->load_path)
		TF_TRY(check_not_input(words->out_path, words->load_path, err));
	return tf_temporary_try(words->out_path, err);
}

/* The data, and the page around it unless `json`. */
static enum tf_status make(const struct words *words, const struct tf_package_view *view,
	const struct tf_report_load *load, struct tf_bytes *out, struct tf_error *err)
{
	struct tf_report_source source = {
		.name = file_name(tf_package_path(view->package)),
		.bytes = tf_package_file_bytes(view->package),
		.catalog_bytes = view->catalog.size,
		.tool_version = TF_VERSION,
		.program = &view->program,
		.load = load,
	};
	struct tf_bytes data = {0};
	enum tf_status status;

	memcpy(source.sha256, view->file_sha256, sizeof(source.sha256));
	memcpy(source.catalog_sha256, view->catalog_sha256, sizeof(source.catalog_sha256));
	status = tf_report_data(&source, &data, err);
	if (status == TF_OK && words->json)
		status = tf_bytes_append(&data, "\n", 1, err);
	if (status == TF_OK && words->json)
		status = tf_bytes_append(out, data.data, data.size, err);
	else if (status == TF_OK)
		status = tf_report_page(source.name, &data, out, err);
	tf_bytes_fini(&data);
	return status;
}

static enum tf_status write_file(
	const char *path, const struct tf_bytes *page, struct tf_error *err)
{
	struct tf_temporary file = TF_TEMPORARY_NONE;
	enum tf_status status = tf_temporary_open(path, &file, err);

	if (status == TF_OK)
		status = tf_temporary_write(&file, page->data, page->size, err);
	if (status == TF_OK)
		status = tf_temporary_sync(&file, err);
	if (status == TF_OK)
		status = tf_temporary_rename(&file, err);
	tf_temporary_close(&file);
	return status;
}

static enum tf_status write_stdout(const struct tf_bytes *page, struct tf_error *err)
{
	if (fwrite(page->data, 1, page->size, stdout) != page->size || fflush(stdout))
		return TF_FAIL_ERRNO(err, "cannot write to standard output");
	return TF_OK;
}

static enum tf_status report(const struct words *words, const char *path,
	struct tf_package_view *view, struct tf_bytes *page, struct tf_error *err)
{
	struct tf_report_load load;

	TF_TRY(check_words(words, path, err));
	TF_TRY(tf_package_view_open(view, path, err));
	TF_TRY(tf_package_view_program(view, err));
	TF_TRY(tf_package_view_verify(view, err));
	if (words->load_path)
		TF_TRY(tf_report_load_read(words->load_path, view->file_sha256, &load, err));
	TF_TRY(make(words, view, words->load_path ? &load : NULL, page, err));
	return to_stdout(words) ? write_stdout(page, err) : write_file(words->out_path, page, err);
}

int tf_report_verb(int argc, char **argv)
{
	struct words words = {0};
	struct tf_package_view view = {0};
	struct tf_bytes page = {0};
	struct tf_error err = {0};
	const char *args[1];
	int arg_count = 0;
	int code = tf_tfprep_parse(&tf_report_verb_table, argc, argv, &words, args, &arg_count);
	enum tf_status status;

	if (code >= 0)
		return code;
	if (!words.out_path)
		words.out_path = words.json ? "report.json" : "report.html";
	status = report(&words, args[0], &view, &page, &err);
	if (status == TF_OK && !to_stdout(&words))
		printf("report    %s, %zu bytes\n", words.out_path, page.size);
	tf_package_view_fini(&view);
	tf_bytes_fini(&page);
	return status == TF_OK ? TF_EXIT_DONE : tf_tfprep_fail(&tf_report_verb_table, &err);
}
