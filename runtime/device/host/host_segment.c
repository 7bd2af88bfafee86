/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A segment is a memfd whose size is sealed: a peer that holds the descriptor cannot shrink it
 * under us, so a mapping of a checked size never faults.
 */
#include "runtime/device/host/host_window.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U /* Linux 6.3; some systems refuse a memfd without it */
#endif

static int create_memfd(void)
{
	int fd = memfd_create("tf-segment", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL) /* an older kernel, which does not know the flag */
		fd = memfd_create("tf-segment", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return fd;
}

enum tf_status tf_host_segment_create(
	struct tf_device *device, uint64_t bytes, int *out_fd, struct tf_error *err)
{
	enum tf_status status;
	int fd;

	(void)device;
	if (!bytes || bytes % TF_HOST_GRANULARITY || bytes > TF_WINDOW_STRIDE_MAX)
		return TF_FAIL(err, TF_E_USAGE,
			"a segment of %llu bytes, not a multiple of %llu up to %llu", (unsigned long long)bytes,
			(unsigned long long)TF_HOST_GRANULARITY, (unsigned long long)TF_WINDOW_STRIDE_MAX);
	fd = create_memfd();
	if (fd < 0)
		return TF_FAIL_ERRNO(err, "cannot create a segment: memfd_create");
	if (ftruncate(fd, (off_t)bytes) < 0) {
		status =
			TF_FAIL_ERRNO(err, "cannot size a segment of %llu bytes", (unsigned long long)bytes);
		goto fail;
	}
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
		status =
			TF_FAIL_ERRNO(err, "cannot seal a segment of %llu bytes", (unsigned long long)bytes);
		goto fail;
	}
	*out_fd = fd;
	return TF_OK;
fail:
	close(fd);
	return status;
}
