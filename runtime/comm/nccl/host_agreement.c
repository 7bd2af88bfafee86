/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1. What fails on this rank alone (a socket, a descriptor, a file) becomes its answer "apart" and
 *    never an error: the operations of the link stay in step.
 * 2. Rank 0 reads its socket without waiting: whoever said that it sent has sent.
 */
#include "runtime/comm/nccl/host_agreement.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

struct finder {
	struct tf_link *link;
	uint32_t rank, world;
	struct tf_host_record records[TF_WORLD_MAX]; /* the own one too */
	int listener;                                /* rank 0 */
	int sent;                                    /* the connection; its memory lives with it */
	char why[128];                               /* the first reason to find the ranks apart */
};

static void find_apart(struct finder *finder, const char *why, uint32_t rank)
{
	if (!finder->why[0])
		snprintf(finder->why, sizeof(finder->why), "%s of rank %u", why, rank);
}

static socklen_t socket_name(const struct tf_host_record *record, struct sockaddr_un *out)
{
	static const char prefix[] = "tf-one-host-";
	char *name = out->sun_path + 1; /* behind a zero: an abstract name, of this network namespace */

	memset(out, 0, sizeof(*out));
	out->sun_family = AF_UNIX;
	memcpy(name, prefix, sizeof(prefix) - 1);
	tf_hex(record->word, sizeof(record->word), name + sizeof(prefix) - 1);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof(prefix) +
		2 * sizeof(record->word));
}

static int open_listener(const struct tf_host_record *mine, uint32_t world)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un name;
	socklen_t bytes = socket_name(mine, &name);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&name, bytes) == 0 && listen(fd, (int)world) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static void describe(struct finder *finder)
{
	struct tf_host_record *mine = &finder->records[finder->rank];
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	struct stat info;

	if (fd >= 0) {
		if (read(fd, mine->boot_id, 36) != 36)
			memset(mine->boot_id, 0, sizeof(mine->boot_id));
		close(fd);
	}
	if (stat("/proc/self/ns/net", &info) == 0) {
		mine->network_device = info.st_dev;
		mine->network_inode = info.st_ino;
	}
	if (getrandom(mine->word, sizeof(mine->word), 0) != (ssize_t)sizeof(mine->word))
		return;
	if (finder->rank == 0)
		finder->listener = open_listener(mine, finder->world);
	mine->listens = finder->listener >= 0;
}

static void compare(struct finder *finder)
{
	const struct tf_host_record *mine = &finder->records[finder->rank];

	if (!mine->boot_id[0] || !mine->network_inode)
		find_apart(finder, "unknown boot id or network", finder->rank);
	if (!finder->records[0].listens)
		find_apart(finder, "no socket", 0);
	for (uint32_t r = 0; r < finder->world; r++) {
		const struct tf_host_record *other = &finder->records[r];

		if (memcmp(other->boot_id, mine->boot_id, sizeof(mine->boot_id)) != 0)
			find_apart(finder, "another boot id", r);
		if (other->network_device != mine->network_device ||
			other->network_inode != mine->network_inode)
			find_apart(finder, "another network namespace", r);
	}
}

/* One byte, the rank, and room for one descriptor. */
struct passing {
	struct iovec part;
	struct msghdr message;
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control; /* last: the header's own data has no size */
};

static void passing_init(struct passing *passing, uint8_t *rank)
{
	*passing = (struct passing){.part = {rank, 1}};
	passing->message = (struct msghdr){.msg_iov = &passing->part,
		.msg_iovlen = 1,
		.msg_control = &passing->control,
		.msg_controllen = sizeof(passing->control)};
}

