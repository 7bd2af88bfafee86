/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields are split by ';', rows of links by '/', a row's links and the models by ' ' and ','. What
 * is half understood is not shown: a matrix is taken whole or not at all.
 */
#include "runtime/topology/signature_parse.h"

#include <stdarg.h>
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

static int read_link(struct span cell, struct tf_signature_link *out)
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

static int read_row(struct span row, struct tf_signature_link *out, uint32_t *out_count)
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
	struct span text, uint32_t world, struct tf_signature_link links[TF_WORLD_MAX][TF_WORLD_MAX])
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

/* One model a rank of the matrix, or of the world where there is none. */
static void read_models(struct span text, uint32_t ranks, struct tf_signature *out)
{
	for (uint32_t i = 0; text.at && i < ranks; i++) {
		if (!copy_word(take(&text, ','), out->models[i], sizeof(out->models[i])))
			out->models[i][0] = '\0';
	}
}

bool tf_signature_is_of_gpus(const char *text)
{
	return text && !strncmp(text, "gpu;", 4);
}

void tf_signature_parse(const char *text, uint32_t world, struct tf_signature *out)
{
	struct span links = text ? find_field(text, "links") : (struct span){NULL, 0};

	memset(out, 0, sizeof(*out));
	if (links.at) {
		out->ranks = read_links(links, world, out->links);
		out->damaged = !out->ranks;
	}
	if (out->damaged)
		memset(out->links, 0, sizeof(out->links));
	if (text && !out->damaged)
		read_models(find_field(text, "models"),
			out->ranks                 ? out->ranks
				: world < TF_WORLD_MAX ? world
									   : TF_WORLD_MAX,
			out);
}

/* A text of fixed room that is cut when it is full. */
struct words {
	char *to;
	size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void say(struct words *words, const char *fmt, ...)
{
	va_list args;
	int wrote;

	if (words->used >= words->size)
		return;
	va_start(args, fmt);
	wrote = vsnprintf(words->to + words->used, words->size - words->used, fmt, args);
	va_end(args);
	words->used += wrote > 0 ? (size_t)wrote : 0;
}

static const char *link_text(const struct tf_signature_link *link, char out[32])
{
	if (link->bandwidth_gbps)
		snprintf(out, 32, "%s@%u", link->name, link->bandwidth_gbps);
	else
		snprintf(out, 32, "%s", link->name);
	return out;
}

/* The first model that differs, and how many others do. */
static void compare_models(
	const struct tf_signature *package, const struct tf_signature *machine, struct words *words)
{
	uint32_t others = 0;

	for (uint32_t i = 0; i < TF_WORLD_MAX; i++) {
		const char *wanted = package->models[i], *found = machine->models[i];

		if (!wanted[0] || !found[0] || !strcmp(wanted, found))
			continue;
		if (words->used)
			others++;
		else
			say(words, "rank %u's GPU: package '%s', machine '%s'", i, wanted, found);
	}
	if (others)
		say(words, ", and %u other rank%s", others, others == 1 ? "" : "s");
}

/* The first ordered pair that differs, and how many others do. */
static void compare_links(
	const struct tf_signature *package, const struct tf_signature *machine, struct words *words)
{
	uint32_t different = 0;
	char wanted[32], found[32];

	for (uint32_t i = 0; i < package->ranks; i++) {
		for (uint32_t j = 0; j < package->ranks; j++) {
			const struct tf_signature_link *a = &package->links[i][j], *b = &machine->links[i][j];

			if (!strcmp(a->name, b->name) && a->bandwidth_gbps == b->bandwidth_gbps)
				continue;
			if (!different++)
				say(words, "%srank %u to rank %u: package '%s', machine '%s'",
					words->used ? "; " : "", i, j, link_text(a, wanted), link_text(b, found));
		}
	}
	if (different > 1)
		say(words, ", and %u other pair%s", different - 1, different == 2 ? "" : "s");
}

bool tf_signature_differs(
	const char *package, const char *machine, uint32_t world, char *out, size_t size)
{
	struct words words = {.to = out, .size = size};
	struct tf_signature wanted, found;

	tf_signature_parse(package, world, &wanted);
	tf_signature_parse(machine, world, &found);
	if (size)
		out[0] = '\0';
	compare_models(&wanted, &found, &words);
	if (wanted.damaged)
		say(&words, "%sthe package's links are no square matrix of at most %u ranks",
			words.used ? "; " : "", world);
	else if (wanted.ranks && found.ranks && wanted.ranks != found.ranks)
		say(&words, "%slinks of %u ranks in the package, of %u on the machine",
			words.used ? "; " : "", wanted.ranks, found.ranks);
	else if (wanted.ranks && found.ranks)
		compare_links(&wanted, &found, &words);
	return words.used > 0;
}
