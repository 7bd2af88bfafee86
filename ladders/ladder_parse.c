/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a ladder's YAML to struct tf_ladder.
 *
 * First libcyaml by the schema below (words, keys, types), then each rung's numbers, then what
 * contradicts itself within a rung, then rungs against each other. The first fault ends it.
 */
#include "ladders/ladder.h"
#include "base/alloc.h"
#include "ladders/yaml_load.h"
#include "ladders/yaml_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct raw_rung {
	enum tf_algorithm algorithm;
	enum tf_writer writer;
	char *threads, *ctas, *chunk, *align, *ctas_per_peer, *reason;
	uint32_t ops, dtypes, needs, without;
	char *world[2], *bytes[2];
};

struct raw_ladder {
	uint32_t topology; /* place in `topologies` */
	char *summary;
	struct raw_rung *rungs;
	uint32_t rung_count;
};

static const cyaml_strval_t topologies[] = {
	{"switched", 0}, {"host-bridge", 1}, {"ring", 2}, {"fabric", 3}, {"local", 4}};
static const cyaml_strval_t algorithms[] = {{"one_shot", TF_ALGORITHM_ONE_SHOT},
	{"two_shot", TF_ALGORITHM_TWO_SHOT}, {"library", TF_ALGORITHM_LIBRARY}};
static const cyaml_strval_t writers[] = {{"ll", TF_WRITER_LL}, {"sentinel", TF_WRITER_SENTINEL},
	{"direct", TF_WRITER_DIRECT}, {"serial", TF_WRITER_SERIAL}, {"queued", TF_WRITER_QUEUED},
	{"pull", TF_WRITER_PULL}, {"staged", TF_WRITER_STAGED}, {"copy_engine", TF_WRITER_COPY_ENGINE},
	{"nccl", TF_WRITER_NCCL}, {"wire", TF_WRITER_WIRE}};
static const cyaml_strval_t ops[] = {{"all_reduce", 1 << TF_OP_ALL_REDUCE},
	{"all_gather", 1 << TF_OP_ALL_GATHER}, {"reduce_scatter", 1 << TF_OP_REDUCE_SCATTER}};
static const cyaml_strval_t dtypes[] = {
	{"bf16", 1 << TF_DTYPE_BF16}, {"f16", 1 << TF_DTYPE_F16}, {"f32", 1 << TF_DTYPE_F32}};
static const cyaml_strval_t needs[] = {{"peer_write", TF_LINK_PEER_WRITE},
	{"peer_read", TF_LINK_PEER_READ}, {"peer_atomic", TF_LINK_PEER_ATOMIC}};

static const struct tf_yaml_hint hints[] = {
	{"rungs", "a list of 1 to 256 rungs"},
	{"threads", "a multiple of 32 from 32 to 1024"},
	{"ctas", "a number from 1 to 128"},
	{"chunk", "256 to 16MiB, in bytes or KiB, MiB, GiB ('64KiB')"},
	{"world", "[min, max]"},
	{"world[]", "a number from 2 to 8"},
	{"bytes", "[min, max]"},
	{"bytes[]", "1 to 64MiB, in bytes or KiB, MiB, GiB ('64KiB')"},
	{"align", "a power of two from 1 to 256"},
	{"ctas_per_peer", "a number from 1 to 128, no more than ctas"},
	{NULL, NULL},
};

static const cyaml_schema_value_t text_schema = {
	CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, 32)};

#define NUMBER(key, member, flag)                                                                  \
	CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | (flag), struct raw_rung, member, 1, 32)

