/* SPDX-License-Identifier: Apache-2.0 */
/* pread until everything came, an error did, or the file ended. */
#include "packages/read_at.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

enum tf_status tf_read_at(int fd, void *to, size_t bytes, uint64_t off, struct tf_error *err)
{
	uint8_t *at = to;
	size_t got = 0;

	while (got < bytes) {
		ssize_t n = pread(fd, at + got, bytes - got, (off_t)(off + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return TF_FAIL_ERRNO(
				err, "cannot read %zu bytes at byte %" PRIu64, bytes - got, off + got);
		if (n == 0)
			return TF_FAIL(err, TF_E_DAMAGED,
				"%zu bytes at byte %" PRIu64 " lie beyond the end of the file", bytes - got,
				off + got);
		got += (size_t)n;
	}
	return TF_OK;
}
