/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A YAML text as a flat tree of nodes with their lines. It is what messages are made from: libcyaml
 * checks and loads the values, and whoever finds a fault, there or later, names it by path
 * ("rungs[3].writer") and gets the line from here.
 *
 * Accepted is the plain part of YAML only: one document, no anchors, aliases or tags, keys that are
 * texts and unique, bounded depth and counts. So a small file cannot unfold into a large one.
 */
#ifndef TF_LADDERS_YAML_TREE_H
#define TF_LADDERS_YAML_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_YAML_BYTES_MAX   (1u << 20) /* 4096 groups written out are 0.7 MiB */
#define TF_YAML_NODES_MAX   (1u << 17) /* 4096 groups of 8 fields and 16 capacities are 100,000 */
#define TF_YAML_DEPTH_MAX   8          /* the deepest format here has 4 */
#define TF_YAML_KEYS_MAX    32         /* keys a mapping; the largest mapping here has 11 */
#define TF_YAML_KEY_BYTES   64         /* a longer key is a misplaced text */
#define TF_YAML_PATH_BYTES  192        /* a path of TF_YAML_DEPTH_MAX short keys and indices */
#define TF_YAML_FOUND_BYTES 64         /* of a value repeated in a message */

enum tf_yaml_kind { TF_YAML_SCALAR = 0, TF_YAML_LIST, TF_YAML_MAPPING };

/* Nodes lie in the order of the text: a node's children are within [its index + 1, end). */
struct tf_yaml_node {
	enum tf_yaml_kind kind;
	uint32_t line;      /* from 1; of the key in a mapping, of the value elsewhere */
	uint32_t end;       /* one past the last node inside */
	uint32_t key_off;   /* in `text`; "" where the parent is no mapping */
	uint32_t value_off; /* in `text`; "" unless a scalar */
};

/*
 * What a key's value may be, in words: {"threads", "a multiple of 32 from 32 to 1024"}; "KEY[]" is
 * for its entries.
 */
struct tf_yaml_hint {
	const char *key;
	const char *allowed;
};

/* {0} is empty. */
struct tf_yaml {
	const char *source;               /* names the text in messages; borrowed */
	const struct tf_yaml_hint *hints; /* ends with a NULL key; borrowed; may be NULL */
	struct tf_yaml_node *nodes;       /* nodes[0] is the root */
	uint32_t node_count, node_capacity;
	struct tf_bytes text; /* keys and values, each with its end */
};

/*
 * Reads `text` (NULL only if size is 0), borrowed for the call; `source` and `hints` are borrowed
 * for the life of the tree. TF_E_INVALID: not YAML, empty, more than one document, or beyond what
 * is accepted; names source and line. TF_E_NO_MEMORY. *out is to be freed with tf_yaml_fini.
 */
TF_WARN_UNUSED enum tf_status tf_yaml_scan(const char *text, size_t size, const char *source,
	const struct tf_yaml_hint *hints, struct tf_yaml *out, struct tf_error *err);

void tf_yaml_fini(struct tf_yaml *yaml);

/*
 * The node at `path` ("" is the root), or the deepest one on the way to it; *out_exact (may be
 * NULL) says which.
 */
const struct tf_yaml_node *tf_yaml_find(
	const struct tf_yaml *yaml, const char *path, int *out_exact);

/* Children in order: first (NULL if none), next (NULL after the last), and how many there are. */
const struct tf_yaml_node *tf_yaml_first(
	const struct tf_yaml *yaml, const struct tf_yaml_node *parent);
const struct tf_yaml_node *tf_yaml_next(const struct tf_yaml *yaml,
	const struct tf_yaml_node *parent, const struct tf_yaml_node *child);
uint32_t tf_yaml_child_count(const struct tf_yaml *yaml, const struct tf_yaml_node *parent);

const char *tf_yaml_key(const struct tf_yaml *yaml, const struct tf_yaml_node *node);
const char *tf_yaml_value(const struct tf_yaml *yaml, const struct tf_yaml_node *node);

/*
 * The hint for a path, or NULL: "rungs[3].world[0]" has that of "world[]", "rungs[3].world" that of
 * "world".
 */
const char *tf_yaml_hint_of(const struct tf_yaml *yaml, const char *path);

/*
 * A fault at `path`: sets `err` to "SOURCE:LINE: PATH: TEXT" (without PATH for the root) and
 * returns TF_E_INVALID.
 */
enum tf_status tf_yaml_fail(const struct tf_yaml *yaml, struct tf_error *err, const char *path,
	const char *fmt, ...) TF_PRINTF(4, 5);

/*
 * A value that is not allowed: "SOURCE:LINE: PATH: found 'VALUE', allowed: ALLOWED"; NULL: the hint
 * of the path's last key.
 */
enum tf_status tf_yaml_fail_value(
	const struct tf_yaml *yaml, struct tf_error *err, const char *path, const char *allowed);

#ifdef __cplusplus
}
#endif
#endif