static const cyaml_schema_field_t rung_fields[] = {
	CYAML_FIELD_ENUM(
		"algorithm", CYAML_FLAG_STRICT, struct raw_rung, algorithm, algorithms, COUNT(algorithms)),
	CYAML_FIELD_ENUM("writer", CYAML_FLAG_STRICT, struct raw_rung, writer, writers, COUNT(writers)),
	NUMBER("threads", threads, CYAML_FLAG_OPTIONAL),
	NUMBER("ctas", ctas, CYAML_FLAG_OPTIONAL),
	NUMBER("chunk", chunk, CYAML_FLAG_OPTIONAL),
	CYAML_FIELD_FLAGS("ops", CYAML_FLAG_STRICT, struct raw_rung, ops, ops, COUNT(ops)),
	CYAML_FIELD_FLAGS("dtypes", CYAML_FLAG_STRICT | CYAML_FLAG_OPTIONAL, struct raw_rung, dtypes,
		dtypes, COUNT(dtypes)),
	CYAML_FIELD_SEQUENCE_FIXED(
		"world", CYAML_FLAG_DEFAULT, struct raw_rung, world, &text_schema, 2),
	CYAML_FIELD_SEQUENCE_FIXED(
		"bytes", CYAML_FLAG_DEFAULT, struct raw_rung, bytes, &text_schema, 2),
	NUMBER("align", align, CYAML_FLAG_OPTIONAL),
	NUMBER("ctas_per_peer", ctas_per_peer, CYAML_FLAG_OPTIONAL),
	CYAML_FIELD_FLAGS("needs", CYAML_FLAG_STRICT | CYAML_FLAG_OPTIONAL, struct raw_rung, needs,
		needs, COUNT(needs)),
	CYAML_FIELD_FLAGS("without", CYAML_FLAG_STRICT | CYAML_FLAG_OPTIONAL, struct raw_rung, without,
		needs, COUNT(needs)),
	CYAML_FIELD_STRING_PTR("reason", CYAML_FLAG_POINTER, struct raw_rung, reason, 1, 400),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t rung_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct raw_rung, rung_fields)};

static const cyaml_schema_field_t ladder_fields[] = {
	CYAML_FIELD_ENUM(
		"topology", CYAML_FLAG_STRICT, struct raw_ladder, topology, topologies, COUNT(topologies)),
	CYAML_FIELD_STRING_PTR("summary", CYAML_FLAG_POINTER, struct raw_ladder, summary, 1, 1000),
	CYAML_FIELD_SEQUENCE_COUNT("rungs", CYAML_FLAG_POINTER, struct raw_ladder, rungs, rung_count,
		&rung_schema, 1, TF_LADDER_RUNGS_MAX),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t ladder_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct raw_ladder, ladder_fields)};

/* A rung being read: where it came from and where it goes. */
struct reading {
	const struct tf_yaml *yaml;
	uint32_t index;
	const struct raw_rung *raw;
	struct tf_rung *rung;
	struct tf_error *err;
	char path[TF_YAML_PATH_BYTES];
};

static const char *path_of(struct reading *r, const char *field)
{
	snprintf(
		r->path, sizeof(r->path), "rungs[%u]%s%s", (unsigned)r->index, *field ? "." : "", field);
	return r->path;
}

static enum tf_status read_number(
	struct reading *r, const char *field, const char *text, uint64_t max, uint32_t *out)
{
	uint64_t value;

	TF_TRY(tf_yaml_number(r->yaml, path_of(r, field), text, 1, max, &value, r->err));
	*out = (uint32_t)value;
	return TF_OK;
}

static enum tf_status read_align(struct reading *r)
{
	uint32_t *align = &r->rung->align_bytes;

	*align = 1;
	if (!r->raw->align)
		return TF_OK;
	TF_TRY(read_number(r, "align", r->raw->align, TF_LADDER_ALIGN_MAX, align));
	if (*align & (*align - 1))
		return tf_yaml_fail_value(r->yaml, r->err, path_of(r, "align"), NULL);
	return TF_OK;
}

/* CTAs against world: ctas >= ctas_per_peer * (world - 1), so a world of two at least. */
static enum tf_status read_ctas_per_peer(struct reading *r)
{
	if (!r->raw->ctas_per_peer)
		return TF_OK;
	return read_number(r, "ctas_per_peer", r->raw->ctas_per_peer, r->rung->candidate.ctas,
		&r->rung->ctas_per_peer);
}

static enum tf_status read_world(struct reading *r)
{
	static const char *const fields[] = {"world[0]", "world[1]"};
	uint64_t value[2];

	for (int i = 0; i < 2; i++)
		TF_TRY(tf_yaml_number(r->yaml, path_of(r, fields[i]), r->raw->world[i], TF_WORLD_MIN,
			TF_WORLD_MAX, &value[i], r->err));
	if (value[0] > value[1])
		return tf_yaml_fail(r->yaml, r->err, path_of(r, "world"),
			"min %" PRIu64 " is above max %" PRIu64, value[0], value[1]);
	r->rung->world_min = (uint32_t)value[0];
	r->rung->world_max = (uint32_t)value[1];
	return TF_OK;
}

static enum tf_status read_bytes(struct reading *r)
{
	static const char *const fields[] = {"bytes[0]", "bytes[1]"};
	uint64_t align = r->rung->align_bytes;
	uint64_t value[2];

