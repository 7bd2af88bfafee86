/* SPDX-License-Identifier: Apache-2.0 */
/* Finding what MPI's side needs before anything is measured. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "prepare/bench/mpi_round.h"

#define HELPER "tfprep-mpi-bench"

#ifndef TF_LIBEXEC_FROM_BIN
#error "TF_LIBEXEC_FROM_BIN is set by the build"
#endif

static int is_program(const char *path)
{
	return path && !access(path, X_OK);
}

static enum tf_status own_folder(char out[PATH_MAX], struct tf_error *err)
{
	ssize_t bytes = readlink("/proc/self/exe", out, PATH_MAX - 1);

	if (bytes < 0)
		return TF_FAIL_ERRNO(err, "cannot tell where tfprep itself is");
	out[bytes] = '\0';
	*strrchr(out, '/') = '\0';
	return TF_OK;
}

static enum tf_status find_helper(struct tf_mpi_tools *tools, struct tf_error *err)
{
	char folder[PATH_MAX];

	TF_TRY(own_folder(folder, err));
	tools->helper = tf_asprintf("%s/%s", folder, HELPER);
	if (is_program(tools->helper))
		return TF_OK;
	tf_free(tools->helper);
	tools->helper = tf_asprintf("%s/%s/%s", folder, TF_LIBEXEC_FROM_BIN, HELPER);
	if (is_program(tools->helper))
		return TF_OK;
	return TF_FAIL(err, TF_E_UNAVAILABLE,
		"'%s' is missing: it is neither in '%s' nor in '%s/%s'; it is built where MPI was found",
		HELPER, folder, folder, TF_LIBEXEC_FROM_BIN);
}

static enum tf_status find_runner(struct tf_mpi_tools *tools, struct tf_error *err)
{
	const char *list = getenv("PATH");

	while (list && *list) {
		size_t length = strcspn(list, ":");

		tools->runner = tf_asprintf("%.*s/mpirun", (int)length, list);
		if (length && is_program(tools->runner))
			return TF_OK;
		tf_free(tools->runner);
		tools->runner = NULL;
		list += length + (list[length] == ':');
	}
	return TF_FAIL(err, TF_E_UNAVAILABLE, "'mpirun' is missing: it is in no folder of PATH");
}

enum tf_status tf_mpi_tools_find(struct tf_mpi_tools *tools, struct tf_error *err)
{
	TF_TRY(find_helper(tools, err));
	return find_runner(tools, err);
}

void tf_mpi_tools_fini(struct tf_mpi_tools *tools)
{
	tf_free(tools->helper);
	tf_free(tools->runner);
	memset(tools, 0, sizeof(*tools));
}
