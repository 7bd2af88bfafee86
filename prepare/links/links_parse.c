/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a links file's YAML to struct tf_links.
 *
 * First libcyaml by its schema (links_schema.c: words, keys, types), then numbers with their units,
 * then that every ordered pair is there once. The first fault ends it.
 */
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "ladders/yaml_load.h"
#include "ladders/yaml_value.h"
#include "prepare/links/links_raw.h"
#include "prepare/links/links_unit.h"

struct reading {
	const struct tf_yaml *yaml;
	const struct tf_raw_links *raw;
	struct tf_links *links;
	struct tf_error *err;
	char path[TF_YAML_PATH_BYTES];
};

static const char *path_of(struct reading *r, const char *list, uint32_t index, const char *field)
{
	snprintf(
		r->path, sizeof(r->path), "%s[%u]%s%s", list, (unsigned)index, *field ? "." : "", field);
	return r->path;
}

static enum tf_status read_number(struct reading *r, const char *path, const char *text,
	uint64_t min, uint64_t max, uint64_t *out)
{
	return tf_yaml_number(r->yaml, path, text, min, max, out, r->err);
}

static enum tf_status read_rate(struct reading *r, const char *path, const char *text, double *out)
{
	return tf_links_rate(r->yaml, path, text, out, r->err);
}

static enum tf_status read_time(struct reading *r, const char *path, const char *text, double *out)
{
	return tf_links_time(r->yaml, path, text, out, r->err);
}

static enum tf_status read_device(struct reading *r)
{
	const struct tf_raw_links_device *raw = &r->raw->device;
	struct tf_links_device *device = &r->links->device;
	uint64_t bytes;

	TF_TRY(read_time(r, "device.launch", raw->launch, &device->launch_ns));
	TF_TRY(read_time(r, "device.cta", raw->cta, &device->cta_ns));
	TF_TRY(read_time(r, "device.poll", raw->poll, &device->poll_ns));
	TF_TRY(read_rate(r, "device.cta_write", raw->cta_write, &device->cta_write_gbps));
	TF_TRY(read_rate(r, "device.cta_local", raw->cta_local, &device->cta_local_gbps));
	TF_TRY(read_rate(r, "device.memory", raw->memory, &device->memory_gbps));
	TF_TRY(read_number(r, "device.read_in_flight", raw->read_in_flight, 1, 1 << 20, &bytes));
	device->read_in_flight_bytes = (uint32_t)bytes;
	return TF_OK;
}

static enum tf_status read_whole(struct reading *r)
{
	const struct tf_raw_links *raw = r->raw;
	struct tf_links *links = r->links;
	uint64_t value;

	TF_TRY(read_number(r, "world", raw->world, TF_WORLD_MIN, TF_WORLD_MAX, &value));
	links->world = (uint32_t)value;
	TF_TRY(read_rate(r, "port", raw->port, &links->port_gbps));
	if (raw->root_complex && raw->root_complex_count != links->world)
		return tf_yaml_fail(r->yaml, r->err, "root_complex",
			"found %" PRIu32 " entries, allowed: %" PRIu32 ", one a rank", raw->root_complex_count,
			links->world);
	for (uint32_t i = 0; i < TF_WORLD_MAX; i++) {
		links->root_complex[i] = i;
		links->ranks[i].slow = 1;
		if (i >= raw->root_complex_count)
			continue;
		TF_TRY(read_number(r, path_of(r, "root_complex", i, ""), raw->root_complex[i], 0,
			TF_WORLD_MAX - 1, &value));
		links->root_complex[i] = (uint32_t)value;
	}
	if (raw->jitter.seed) {
		TF_TRY(read_number(r, "jitter.seed", raw->jitter.seed, 0, TF_LINKS_SEED_MAX, &links->seed));
		TF_TRY(
			read_number(r, "jitter.percent", raw->jitter.percent, 0, TF_LINKS_PERCENT_MAX, &value));
		links->jitter_percent = (double)value;
	}
	return read_device(r);
}

static enum tf_status read_resource(struct reading *r, uint32_t index)
{
	const struct tf_raw_links_resource *raw = &r->raw->resources[index];
	struct tf_links_resource *resource = &r->links->resources[index];
	uint64_t value;

