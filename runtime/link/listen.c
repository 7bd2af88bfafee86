/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rank 0's side of the rendezvous.
 *
 *   accepted -> guest, no hello --hello fits, no secret--> peer of the link
 *                  |                                          ^
 *                  +--hello, secret: challenge--> guest --proof holds
 *   any guest --does not fit, bad frame--> refused by name, closed
 *   any guest --closes, or is the oldest of too many--> closed
 *
 * 1. A guest is a stranger: nothing it does ends the rendezvous, and silence costs one place at
 *    most.
 * 2. A peer is one of the group: its departure, bad frame or fault ends it for all.
 */
#include "runtime/link/rendezvous.h"
#include "base/deadline.h"
#include "runtime/link/hello.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define GUESTS_MAX 16 /* the largest group twice; the oldest makes room */
#define BACKLOG    32

struct guest {
	int fd;
	int is_challenged;
	struct tf_frame_reader in;
	struct tf_hello hello;
	uint8_t nonce[TF_HELLO_NONCE_BYTES]; /* rank 0's */
};

struct hall {
	const struct tf_link_options *options;
	struct tf_link *link;
	int listener;
	const char *path; /* of the socket's file, NULL if there is none */
	unsigned count;
	struct guest guests[GUESTS_MAX];       /* by age */
	char refused[TF_ERROR_TEXT_BYTES / 2]; /* the last refusal's text */
};

/* A socket's file of ours that nobody listens to any more. */
static int is_stale(const struct tf_address *address)
{
	struct stat st;
	int fd, failed;

	if (address->is_tcp || address->host[0] == '@' || lstat(address->host, &st) != 0)
		return 0;
	if (!S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
		return 0;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return 0;
	failed = connect(fd, (const struct sockaddr *)&address->choices[0], address->bytes[0]);
	failed = failed && errno == ECONNREFUSED;
	close(fd);
	return failed;
}

static int bind_and_listen(int fd, const struct tf_address *address, unsigned choice)
{
	const struct sockaddr *to = (const struct sockaddr *)&address->choices[choice];
	int one = 1;

	if (address->is_tcp)
		(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, to, address->bytes[choice]) != 0)
		return -1;
	/* Nobody can connect before listen, so the file is never open to others. */
	if (!address->is_tcp && address->host[0] != '@' && chmod(address->host, 0600) != 0)
		return -1;
	return listen(fd, BACKLOG);
}

