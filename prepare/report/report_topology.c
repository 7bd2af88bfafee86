/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields are split by ';', rows of links by '/', a row's links and the models by ' ' and ','. What
 * is half understood is not shown: a matrix is taken whole or not at all.
 */
#include "prepare/report/report_topology.h"

#include <stdio.h>
#include <string.h>

#define GBPS_MAX 1000000 /* decimal gigabytes a second; no link comes near */

struct span {
	const char *at;
	size_t length;
};

/* The value of ";KEY=", or {NULL}. */
static struct span find_field(const char *signature, const char *key)
{
	size_t length = strlen(key);

	for (const char *at = signature; at; at = strchr(at, ';')) {
		at += *at == ';';
		if (!strncmp(at, key, length) && at[length] == '=') {
			at += length + 1;
			return (struct span){at, strcspn(at, ";")};
		}
	}
	return (struct span){NULL, 0};
}

/* Takes the text before the next `separator`; {NULL} where nothing is left. */
static struct span take(struct span *rest, char separator)
{
	struct span part = {rest->at, 0};

	if (!rest->at)
		return part;
	while (part.length < rest->length && part.at[part.length] != separator)
		part.length++;
	if (part.length == rest->length) {
		rest->at = NULL;
	} else {
		rest->at += part.length + 1;
		rest->length -= part.length + 1;
	}
	return part;
}

static int copy_word(struct span from, char *to, size_t size)
{
	if (!from.length || from.length >= size)
		return 0;
	for (size_t i = 0; i < from.length; i++) {
		char c = from.at[i];

		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == ':'))
			return 0;
	}
	memcpy(to, from.at, from.length);
	to[from.length] = '\0';
	return 1;
}

static int read_link(struct span cell, struct tf_report_link *out)
{
	struct span name = take(&cell, '@');
	uint32_t gbps = 0;

	for (size_t i = 0; cell.at && i < cell.length; i++) {
		if (cell.at[i] < '0' || cell.at[i] > '9' || gbps > GBPS_MAX)
			return 0;
		gbps = gbps * 10 + (uint32_t)(cell.at[i] - '0');
	}
	out->bandwidth_gbps = gbps;
	return copy_word(name, out->name, sizeof(out->name));
}

static int read_row(struct span row, struct tf_report_link *out, uint32_t *out_count)
{
	uint32_t count = 0;

	while (row.at) {
		if (count == TF_WORLD_MAX || !read_link(take(&row, ' '), &out[count]))
			return 0;
		count++;
	}
	*out_count = count;
	return 1;
}

/* The number of rows of a square matrix for at most `world` ranks, or 0. */
static uint32_t read_links(
	struct span text, uint32_t world, struct tf_report_link links[TF_WORLD_MAX][TF_WORLD_MAX])
{
	uint32_t counts[TF_WORLD_MAX], rows = 0;

	while (text.at) {
		if (rows == TF_WORLD_MAX || rows == world)
			return 0;
		if (!read_row(take(&text, '/'), links[rows], &counts[rows]))
			return 0;
		rows++;
	}
	for (uint32_t i = 0; i < rows; i++) {
		if (counts[i] != rows)
			return 0;
	}
	return rows;
}

static void read_models(struct span text, struct tf_report_topology *out)
{
	for (uint32_t i = 0; text.at && i < out->ranks; i++) {
		if (!copy_word(take(&text, ','), out->models[i], sizeof(out->models[i])))
			out->models[i][0] = '\0';
	}
}

void tf_report_topology_parse(const char *signature, uint32_t world, struct tf_report_topology *out)
{
	struct span links = {NULL, 0};

	memset(out, 0, sizeof(*out));
	if (signature)
		links = find_field(signature, "links");
	if (!links.at) {
		snprintf(out->note, sizeof(out->note), "the package records no links between ranks");
		return;
	}
	out->ranks = read_links(links, world, out->links);
	if (!out->ranks) {
		memset(out->links, 0, sizeof(out->links));
		snprintf(out->note, sizeof(out->note),
			"the links in the package's topology.signature are no square matrix of at most %u "
			"ranks",
			world);
		return;
	}
	read_models(find_field(signature, "models"), out);
}
