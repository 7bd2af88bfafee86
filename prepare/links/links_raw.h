/* SPDX-License-Identifier: Apache-2.0 */
/* Internal: what libcyaml loads of a links file, numbers as texts. */
#ifndef TF_PREPARE_LINKS_LINKS_RAW_H
#define TF_PREPARE_LINKS_LINKS_RAW_H

#include <cyaml/cyaml.h>

#include "ladders/yaml_load.h"
#include "prepare/links/links.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_RAW_LINKS_NONE 8 /* `peer: [none]` */

struct tf_raw_links_device {
	char *launch, *cta, *poll, *cta_write, *cta_local, *memory, *read_in_flight;
};

struct tf_raw_links_jitter {
	char *seed, *percent;
};

struct tf_raw_links_resource {
	char *name, *capacity, *collapse_at, *collapsed;
};

struct tf_raw_links_link {
	char **from, **to, **through;
	uint32_t from_count, to_count, through_count;
	char *latency, *write, *read;
	uint32_t peer;
};

struct tf_raw_links_rank {
	char *rank, *slow, *jitter;
};

struct tf_raw_links {
	uint32_t topology;
	char *summary, *world, *port;
	char **root_complex;
	uint32_t root_complex_count;
	struct tf_raw_links_jitter jitter;
	struct tf_raw_links_device device;
	struct tf_raw_links_resource *resources;
	uint32_t resource_count;
	struct tf_raw_links_link *links;
	uint32_t link_count;
	struct tf_raw_links_rank *ranks;
	uint32_t rank_count;
};

/* By the number that the schema gives a topology. */
extern const cyaml_strval_t tf_raw_links_topologies[];
extern const struct tf_yaml_hint tf_raw_links_hints[];
extern const cyaml_schema_value_t tf_raw_links_schema; /* of a struct tf_raw_links * */

#ifdef __cplusplus
}
#endif
#endif
