/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How two programs differ: identity, groups, picks. For each pick that changed, each program's own
 * samples are asked whether they tell the two candidates apart, by the rule that selected them.
 */
#ifndef TF_PREPARE_PACKAGE_DIFF_H
#define TF_PREPARE_PACKAGE_DIFF_H

#include "catalog/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What one program's samples say about its pick and the other program's pick. */
enum tf_diff_verdict {
	TF_DIFF_TIE = 0,   /* neither beats the other: another run may pick either */
	TF_DIFF_JUSTIFIED, /* its pick beats the other */
	TF_DIFF_BEATEN,    /* the other beats its pick: its selection rested on something else */
	TF_DIFF_ABSENT,    /* the other pick is not on its ladder */
	TF_DIFF_STRUCK,    /* the other pick was struck out in its verification */
	TF_DIFF_UNSAMPLED, /* no stage has samples of both */
	TF_DIFF_VERDICT_COUNT
};

/* What both verdicts together mean. */
enum tf_diff_outcome {
	TF_DIFF_OUTCOME_TIE = 0,   /* neither side's samples ask for its pick */
	TF_DIFF_OUTCOME_ONE_SIDED, /* one side's do */
	TF_DIFF_OUTCOME_JUSTIFIED, /* both sides' do: the machines or ladders really differ */
	TF_DIFF_OUTCOME_COUNT
};

struct tf_diff_side {
	uint32_t pick;  /* index into the side's own candidates */
	uint32_t other; /* the other side's pick among them, or TF_PROGRAM_NONE */
	int stage;      /* whose samples were asked: 0, 1; -1 none */
	enum tf_diff_verdict verdict;
};

struct tf_diff_pick {
	uint32_t group[2];
	struct tf_diff_side side[2];
	enum tf_diff_outcome outcome;
};

struct tf_diff_identity {
	const char *key;      /* borrowed from a program */
	const char *value[2]; /* borrowed; NULL where the side lacks the key */
};

struct tf_package_diff {
	struct tf_diff_identity *identity;
	uint32_t identity_count;
	uint32_t *only[2]; /* groups that only this side has */
	uint32_t only_count[2];
	struct tf_diff_pick *picks; /* those that changed */
	uint32_t pick_count;
	uint32_t common_count; /* groups that both have */
	uint32_t outcome_count[TF_DIFF_OUTCOME_COUNT];
};

/*
 * Groups are the same if name, capacity, op, dtype and row elements are. Both programs are
 * borrowed and must outlive `diff`, which is {0} before and finied in any case. Needs their
 * samples. TF_E_NO_MEMORY.
 */
TF_WARN_UNUSED enum tf_status tf_package_diff(const struct tf_program *a,
	const struct tf_program *b, struct tf_package_diff *diff, struct tf_error *err);
void tf_package_diff_fini(struct tf_package_diff *diff);

/* "tie", "justified", ...: as the JSON has them. */
const char *tf_diff_verdict_name(enum tf_diff_verdict verdict);
const char *tf_diff_outcome_name(enum tf_diff_outcome outcome);

#ifdef __cplusplus
}
#endif
#endif
