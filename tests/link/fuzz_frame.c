/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: bytes of a peer, at every place that reads them. With libFuzzer when it is built
 * for that; otherwise main replays the files of the folders it is given.
 */
#include "runtime/link/hello.h"
#include "runtime/link/star.h"
#include "runtime/link/stream.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define INPUT_MAX (64 * 1024) /* fits a socket's buffer, so nothing waits */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "fuzz_frame: %s\n", what);
	abort();
}

static void feed_pure_functions(const uint8_t *data, size_t size)
{
	uint8_t again[TF_FRAME_HEADER_BYTES];
	struct tf_frame frame;
	struct tf_hello hello;
	struct tf_error note;

	if (size >= TF_FRAME_HEADER_BYTES && tf_frame_decode(data, &frame, NULL) == TF_OK) {
		tf_frame_encode(&frame, again);
		must(memcmp(again, data, sizeof(again)) == 0,
			"a header that was accepted encodes to other bytes");
	}
	if (tf_hello_parse(data, size, &hello, NULL) == TF_OK)
		must(strlen(hello.group) <= TF_LINK_GROUP_MAX, "a group's name has no end");
	if (tf_frame_note_decode(data, size, &note, NULL) == TF_OK)
		must(note.status != TF_OK && note.status < TF_STATUS_COUNT, "a note has no status");
}

/*
 * The bytes come from `raw`, the link under test is `rank`'s; it does one operation after the
 * other.
 */
static void feed_link(const uint8_t *data, size_t size, uint32_t rank)
{
	struct tf_link_ends ends;
	struct tf_link *link;
	struct tf_bytes records[2] = {0};
	int fds[2] = {-1, -1};
	int raw;

	must(tf_link_create_pairs(2, &ends, NULL) == TF_OK, "no socket pair");
	must(tf_link_attach(&ends, rank, &link, NULL) == TF_OK, "no link");
	raw = rank == 0 ? ends.peer_fds[1] : ends.root_fds[1];
	if (size && send(raw, data, size, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		must(0, "the input does not fit the socket");
	shutdown(raw, SHUT_WR);
	if (size % 2 && tf_link_poll_departed(link, NULL) != TF_OK)
		goto out;
	if (tf_link_exchange(link, "x", 1, records, TF_DEADLINE_NEVER, NULL) != TF_OK)
		goto out;
	if (tf_link_exchange_fds(link, -1, fds, TF_DEADLINE_NEVER, NULL) != TF_OK)
		goto out;
	must(tf_link_barrier(link, TF_DEADLINE_NEVER, NULL) != TF_OK || size >= 96,
		"a barrier out of nothing");
out:
	for (int i = 0; i < 2; i++)
		tf_bytes_fini(&records[i]);
	tf_link_close(link);
	tf_link_ends_fini(&ends);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > INPUT_MAX)
		return 0;
	feed_pure_functions(data, size);
	feed_link(data, size, 0);
	feed_link(data, size, 1);
	return 0;
}

#ifndef TF_LIBFUZZER
static int replay(const char *folder, const char *name)
{
	static uint8_t data[INPUT_MAX];
	char path[4096];
	size_t size;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "rb");
	if (!file)
		return -1;
	size = fread(data, 1, sizeof(data), file);
	fclose(file);
	return LLVMFuzzerTestOneInput(data, size);
}

int main(int argc, char **argv)
{
	unsigned count = 0;

	for (int i = 1; i < argc; i++) {
		DIR *folder = opendir(argv[i]);
		struct dirent *entry;

		while (folder && (entry = readdir(folder)))
			if (entry->d_name[0] != '.' && replay(argv[i], entry->d_name) == 0)
				count++;
		if (folder)
			closedir(folder);
	}
	printf("%u inputs\n", count);
	return count ? 0 : 1; /* an empty corpus is a mistake */
}
#endif