	TF_TRY(tf_yaml_name(r->yaml, path_of(r, "resources", index, "name"), raw->name, r->err));
	snprintf(resource->name, sizeof(resource->name), "%s", raw->name);
	for (uint32_t i = 0; i < index; i++) {
		if (!strcmp(r->links->resources[i].name, resource->name))
			return tf_yaml_fail(r->yaml, r->err, r->path, "'%s' is also the name of resources[%u]",
				resource->name, (unsigned)i);
	}
	TF_TRY(
		read_rate(r, path_of(r, "resources", index, "capacity"), raw->capacity, &resource->gbps));
	if (!raw->collapse_at != !raw->collapsed)
		return tf_yaml_fail(r->yaml, r->err, path_of(r, "resources", index, ""),
			"'collapse_at' and 'collapsed' go together");
	if (!raw->collapsed)
		return TF_OK;
	TF_TRY(read_number(r, path_of(r, "resources", index, "collapse_at"), raw->collapse_at, 2,
		TF_WORLD_MAX, &value));
	resource->collapse_destinations = (uint32_t)value;
	TF_TRY(read_rate(
		r, path_of(r, "resources", index, "collapsed"), raw->collapsed, &resource->collapsed_gbps));
	if (resource->collapsed_gbps > resource->gbps)
		return tf_yaml_fail(r->yaml, r->err, r->path, "a collapse to more than 'capacity'");
	return TF_OK;
}

static enum tf_status find_resource(
	struct reading *r, const char *path, const char *name, uint8_t *out)
{
	for (uint32_t i = 0; i < r->links->resource_count; i++) {
		if (!strcmp(r->links->resources[i].name, name)) {
			*out = (uint8_t)i;
			return TF_OK;
		}
	}
	return tf_yaml_fail_value(r->yaml, r->err, path, NULL);
}

static enum tf_status read_pair(struct reading *r, uint32_t index, struct tf_links_pair *pair)
{
	const struct tf_raw_links_link *raw = &r->raw->links[index];
	char path[TF_YAML_PATH_BYTES];

	TF_TRY(tf_yaml_distinct(r->yaml, path_of(r, "links", index, "peer"), r->err));
	if (raw->peer & TF_RAW_LINKS_NONE && raw->peer != TF_RAW_LINKS_NONE)
		return tf_yaml_fail(r->yaml, r->err, r->path, "'none' stands alone");
	pair->peer = raw->peer & ~(uint32_t)TF_RAW_LINKS_NONE;
	TF_TRY(read_time(r, path_of(r, "links", index, "latency"), raw->latency, &pair->latency_ns));
	TF_TRY(read_rate(r, path_of(r, "links", index, "write"), raw->write, &pair->write_gbps));
	TF_TRY(read_rate(r, path_of(r, "links", index, "read"), raw->read, &pair->read_gbps));
	if (raw->through_count)
		TF_TRY(tf_yaml_distinct(r->yaml, path_of(r, "links", index, "through"), r->err));
	for (uint32_t i = 0; i < raw->through_count; i++) {
		snprintf(path, sizeof(path), "links[%u].through[%u]", (unsigned)index, (unsigned)i);
		TF_TRY(find_resource(r, path, raw->through[i], &pair->through[i]));
	}
	pair->through_count = (uint8_t)raw->through_count;
	return TF_OK;
}

/* The ranks of links[index].from or .to as bits. */
static enum tf_status read_ranks(struct reading *r, uint32_t index, const char *field,
	char *const *texts, uint32_t count, uint32_t *out)
{
	char path[TF_YAML_PATH_BYTES];
	uint64_t rank;

	TF_TRY(tf_yaml_distinct(r->yaml, path_of(r, "links", index, field), r->err));
	*out = 0;
	for (uint32_t i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "links[%u].%s[%u]", (unsigned)index, field, (unsigned)i);
		TF_TRY(read_number(r, path, texts[i], 0, r->links->world - 1, &rank));
		*out |= 1u << rank;
	}
	return TF_OK;
}

/* `taken` holds a bit (to) a rank (from): pairs that an earlier entry gave. */
static enum tf_status read_link(struct reading *r, uint32_t index, uint32_t *taken)
{
	const struct tf_raw_links_link *raw = &r->raw->links[index];
	struct tf_links_pair pair = {0};
	uint32_t from, to;

	TF_TRY(read_ranks(r, index, "from", raw->from, raw->from_count, &from));
	TF_TRY(read_ranks(r, index, "to", raw->to, raw->to_count, &to));
	TF_TRY(read_pair(r, index, &pair));
	for (uint32_t a = 0; a < r->links->world; a++) {
		for (uint32_t b = 0; b < r->links->world; b++) {
			if (a == b || !(from >> a & 1) || !(to >> b & 1))
				continue;
			if (taken[a] >> b & 1)
				return tf_yaml_fail(r->yaml, r->err, path_of(r, "links", index, ""),
					"the pair from %u to %u was given before", (unsigned)a, (unsigned)b);
			taken[a] |= 1u << b;
			r->links->pairs[a][b] = pair;
		}
	}
	return TF_OK;
}

