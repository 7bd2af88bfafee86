/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors of segments all look alike to fstat. The kernel is asked whether two are one (Linux
 * 6.10, or kcmp where it is allowed); where it cannot tell, the second is taken at its word.
 */
#include "runtime/device/cuda/cuda_descriptor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef F_DUPFD_QUERY
#define F_DUPFD_QUERY 1027 /* Linux 6.10 */
#endif
#define KCMP_FILE_TYPE 0 /* KCMP_FILE of linux/kcmp.h */

/* What certainly comes from no driver is refused before the driver has to look at it. */
enum tf_status tf_cuda_descriptor_check(int fd, struct tf_error *err)
{
	struct stat stat;

	if (fstat(fd, &stat) < 0)
		return TF_FAIL_ERRNO(err, "cannot look at descriptor %d", fd);
	if (S_ISREG(stat.st_mode) || S_ISDIR(stat.st_mode) || S_ISSOCK(stat.st_mode) ||
		S_ISFIFO(stat.st_mode) || S_ISBLK(stat.st_mode))
		return TF_FAIL(err, TF_E_MISFIT, "descriptor %d is no memory of a CUDA device", fd);
	return TF_OK;
}

int tf_cuda_descriptor_is_same(int one, int other)
{
	int same = fcntl(one, F_DUPFD_QUERY, other);
	long order;

	if (same >= 0)
		return same;
	order = syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE_TYPE, one, other);
	return order <= 0;
}
