/* SPDX-License-Identifier: Apache-2.0 */
/* Test support: the rule of selection as it is, and others that it was measured against. */
#ifndef TF_TESTS_PREPARE_RULE_VARIANTS_H
#define TF_TESTS_PREPARE_RULE_VARIANTS_H

#include "tests/prepare/sample_model.h"

#ifdef __cplusplus
extern "C" {
#endif

enum rule_value {
	RULE_MEDIAN,
	RULE_MIDDLE, /* mean of the order statistics that bound the median */
	RULE_PAIRED, /* the same of the differences of two candidates, pass by pass */
};

struct rule_variant {
	const char *name;
	uint32_t calls;       /* a sample */
	uint32_t looks, kept; /* of stage 2: the mean of the `kept` shortest of a pass's `looks` */
	int pools;            /* instead: all samples of all looks in one row */
	enum rule_value value;
	double tie_percent, near_percent;
	uint32_t wins;   /* of 21 */
	uint32_t family; /* rungs a family, chosen first; 0: none */
	int is_shipped;  /* the functions of select.h; nothing else above matters */
};

const struct rule_variant *rule_variants(uint32_t *out_count); /* the first is the shipped one */

/* What the rule picks. `samples` were drawn with the variant's `calls`. */
uint32_t rule_variant_pick(
	const struct rule_variant *rule, const struct sample_set *samples, uint32_t rungs);

#ifdef __cplusplus
}
#endif
#endif
