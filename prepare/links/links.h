/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The links of a machine that is emulated: what every ordered pair of ranks offers, what they
 * share, and what a device's own work costs. Read from YAML, built in or from a file; what the
 * figures mean is in docs/LINKS.md, how they become times in link_model.h.
 *
 * A struct tf_links is plain data without pointers: copied by value, never freed.
 */
#ifndef TF_PREPARE_LINKS_LINKS_H
#define TF_PREPARE_LINKS_LINKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/dtype.h"
#include "base/error.h"
#include "catalog/program.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_LINKS_RESOURCES_MAX 64 /* the largest machine here has 8 uplinks and 8 NICs */
#define TF_LINKS_ENTRIES_MAX   56 /* ordered pairs of the largest world, each by itself */
#define TF_LINKS_THROUGH_MAX   8  /* shared parts on one path; real ones have two to four */
#define TF_LINKS_SUMMARY_BYTES 1001
#define TF_LINKS_GBPS_MAX      100000 /* beyond any memory there is */
#define TF_LINKS_NS_MAX        1000000000
#define TF_LINKS_PERCENT_MAX   10000
#define TF_LINKS_SEED_MAX      UINT32_MAX

/* Something that several pairs share: a root complex, the uplink of a switch, a NIC. */
struct tf_links_resource {
	char name[TF_NAME_BYTES];
	double gbps;
	uint32_t collapse_destinations; /* concurrent posted writes to that many root complexes */
	double collapsed_gbps;          /* ... leave this for all writes together; 0: no collapse */
};

struct tf_links_pair {
	double latency_ns; /* of a flag, one way */
	double write_gbps, read_gbps;
	uint32_t peer; /* enum tf_link_capability (ladders/ladder.h); 0: staged through the host */
	uint8_t through[TF_LINKS_THROUGH_MAX]; /* resources */
	uint8_t through_count;
};

struct tf_links_device {
	double launch_ns;              /* a dependent kernel without content */
	double cta_ns;                 /* each CTA of a launch */
	double poll_ns;                /* from "it lies in my memory" to the end of the kernel */
	double cta_write_gbps;         /* stores of a CTA of 512 threads into a peer */
	double cta_local_gbps;         /* bytes that a CTA of 512 threads reads and writes at home */
	double memory_gbps;            /* ... of all CTAs together */
	uint32_t read_in_flight_bytes; /* of a thread: reads it has under way */
};

/* A rank that is not as the others are. */
struct tf_links_rank {
	double slow; /* factor of its own work; 1: as the others */
	double jitter_percent;
};

struct tf_links {
	char name[TF_NAME_BYTES];
	char topology[32];
	char summary[TF_LINKS_SUMMARY_BYTES];
	uint32_t world;
	double port_gbps; /* a rank's own connection, each direction */
	uint32_t root_complex[TF_WORLD_MAX];
	uint64_t seed;
	double jitter_percent;
	struct tf_links_device device;
	struct tf_links_resource resources[TF_LINKS_RESOURCES_MAX];
	uint32_t resource_count;
	struct tf_links_pair pairs[TF_WORLD_MAX][TF_WORLD_MAX]; /* from, to */
	struct tf_links_rank ranks[TF_WORLD_MAX];
	uint8_t digest[TF_DIGEST_BYTES]; /* SHA-256 of the text */
};

/*
 * Reads YAML text; `source` names it in messages, and the links are called like it, without folder
 * and ".yaml". TF_E_INVALID names source, line, field, what was found and what is allowed, also: a
 * pair that is missing, a pair or rank that is given twice, a resource that nobody named, a
 * collapse without its capacity. *out is set on success only.
 */
TF_WARN_UNUSED enum tf_status tf_links_parse(
	const char *text, size_t size, const char *source, struct tf_links *out, struct tf_error *err);
/*
 * `name` is a built-in's name, or a path if it contains '/' or ends in .yaml; TF_E_NOT_FOUND lists
 * the built-ins.
 */
TF_WARN_UNUSED enum tf_status tf_links_load(
	const char *name, struct tf_links *out, struct tf_error *err);

/* Another seed for the jitter: a number from 0 to TF_LINKS_SEED_MAX; else TF_E_USAGE. */
TF_WARN_UNUSED enum tf_status tf_links_reseed(
	struct tf_links *links, const char *number, struct tf_error *err);

/* What all pairs of the first `world` ranks offer: enum tf_link_capability bits. */
uint32_t tf_links_capabilities(const struct tf_links *links, uint32_t world);

#ifdef __cplusplus
}
#endif
#endif