	for (int i = 0; i < 2; i++)
		TF_TRY(tf_yaml_size(r->yaml, path_of(r, fields[i]), r->raw->bytes[i], 1,
			TF_LADDER_BYTES_MAX, &value[i], r->err));
	if (value[0] > value[1])
		return tf_yaml_fail(r->yaml, r->err, path_of(r, "bytes"),
			"min %" PRIu64 " is above max %" PRIu64, value[0], value[1]);
	if (tf_align_up(value[0], align) > value[1])
		return tf_yaml_fail(r->yaml, r->err, path_of(r, "bytes"),
			"no multiple of align %" PRIu64 " lies in %" PRIu64 " to %" PRIu64, align, value[0],
			value[1]);
	r->rung->bytes_min = value[0];
	r->rung->bytes_max = value[1];
	return TF_OK;
}

/* Comes after needs: a rung that needs what the links must not offer is never legal. */
static enum tf_status read_without(struct reading *r)
{
	uint32_t both;
	int given;

	tf_yaml_find(r->yaml, path_of(r, "without"), &given);
	if (!given)
		return TF_OK;
	TF_TRY(tf_yaml_distinct(r->yaml, r->path, r->err));
	both = r->rung->needs & r->raw->without;
	if (both)
		return tf_yaml_fail(r->yaml, r->err, r->path, "writer '%s' needs %s",
			tf_writer_name(r->rung->candidate.writer),
			both & TF_LINK_PEER_WRITE      ? "peer_write"
				: both & TF_LINK_PEER_READ ? "peer_read"
										   : "peer_atomic");
	r->rung->without = r->raw->without;
	return TF_OK;
}

static enum tf_status read_masks(struct reading *r)
{
	const struct raw_rung *raw = r->raw;
	struct tf_rung *rung = r->rung;
	int given;

	TF_TRY(tf_yaml_distinct(r->yaml, path_of(r, "ops"), r->err));
	rung->ops = raw->ops;
	rung->dtypes = (1u << TF_DTYPE_COUNT) - 1;
	tf_yaml_find(r->yaml, path_of(r, "dtypes"), &given);
	if (given) {
		TF_TRY(tf_yaml_distinct(r->yaml, r->path, r->err));
		rung->dtypes = raw->dtypes;
	}
	rung->needs = tf_writer_needs(rung->candidate.writer);
	tf_yaml_find(r->yaml, path_of(r, "needs"), &given);
	if (!given)
		return read_without(r);
	TF_TRY(tf_yaml_distinct(r->yaml, r->path, r->err));
	if (rung->needs & ~raw->needs & ~(uint32_t)TF_LINK_LIBRARY)
		return tf_yaml_fail(r->yaml, r->err, r->path, "writer '%s' also needs %s",
			tf_writer_name(rung->candidate.writer),
			rung->needs & ~raw->needs & TF_LINK_PEER_READ ? "peer_read" : "peer_write");
	rung->needs |= raw->needs;
	return read_without(r);
}

/* What the rung says of itself and what its candidate can do. */
static enum tf_status check_shape(struct reading *r)
{
	const struct tf_rung *rung = r->rung;
	uint64_t chunk = rung->candidate.chunk_bytes;
	struct tf_error why = {0};
	const char *field = "";
	int given;

	if (tf_candidate_legal_shape(&rung->candidate, rung->ops, &field, &why) != TF_OK) {
		tf_yaml_find(r->yaml, path_of(r, field), &given);
		return tf_yaml_fail(r->yaml, r->err, path_of(r, given ? field : ""), "%s", why.text);
	}
	if (chunk && rung->bytes_max > chunk * TF_LADDER_CHUNKS_MAX)
		return tf_yaml_fail(r->yaml, r->err, path_of(r, "chunk"),
			"%" PRIu64 " bytes make more than %d chunks of bytes max %" PRIu64, chunk,
			TF_LADDER_CHUNKS_MAX, rung->bytes_max);
	return TF_OK;
}

/* Every writer of ours is given both; the shape's check refuses them where they mean nothing. */
static enum tf_status read_geometry(struct reading *r)
{
	const struct raw_rung *raw = r->raw;
	struct tf_candidate *candidate = &r->rung->candidate;

	if (candidate->writer != TF_WRITER_NCCL && (!raw->threads || !raw->ctas))
		return tf_yaml_fail(r->yaml, r->err, path_of(r, ""), "required key '%s' is missing",
			raw->threads ? "ctas" : "threads");
	if (raw->threads)
		TF_TRY(read_number(r, "threads", raw->threads, TF_LADDER_THREADS_MAX, &candidate->threads));
	if (candidate->threads % 32)
		return tf_yaml_fail_value(r->yaml, r->err, path_of(r, "threads"), NULL);
	if (raw->ctas)
		TF_TRY(read_number(r, "ctas", raw->ctas, TF_LADDER_CTAS_MAX, &candidate->ctas));
	return TF_OK;
}