static enum tf_status read_pairs(struct reading *r)
{
	uint32_t taken[TF_WORLD_MAX] = {0};

	for (uint32_t i = 0; i < r->raw->link_count; i++)
		TF_TRY(read_link(r, i, taken));
	for (uint32_t a = 0; a < r->links->world; a++) {
		for (uint32_t b = 0; b < r->links->world; b++) {
			if (a != b && !(taken[a] >> b & 1))
				return tf_yaml_fail(r->yaml, r->err, "links", "no entry has the pair from %u to %u",
					(unsigned)a, (unsigned)b);
		}
	}
	return TF_OK;
}

/* `taken`: ranks that an earlier entry gave. */
static enum tf_status read_odd_rank(struct reading *r, uint32_t index, uint32_t *taken)
{
	const struct tf_raw_links_rank *raw = &r->raw->ranks[index];
	uint64_t rank, value;

	TF_TRY(read_number(
		r, path_of(r, "ranks", index, "rank"), raw->rank, 0, r->links->world - 1, &rank));
	if (*taken >> rank & 1)
		return tf_yaml_fail(r->yaml, r->err, r->path, "rank %u was given before", (unsigned)rank);
	*taken |= 1u << rank;
	if (raw->slow) {
		TF_TRY(read_number(r, path_of(r, "ranks", index, "slow_percent"), raw->slow, 1,
			TF_LINKS_PERCENT_MAX, &value));
		r->links->ranks[rank].slow = (double)value / 100;
	}
	if (raw->jitter) {
		TF_TRY(read_number(r, path_of(r, "ranks", index, "jitter_percent"), raw->jitter, 0,
			TF_LINKS_PERCENT_MAX, &value));
		r->links->ranks[rank].jitter_percent = (double)value;
	}
	return TF_OK;
}

static enum tf_status read_links(struct reading *r)
{
	uint32_t taken = 0;

	TF_TRY(read_whole(r));
	for (uint32_t i = 0; i < r->raw->resource_count; i++) {
		TF_TRY(read_resource(r, i));
		r->links->resource_count++;
	}
	TF_TRY(read_pairs(r));
	for (uint32_t i = 0; i < r->raw->rank_count; i++)
		TF_TRY(read_odd_rank(r, i, &taken));
	return TF_OK;
}

/* "packages/links/ring-3.yaml" is called "ring-3". */
static void name_of(const char *source, char *out, size_t size)
{
	const char *slash = strrchr(source, '/');
	const char *base = slash ? slash + 1 : source;
	size_t bytes = strlen(base);

	if (bytes > 5 && !strcmp(base + bytes - 5, ".yaml"))
		bytes -= 5;
	snprintf(out, size, "%.*s", (int)(bytes < size ? bytes : size - 1), base);
}

enum tf_status tf_links_parse(
	const char *text, size_t size, const char *source, struct tf_links *out, struct tf_error *err)
{
	struct tf_yaml yaml = {0};
	struct tf_links *links = NULL;
	struct tf_raw_links *raw = NULL;
	enum tf_status status;

	TF_TRY(tf_yaml_scan(text, size, source, tf_raw_links_hints, &yaml, err));
	status = tf_yaml_load(&yaml, text, size, &tf_raw_links_schema, (void **)&raw, err);
	links = tf_calloc(1, sizeof(*links));
	if (status == TF_OK && !links)
		status = TF_FAIL(err, TF_E_NO_MEMORY, "no memory for the links of '%s'", source);
	if (status == TF_OK) {
		struct reading r = {.yaml = &yaml, .raw = raw, .links = links, .err = err};

		name_of(source, links->name, sizeof(links->name));
		snprintf(links->topology, sizeof(links->topology), "%s",
			tf_raw_links_topologies[raw->topology].str);
		snprintf(links->summary, sizeof(links->summary), "%s", raw->summary);
		crypto_hash_sha256(links->digest, (const unsigned char *)text, size);
		status = read_links(&r);
	}
	if (status == TF_OK)
		*out = *links;
	tf_free(links);
	tf_yaml_free(&tf_raw_links_schema, raw);
	tf_yaml_fini(&yaml);
	return status;
}
