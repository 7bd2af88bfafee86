/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes pages that no machine here would give, for the browser's test: report_pages FOLDER makes
 * linked.html (three GPUs and unkind texts), linked2.html and linked8.html (all pairs of 8 alike,
 * and some not), bounded.html (above the limits) and large.html (40,824 samples).
 */
#include "tests/report/report_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prepare/report/report_page.h"
#include "tests/catalog/sample_program.h"

static void check(enum tf_status status, const struct tf_error *err)
{
	if (status == TF_OK)
		return;
	fprintf(stderr, "report_pages: %s\n", err->text);
	exit(1);
}

static void write_page(const char *folder, const char *name, const struct tf_report_source *source)
{
	struct tf_bytes data = {0}, page = {0};
	struct tf_error err = {0};
	char path[512];
	FILE *file;

	check(tf_report_data(source, &data, &err), &err);
	check(tf_report_page(source->name, &data, &page, &err), &err);
	snprintf(path, sizeof(path), "%s/%s.html", folder, name);
	file = fopen(path, "we");
	if (!file || fwrite(page.data, 1, page.size, file) != page.size || fclose(file)) {
		fprintf(stderr, "report_pages: cannot write '%s'\n", path);
		exit(1);
	}
	tf_bytes_fini(&data);
	tf_bytes_fini(&page);
}

static void set(struct tf_program *program, const char *key, const char *value)
{
	struct tf_error err = {0};

	check(tf_program_set_identity(program, key, value, &err), &err);
}

/* Ranks of one half of the machine by NVLink, across by a socket link. */
static void set_links(struct tf_program *program, uint32_t world)
{
	char text[2048] = "gpu;class=switched;links=";

	for (uint32_t i = 0; i < world; i++) {
		for (uint32_t j = 0; j < world; j++) {
			const char *link = i == j ? "self" : i / 4 == j / 4 ? "nvlink@478" : "sys";

			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
				j       ? " "
					: i ? "/"
						: "",
				link);
		}
	}
	set(program, "topology.signature", text);
	set(program, "topology.class", "switched");
	set(program, "device.kind", "cuda");
	set(program, "device.model", "NVIDIA H200");
	program->world = world;
}

int main(int argc, char **argv)
{
	struct tf_program program;
	struct tf_report_source source;

	if (argc != 2) {
		fprintf(stderr, "usage: report_pages FOLDER\n");
		return 2;
	}
	sample_program_make(&program);
	source = report_rig_source(&program);
	set_links(&program, 2);
	write_page(argv[1], "linked2", &source);
	set_links(&program, 8);
	write_page(argv[1], "linked8", &source);
	source.samples_max = source.candidates_max = 1;
	write_page(argv[1], "bounded", &source);
	set_links(&program, 3);
	set(&program, "workload", "</script><script>document.title = 'taken'</script>");
	strcpy(program.groups[0].name, "<img src=x onerror=document.title='taken'>");
	source = report_rig_source(&program);
	source.name = "</title><b>unkind & \"quoted\".tfp";
	write_page(argv[1], "linked", &source);
	tf_program_fini(&program);
	sample_program_make_large(&program);
	source = report_rig_source(&program);
	write_page(argv[1], "large", &source);
	tf_program_fini(&program);
	return 0;
}