static enum tf_status open_listener(
	struct hall *hall, const struct tf_address *address, struct tf_error *err)
{
	if (is_stale(address))
		(void)unlink(address->host);
	errno = EADDRNOTAVAIL;
	for (unsigned i = 0; i < address->count; i++) {
		int fd =
			socket(address->choices[i].ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		int cause;

		if (fd < 0)
			continue;
		if (bind_and_listen(fd, address, i) == 0) {
			hall->listener = fd;
			if (!address->is_tcp && address->host[0] != '@')
				hall->path = address->host;
			return TF_OK;
		}
		cause = errno;
		close(fd);
		errno = cause;
	}
	return TF_FAIL_ERRNO(err, "cannot listen at '%s'", hall->options->address);
}

static void drop_guest(struct hall *hall, unsigned i)
{
	struct guest *guest = &hall->guests[i];

	if (guest->fd >= 0)
		close(guest->fd);
	tf_frame_reader_fini(&guest->in);
	hall->count--;
	memmove(guest, guest + 1, (hall->count - i) * sizeof(*guest));
}

/* Small frames to a fresh socket: they fit, or the guest is no good. 0 if it did not. */
static int say(struct guest *guest, uint16_t type, const void *payload, size_t bytes)
{
	struct tf_frame frame = {.type = type, .length = (uint32_t)bytes};
	struct tf_frame_writer writer;

	tf_frame_writer_begin(&writer, &frame, payload, NULL);
	return tf_frame_writer_step(&writer, guest->fd, NULL) == TF_OK &&
		tf_frame_writer_is_done(&writer);
}

static void refuse(struct hall *hall, unsigned i, const struct tf_error *why)
{
	uint8_t payload[TF_FRAME_NOTE_MAX];
	size_t bytes = tf_frame_note_encode(why->status, why->text, payload);

	(void)say(&hall->guests[i], TF_FRAME_REFUSE, payload, bytes);
	snprintf(
		hall->refused, sizeof(hall->refused), "%.*s", (int)sizeof(hall->refused) - 1, why->text);
	drop_guest(hall, i);
}

/* The guest becomes a peer. */
static void take_in(struct hall *hall, unsigned i)
{
	struct guest *guest = &hall->guests[i];
	struct tf_error why;
	uint8_t proof[TF_HELLO_PROOF_BYTES];
	size_t bytes = 0;

	if (tf_hello_check(hall->options, &guest->hello, &why) != TF_OK) {
		refuse(hall, i, &why);
		return;
	}
	if (hall->link->peers[guest->hello.rank].fd >= 0) {
		TF_FAIL(
			&why, TF_E_MISFIT, "rank %u is taken, another process came first", guest->hello.rank);
		refuse(hall, i, &why);
		return;
	}
	if (hall->options->secret) {
		tf_hello_prove(hall->options, TF_HELLO_ROOT, &guest->hello, guest->nonce, proof);
		bytes = sizeof(proof);
	}
	if (say(guest, TF_FRAME_ACCEPT, proof, bytes)) {
		tf_star_connect(hall->link, guest->hello.rank, guest->fd);
		guest->fd = -1;
	}
	drop_guest(hall, i);
}

static void hear_hello(struct hall *hall, unsigned i)
{
	struct guest *guest = &hall->guests[i];
	const struct tf_bytes *said = &guest->in.payload;
	struct tf_error why;

	if (tf_frame_expect(&guest->in.frame, TF_FRAME_HELLO, 0, &why) != TF_OK ||
		tf_hello_parse(said->data, said->size, &guest->hello, &why) != TF_OK) {
		refuse(hall, i, &why);
		return;
	}
	/* With a secret, whether the rest fits is told only to those who know it. */
	if (!hall->options->secret || !guest->hello.has_secret) {
		take_in(hall, i);
		return;
	}
	tf_hello_nonce(guest->nonce);
	guest->is_challenged = 1;
	tf_frame_reader_reset(&guest->in);
	if (!say(guest, TF_FRAME_CHALLENGE, guest->nonce, sizeof(guest->nonce)))
		drop_guest(hall, i);
}

static void hear_proof(struct hall *hall, unsigned i)
{
	struct guest *guest = &hall->guests[i];
	const struct tf_bytes *said = &guest->in.payload;
	struct tf_error why;

	if (tf_frame_expect(&guest->in.frame, TF_FRAME_PROOF, 0, &why) != TF_OK) {
		refuse(hall, i, &why);
	} else if (!tf_hello_is_proven(hall->options, TF_HELLO_RANK, &guest->hello, guest->nonce,
				   said->data, said->size)) {
		TF_FAIL(&why, TF_E_MISFIT, "shared secret of a peer that calls itself rank %u is not ours",
			guest->hello.rank);
		refuse(hall, i, &why);
	} else {
		take_in(hall, i);
	}
}

static void hear_guest(struct hall *hall, unsigned i)
{
	struct guest *guest = &hall->guests[i];
	struct tf_error why;
	enum tf_status status;
	int complete = 0;

	status = tf_frame_reader_step(&guest->in, guest->fd, &complete, &why);
	if (status == TF_OK && complete && guest->in.frame.fd_count)
		status =
			TF_FAIL(&why, TF_E_INVALID, "frame '%s' carries file descriptors, none belong there",
				tf_frame_type_name(guest->in.frame.type));
	if (status == TF_E_DISCONNECTED)
		drop_guest(hall, i);
	else if (status != TF_OK)
		refuse(hall, i, &why);
	else if (complete && guest->is_challenged)
		hear_proof(hall, i);
	else if (complete)
		hear_hello(hall, i);
}

static enum tf_status let_in(struct hall *hall, struct tf_error *err)
{
	struct guest *guest;
	struct tf_error why;
	int fd = accept4(hall->listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS))
		return TF_FAIL_ERRNO(err, "cannot accept a peer at '%s'", hall->options->address);
	if (fd < 0)
		return TF_OK; /* it left again before it was let in */
	if (hall->count == GUESTS_MAX)
		drop_guest(hall, 0);
	guest = &hall->guests[hall->count++];
	*guest = (struct guest){.fd = fd, .in.payload_max = TF_HELLO_BYTES_MAX};
	if (!hall->link->local)
		tf_rendezvous_tune_tcp(fd);
	else if (tf_hello_check_user(fd, &why) != TF_OK)
		refuse(hall, hall->count - 1, &why);
	return TF_OK;
}