static enum tf_status read_rung(struct reading *r)
{
	const struct raw_rung *raw = r->raw;
	struct tf_candidate *candidate = &r->rung->candidate;

	candidate->algorithm = raw->algorithm;
	candidate->writer = raw->writer;
	TF_TRY(read_geometry(r));
	if (raw->chunk)
		TF_TRY(tf_yaml_size(r->yaml, path_of(r, "chunk"), raw->chunk, TF_LADDER_CHUNK_MIN,
			TF_LADDER_CHUNK_MAX, &candidate->chunk_bytes, r->err));
	TF_TRY(read_masks(r));
	TF_TRY(read_ctas_per_peer(r));
	TF_TRY(read_world(r));
	TF_TRY(read_align(r));
	TF_TRY(read_bytes(r));
	return check_shape(r);
}

static int overlap(const struct tf_rung *a, const struct tf_rung *b)
{
	return tf_candidate_equal(&a->candidate, &b->candidate) && (a->ops & b->ops) &&
		(a->dtypes & b->dtypes) && a->world_min <= b->world_max && b->world_min <= a->world_max &&
		a->bytes_min <= b->bytes_max && b->bytes_min <= a->bytes_max;
}

/* The same candidate twice for one group would be sampled twice and tie with itself. */
static enum tf_status check_repeats(struct reading *r, const struct tf_rung *rungs)
{
	char name[TF_CANDIDATE_NAME_BYTES];

	for (uint32_t i = 0; i < r->index; i++) {
		if (overlap(&rungs[i], r->rung))
			return tf_yaml_fail(r->yaml, r->err, path_of(r, ""),
				"repeats rungs[%u] (%s): ops, dtypes, world and bytes overlap", (unsigned)i,
				tf_candidate_name(&r->rung->candidate, name));
	}
	return TF_OK;
}

static enum tf_status read_rungs(
	const struct tf_yaml *yaml, struct raw_ladder *raw, struct tf_ladder *out, struct tf_error *err)
{
	out->rungs = tf_calloc(raw->rung_count, sizeof(*out->rungs));
	if (!out->rungs)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for %u rungs", (unsigned)raw->rung_count);
	out->rung_count = raw->rung_count;
	for (uint32_t i = 0; i < raw->rung_count; i++) {
		struct reading r = {
			.yaml = yaml, .index = i, .raw = &raw->rungs[i], .rung = &out->rungs[i], .err = err};

		TF_TRY(read_rung(&r));
		TF_TRY(check_repeats(&r, out->rungs));
		out->rungs[i].reason = raw->rungs[i].reason; /* taken */
		raw->rungs[i].reason = NULL;
	}
	return TF_OK;
}

/* "ladders/switched.yaml" is called "switched". */
static char *name_of(const char *source)
{
	const char *slash = strrchr(source, '/');
	const char *base = slash ? slash + 1 : source;
	size_t bytes = strlen(base);

	if (bytes > 5 && !strcmp(base + bytes - 5, ".yaml"))
		bytes -= 5;
	return tf_strndup(base, bytes);
}

static enum tf_status read_ladder(
	const struct tf_yaml *yaml, struct raw_ladder *raw, struct tf_ladder *out, struct tf_error *err)
{
	out->name = name_of(yaml->source);
	out->topology = tf_strdup(topologies[raw->topology].str);
	out->summary = raw->summary; /* taken */
	raw->summary = NULL;
	if (!out->name || !out->topology)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for ladder '%s'", yaml->source);
	return read_rungs(yaml, raw, out, err);
}

enum tf_status tf_ladder_parse(
	const char *text, size_t size, const char *source, struct tf_ladder *out, struct tf_error *err)
{
	struct tf_yaml yaml = {0};
	struct tf_ladder ladder = {0};
	void *raw = NULL;
	enum tf_status status;

	TF_TRY(tf_yaml_scan(text, size, source, hints, &yaml, err));
	status = tf_yaml_load(&yaml, text, size, &ladder_schema, &raw, err);
	if (status == TF_OK)
		status = read_ladder(&yaml, raw, &ladder, err);
	if (status == TF_OK)
		*out = ladder;
	else
		tf_ladder_fini(&ladder);
	tf_yaml_free(&ladder_schema, raw);
	tf_yaml_fini(&yaml);
	return status;
}
