/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzing the package reader with two kinds of input: a file as it is; or, behind the byte 'R',
 * ranges of raw tar bytes (a count of blocks, then the blocks), which are framed and sealed
 * rightly, so that what lies behind the checksums is reached too.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <sodium.h>

#include "packages/frame_write.h"
#include "packages/tar_member.h"
#include "tests/packages/package_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void push_ranges(struct tf_zframe_writer *writer, const uint8_t *data, size_t bytes)
{
	while (bytes > TF_TAR_BLOCK_BYTES) {
		size_t blocks = data[0] % 8 + 1u;
		size_t size = blocks * TF_TAR_BLOCK_BYTES;

		data++;
		bytes--;
		size = size < bytes ? size : bytes / TF_TAR_BLOCK_BYTES * TF_TAR_BLOCK_BYTES;
		tf_zframe_writer_begin(writer, size, 0);
		if (tf_zframe_writer_push(writer, data, size, NULL) != TF_OK)
			return;
		data += size;
		bytes -= size;
	}
}

static void read_sealed(const uint8_t *data, size_t bytes)
{
	struct tf_temporary file = TF_TEMPORARY_NONE;
	struct tf_zframe_writer writer = {0};
	void *map = MAP_FAILED;

	file.fd = memfd_create("sealed", MFD_CLOEXEC);
	if (file.fd >= 0 && tf_zframe_writer_init(&writer, &file, NULL) == TF_OK) {
		push_ranges(&writer, data, bytes);
		if (tf_zframe_writer_finish(&writer, NULL) == TF_OK)
			map = mmap(NULL, writer.file_bytes, PROT_READ, MAP_SHARED, file.fd, 0);
	}
	if (map != MAP_FAILED) {
		(void)!fixture_read_all(map, writer.file_bytes, NULL, NULL);
		munmap(map, writer.file_bytes);
	}
	tf_zframe_writer_fini(&writer);
	if (file.fd >= 0)
		close(file.fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	if (bytes > 0 && data[0] == 'R')
		read_sealed(data + 1, bytes - 1);
	else
		(void)!fixture_read_all(data, bytes, NULL, NULL);
	return 0;
}
