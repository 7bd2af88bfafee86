/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What became of each group's pick on this machine: pure functions of packaged and fresh samples.
 */
#ifndef TF_RUNTIME_SERVE_DRIFT_COMPARE_H
#define TF_RUNTIME_SERVE_DRIFT_COMPARE_H

#include <stdint.h>

#include "catalog/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The pick's time against the packaged one. */
enum tf_drift_change {
	TF_DRIFT_UNKNOWN = 0, /* one of them is missing, or they are of two clocks */
	TF_DRIFT_ALIKE,       /* the intervals overlap, or the medians differ by a tie at most */
	TF_DRIFT_SLOWER,
	TF_DRIFT_FASTER,
};

struct tf_drift_row {
	uint32_t picked; /* the group's selector: a candidate of the program */
	uint32_t winner; /* another candidate that beats it now (tf_select_beats), or TF_PROGRAM_NONE */
	int64_t packaged_ns;  /* median of the first stage, as packaged; -1: none was packaged */
	uint64_t measured_ns; /* median now; TF_NS_NONE: no full set of samples */
	uint64_t winner_ns;   /* its median; 0 without one */
	double ratio;         /* measured over packaged; 0 where they are not to be compared */
	int64_t packaged_low_ns, packaged_high_ns;  /* its interval; -1 without packaged_ns */
	uint64_t measured_low_ns, measured_high_ns; /* TF_NS_NONE without measured_ns */
	enum tf_drift_change change;
};

/*
 * The clock of the packaged samples (identity "samples.clock") where it is not `clock`, that of the
 * samples taken here; else NULL. A rank's time on its CPU is no measure of the time of day.
 */
const char *tf_drift_other_clock(const struct tf_program *program, const char *clock);

/*
 * `samples` is (candidate_count, TF_PASSES) as tf_session_drift leaves it, taken by `clock`
 * (tf_host_sample_clock; packages for GPUs name none). Stage 1 is compared with stage 1: both
 * sampled every candidate. Of several winners the one with the lowest median is named.
 */
void tf_drift_compare(const struct tf_program *program, const uint64_t *samples, const char *clock,
	uint32_t group, struct tf_drift_row *out);

/* "unknown", "alike", "slower", "faster". */
const char *tf_drift_change_name(enum tf_drift_change change);

#ifdef __cplusplus
}
#endif
#endif
