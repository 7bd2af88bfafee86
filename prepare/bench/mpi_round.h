/* SPDX-License-Identifier: Apache-2.0 */
/* MPI's side of one round: `mpirun tfprep-mpi-bench`, bounded in time. */
#ifndef TF_PREPARE_BENCH_MPI_ROUND_H
#define TF_PREPARE_BENCH_MPI_ROUND_H

#include "prepare/bench/bench.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the helper is and what runs it. */
struct tf_mpi_tools {
	char *helper; /* path of tfprep-mpi-bench */
	char *runner; /* path of mpirun */
};

/*
 * Looks for the helper beside this program and in its libexec folder, and for 'mpirun' in PATH.
 * TF_E_UNAVAILABLE says which is missing and where it was looked for. `tools` is finied by the
 * caller in any case.
 */
TF_WARN_UNUSED enum tf_status tf_mpi_tools_find(struct tf_mpi_tools *tools, struct tf_error *err);
void tf_mpi_tools_fini(struct tf_mpi_tools *tools);

/*
 * Measures all cases into round `round` of result->times[TF_SIDE_MPI], and fills
 * result->mpi_library.
 * TF_E_SYSTEM: it did not start or failed, with its last line on stderr; TF_E_INVALID: an answer
 * that does not belong to what was asked; TF_E_TIMEOUT; TF_E_ABORTED. No process is left behind.
 */
TF_WARN_UNUSED enum tf_status tf_mpi_round(const struct tf_mpi_tools *tools,
	const struct tf_bench_options *options, struct tf_bench_result *result, uint32_t round,
	struct tf_error *err);

#ifdef __cplusplus
}
#endif
#endif