/* One message of one byte, the rank, with the descriptor. */
static int send_descriptor(int socket_fd, uint8_t rank, int fd)
{
	struct passing passing;
	struct cmsghdr *header;

	passing_init(&passing, &rank);
	header = CMSG_FIRSTHDR(&passing.message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	return sendmsg(socket_fd, &passing.message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

/* Step 2, of a rank that is not 0. Neither call waits for rank 0. */
static void send_word(struct finder *finder)
{
	const struct tf_host_record *mine = &finder->records[finder->rank];
	int memory = memfd_create("one-host", MFD_CLOEXEC);
	struct sockaddr_un name;
	socklen_t bytes = socket_name(&finder->records[0], &name);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && memory >= 0 &&
		write(memory, mine->word, sizeof(mine->word)) == (ssize_t)sizeof(mine->word) &&
		connect(fd, (struct sockaddr *)&name, bytes) == 0 &&
		send_descriptor(fd, (uint8_t)finder->rank, memory))
		finder->sent = fd;
	else if (fd >= 0)
		close(fd);
	if (memory >= 0)
		close(memory);
	if (finder->sent < 0)
		find_apart(finder, "no descriptor passed to the socket", 0);
}

/* The descriptor that came with a message, or -1, and the byte. */
static int take_descriptor(int socket_fd, uint8_t *out_rank)
{
	struct passing passing;
	struct cmsghdr *header;
	ssize_t got;
	int fd = -1;

	passing_init(&passing, out_rank);
	got = recvmsg(socket_fd, &passing.message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	header = got >= 0 ? CMSG_FIRSTHDR(&passing.message) : NULL;
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
		header->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	if (got == 1)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* The rank whose word lies in the memory that this connection brought, or `world`. */
static uint32_t take_word(const struct finder *finder, int socket_fd)
{
	uint8_t rank = 0, word[TF_HOST_WORD_BYTES];
	int memory = take_descriptor(socket_fd, &rank);
	uint32_t found = finder->world;

	if (memory < 0)
		return found;
	if (rank < finder->world && pread(memory, word, sizeof(word), 0) == (ssize_t)sizeof(word) &&
		memcmp(word, finder->records[rank].word, sizeof(word)) == 0)
		found = rank;
	close(memory);
	return found;
}

/* Rank 0: strangers may connect too, so only words count; no more connections than the backlog. */
static void take_words(struct finder *finder)
{
	uint8_t came[TF_WORLD_MAX + 1] = {0};

	for (uint32_t i = 0; i < 2 * finder->world && finder->listener >= 0; i++) {
		int fd = accept4(finder->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0)
			break;
		came[take_word(finder, fd)] = 1;
		close(fd);
	}
	for (uint32_t r = 1; r < finder->world; r++)
		if (!came[r])
			find_apart(finder, "no descriptor", r);
}

/* One byte each way. */
static enum tf_status say(struct finder *finder, const char *what, uint8_t mine,
	int64_t deadline_ns, int *out_all_one, struct tf_error *err)
{
	uint8_t all[TF_WORLD_MAX] = {0};

	TF_TRY(tf_link_exchange_fixed(finder->link, &mine, 1, all, deadline_ns, err));
	*out_all_one = 1;
	for (uint32_t r = 0; r < finder->world; r++) {
		if (all[r] != TF_HOST_ONE && all[r] != TF_HOST_APART)
			return TF_FAIL(err, TF_E_INVALID,
				"rank %u's %s is byte 0x%02x, not 0x%02x (one host) or 0x%02x (apart)", r, what,
				all[r], TF_HOST_ONE, TF_HOST_APART);
		if (all[r] == TF_HOST_APART) {
			*out_all_one = 0;
			find_apart(finder, what, r);
		}
	}
	return TF_OK;
}

static enum tf_status settle(
	struct finder *finder, int64_t deadline_ns, int *out_one_host, struct tf_error *err)
{
	struct tf_host_record mine;
	int all_sent = 0;

	describe(finder);
	mine = finder->records[finder->rank];
	TF_TRY(tf_link_exchange_fixed(
		finder->link, &mine, sizeof(mine), finder->records, deadline_ns, err));
	compare(finder);
	if (finder->rank && finder->records[0].listens)
		send_word(finder);
	TF_TRY(say(finder, "word that it sent a descriptor",
		!finder->rank || finder->sent >= 0 ? TF_HOST_ONE : TF_HOST_APART, deadline_ns, &all_sent,
		err));
	if (!finder->rank)
		take_words(finder);
	return say(finder, "answer about its host", finder->why[0] ? TF_HOST_APART : TF_HOST_ONE,
		deadline_ns, out_one_host, err);
}

enum tf_status tf_host_agreement(struct tf_link *link, int says_apart, int64_t deadline_ns,
	int *out_one_host, char *out_why, size_t why_bytes, struct tf_error *err)
{
	struct finder finder = {.link = link,
		.rank = tf_link_rank(link),
		.world = tf_link_world(link),
		.listener = -1,
		.sent = -1};
	enum tf_status status;
	int one_host = 0;

	if (says_apart)
		find_apart(&finder, "the wish", finder.rank);
	status = settle(&finder, deadline_ns, &one_host, err);
	if (finder.sent >= 0)
		close(finder.sent);
	if (finder.listener >= 0)
		close(finder.listener);
	if (status != TF_OK) {
		tf_error_prefix(err, "are the ranks on one host?");
		return status;
	}
	*out_one_host = one_host;
	if (out_why)
		snprintf(out_why, why_bytes, "%s", one_host ? "" : finder.why);
	return TF_OK;
}