static uint32_t missing_ranks(const struct tf_link *link)
{
	uint32_t missing = 0;

	for (uint32_t r = 1; r < link->world; r++)
		if (link->peers[r].fd < 0)
			missing |= UINT32_C(1) << r;
	return missing;
}

static enum tf_status never_came(struct hall *hall, struct tf_error *err)
{
	char list[TF_STAR_LIST_BYTES];
	struct tf_error fault;

	TF_FAIL(&fault, TF_E_TIMEOUT, "rendezvous at '%s' timed out: %s never came%s%s",
		hall->options->address, tf_star_rank_list(missing_ranks(hall->link), list, sizeof(list)),
		hall->refused[0] ? "; refused meanwhile: " : "", hall->refused);
	return tf_star_fail(hall->link, &fault, TF_STAR_COMMON, 0, err);
}

/*
 * One turn: waits for the listener, the guests and the peers, and hears whoever has something to
 * say.
 */
static enum tf_status turn(struct hall *hall, int64_t give_up, struct tf_error *err)
{
	struct pollfd watch[1 + TF_WORLD_MAX + GUESTS_MAX] = {{.fd = hall->listener, .events = POLLIN}};
	struct pollfd *guests = watch + 1 + TF_WORLD_MAX;
	unsigned count = hall->count;
	struct tf_error own;
	int ready;

	for (uint32_t r = 0; r < TF_WORLD_MAX; r++)
		watch[1 + r] = (struct pollfd){.fd = hall->link->peers[r].fd, .events = POLLIN};
	for (unsigned i = 0; i < count; i++)
		guests[i] = (struct pollfd){.fd = hall->guests[i].fd, .events = POLLIN};
	ready = poll(watch, 1 + TF_WORLD_MAX + count, tf_deadline_poll_ms(give_up));
	if (ready < 0 && errno != EINTR) {
		TF_FAIL_ERRNO(&own, "cannot wait for the other ranks");
		return tf_star_fail(hall->link, &own, TF_STAR_OWN, 0, err);
	}
	for (uint32_t r = 0; ready > 0 && r < TF_WORLD_MAX; r++)
		if (watch[1 + r].revents)
			TF_TRY(tf_star_pump(hall->link, r, err));
	/* From the youngest on: hearing one may remove it, letting one in may remove the oldest. */
	for (unsigned i = count; ready > 0 && i-- > 0;)
		if (guests[i].revents)
			hear_guest(hall, i);
	if (ready > 0 && watch[0].revents && let_in(hall, &own) != TF_OK)
		return tf_star_fail(hall->link, &own, TF_STAR_OWN, 0, err);
	return TF_OK;
}

static enum tf_status welcome_all(struct hall *hall, struct tf_error *err)
{
	for (uint32_t r = 1; r < hall->link->world; r++)
		tf_star_answer(hall->link, r, TF_FRAME_WELCOME, NULL, 0, NULL, 0);
	return tf_star_flush(hall->link, TF_FRAME_WELCOME, hall->options->deadline_ns, err);
}

enum tf_status tf_rendezvous_listen(const struct tf_link_options *options,
	const struct tf_address *address, struct tf_link *link, struct tf_error *err)
{
	struct hall hall = {.options = options, .link = link, .listener = -1};
	int64_t give_up = tf_star_give_up_ns(options->deadline_ns);
	enum tf_status status = open_listener(&hall, address, err);

	while (status == TF_OK && missing_ranks(link)) {
		status = turn(&hall, give_up, err);
		/* Strangers may keep the sockets busy for ever. */
		if (status == TF_OK && missing_ranks(link) && tf_deadline_passed(give_up))
			status = never_came(&hall, err);
	}
	if (status == TF_OK)
		status = welcome_all(&hall, err);
	while (hall.count)
		drop_guest(&hall, hall.count - 1);
	if (hall.path)
		(void)unlink(hall.path);
	if (hall.listener >= 0)
		close(hall.listener);
	return status;
}
