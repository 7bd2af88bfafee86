/* SPDX-License-Identifier: Apache-2.0 */
/* What a links file looks like to libcyaml: words, keys, types, and what is said of wrong ones. */
#include "ladders/ladder.h"
#include "prepare/links/links_raw.h"
#include "prepare/links/links_unit.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const cyaml_strval_t tf_raw_links_topologies[] = {
	{"switched", 0}, {"host-bridge", 1}, {"ring", 2}, {"fabric", 3}, {"local", 4}};
static const cyaml_strval_t peers[] = {{"write", TF_LINK_PEER_WRITE}, {"read", TF_LINK_PEER_READ},
	{"atomic", TF_LINK_PEER_ATOMIC}, {"none", TF_RAW_LINKS_NONE}};

const struct tf_yaml_hint tf_raw_links_hints[] = {
	{"world", "a number from 2 to 8"},
	{"port", TF_LINKS_RATE_HINT},
	{"capacity", TF_LINKS_RATE_HINT},
	{"collapsed", TF_LINKS_RATE_HINT},
	{"write", TF_LINKS_RATE_HINT},
	{"read", TF_LINKS_RATE_HINT},
	{"cta_write", TF_LINKS_RATE_HINT},
	{"cta_local", TF_LINKS_RATE_HINT},
	{"memory", TF_LINKS_RATE_HINT},
	{"latency", TF_LINKS_TIME_HINT},
	{"launch", TF_LINKS_TIME_HINT},
	{"cta", TF_LINKS_TIME_HINT},
	{"poll", TF_LINKS_TIME_HINT},
	{"read_in_flight", "bytes from 1 to 1048576 ('64')"},
	{"collapse_at", "a number of destinations from 2 to 8"},
	{"seed", "a number from 0 to 4294967295"},
	{"percent", "a number from 0 to 10000"},
	{"slow_percent", "a number from 1 to 10000 (100: as the others)"},
	{"jitter_percent", "a number from 0 to 10000"},
	{"rank", "a rank below world"},
	{"from[]", "a rank below world"},
	{"to[]", "a rank below world"},
	{"root_complex", "a number for each rank"},
	{"root_complex[]", "a number from 0 to 7"},
	{"through[]", "the name of one of resources"},
	{"name", "1 to 63 of A-Z a-z 0-9 . _ -"},
	{NULL, NULL},
};

static const cyaml_schema_value_t text_schema = {
	CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, 64)};

#define TEXT(key, structure, member, flag)                                                         \
	CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | (flag), structure, member, 1, 64)
#define TEXTS(key, structure, member, flag, max)                                                   \
	CYAML_FIELD_SEQUENCE_COUNT(                                                                    \
		key, CYAML_FLAG_POINTER | (flag), structure, member, member##_count, &text_schema, 1, max)

static const cyaml_schema_field_t device_fields[] = {
	TEXT("launch", struct tf_raw_links_device, launch, 0),
	TEXT("cta", struct tf_raw_links_device, cta, 0),
	TEXT("poll", struct tf_raw_links_device, poll, 0),
	TEXT("cta_write", struct tf_raw_links_device, cta_write, 0),
	TEXT("cta_local", struct tf_raw_links_device, cta_local, 0),
	TEXT("memory", struct tf_raw_links_device, memory, 0),
	TEXT("read_in_flight", struct tf_raw_links_device, read_in_flight, 0),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t jitter_fields[] = {
	TEXT("seed", struct tf_raw_links_jitter, seed, 0),
	TEXT("percent", struct tf_raw_links_jitter, percent, 0),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t resource_fields[] = {
	TEXT("name", struct tf_raw_links_resource, name, 0),
	TEXT("capacity", struct tf_raw_links_resource, capacity, 0),
	TEXT("collapse_at", struct tf_raw_links_resource, collapse_at, CYAML_FLAG_OPTIONAL),
	TEXT("collapsed", struct tf_raw_links_resource, collapsed, CYAML_FLAG_OPTIONAL),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t link_fields[] = {
	TEXTS("from", struct tf_raw_links_link, from, 0, TF_WORLD_MAX),
	TEXTS("to", struct tf_raw_links_link, to, 0, TF_WORLD_MAX),
	TEXT("latency", struct tf_raw_links_link, latency, 0),
	TEXT("write", struct tf_raw_links_link, write, 0),
	TEXT("read", struct tf_raw_links_link, read, 0),
	CYAML_FIELD_FLAGS(
		"peer", CYAML_FLAG_STRICT, struct tf_raw_links_link, peer, peers, COUNT(peers)),
	TEXTS("through", struct tf_raw_links_link, through, CYAML_FLAG_OPTIONAL, TF_LINKS_THROUGH_MAX),
	CYAML_FIELD_END,
};

static const cyaml_schema_field_t rank_fields[] = {
	TEXT("rank", struct tf_raw_links_rank, rank, 0),
	TEXT("slow_percent", struct tf_raw_links_rank, slow, CYAML_FLAG_OPTIONAL),
	TEXT("jitter_percent", struct tf_raw_links_rank, jitter, CYAML_FLAG_OPTIONAL),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t resource_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tf_raw_links_resource, resource_fields)};
static const cyaml_schema_value_t link_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tf_raw_links_link, link_fields)};
static const cyaml_schema_value_t rank_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tf_raw_links_rank, rank_fields)};

static const cyaml_schema_field_t links_fields[] = {
	CYAML_FIELD_ENUM("topology", CYAML_FLAG_STRICT, struct tf_raw_links, topology,
		tf_raw_links_topologies, COUNT(tf_raw_links_topologies)),
	CYAML_FIELD_STRING_PTR(
		"summary", CYAML_FLAG_POINTER, struct tf_raw_links, summary, 1, TF_LINKS_SUMMARY_BYTES - 1),
	TEXT("world", struct tf_raw_links, world, 0),
	TEXT("port", struct tf_raw_links, port, 0),
	TEXTS("root_complex", struct tf_raw_links, root_complex, CYAML_FLAG_OPTIONAL, TF_WORLD_MAX),
	CYAML_FIELD_MAPPING("jitter", CYAML_FLAG_OPTIONAL, struct tf_raw_links, jitter, jitter_fields),
	CYAML_FIELD_MAPPING("device", CYAML_FLAG_DEFAULT, struct tf_raw_links, device, device_fields),
	CYAML_FIELD_SEQUENCE_COUNT("resources", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
		struct tf_raw_links, resources, resource_count, &resource_schema, 1,
		TF_LINKS_RESOURCES_MAX),
	CYAML_FIELD_SEQUENCE_COUNT("links", CYAML_FLAG_POINTER, struct tf_raw_links, links, link_count,
		&link_schema, 1, TF_LINKS_ENTRIES_MAX),
	CYAML_FIELD_SEQUENCE_COUNT("ranks", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
		struct tf_raw_links, ranks, rank_count, &rank_schema, 1, TF_WORLD_MAX),
	CYAML_FIELD_END,
};

const cyaml_schema_value_t tf_raw_links_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct tf_raw_links, links_fields)};
