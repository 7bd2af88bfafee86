/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other ranks' side of the rendezvous. Until rank 0 accepted, everything that may pass by
 * itself (nobody listens yet, the connection was dropped) is tried again until the deadline; a
 * refusal or a stranger at the address is final.
 */
#include "runtime/link/rendezvous.h"
#include "base/deadline.h"
#include "runtime/link/hello.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define NAP_FIRST_NS (5 * TF_NS_PER_MS)
#define NAP_MAX_NS   (100 * TF_NS_PER_MS) /* a rank joins at most this long after rank 0 listens */
/* for one TCP connection: a lost first packet is sent again after 1 s */
#define ATTEMPT_NS (3 * TF_NS_PER_S)

struct attempt {
	const struct tf_link_options *options;
	struct tf_hello hello;
	int fd;
	struct tf_frame_reader in;
};

static int may_pass(int cause)
{
	return cause == ECONNREFUSED || cause == ENOENT || cause == EAGAIN || cause == ETIMEDOUT ||
		cause == ECONNRESET || cause == EHOSTUNREACH || cause == ENETUNREACH ||
		cause == EADDRNOTAVAIL;
}

/* A TCP port with no listener may connect to itself when it lies in the ephemeral range. */
static int is_self(int fd)
{
	struct sockaddr_storage here = {0}, there = {0};
	socklen_t here_bytes = sizeof(here), there_bytes = sizeof(there);

	if (getsockname(fd, (struct sockaddr *)&here, &here_bytes) != 0 ||
		getpeername(fd, (struct sockaddr *)&there, &there_bytes) != 0)
		return 0;
	return here.ss_family != AF_UNIX && here_bytes == there_bytes &&
		memcmp(&here, &there, here_bytes) == 0;
}

/* 0 once connected, else the errno. */
static int connect_within(int fd, const struct sockaddr *to, socklen_t bytes, int64_t deadline_ns)
{
	struct pollfd watch = {.fd = fd, .events = POLLOUT};
	socklen_t size = sizeof(int);
	int cause = 0;
	int ready;

	if (connect(fd, to, bytes) == 0)
		return 0;
	if (errno != EINPROGRESS)
		return errno;
	do {
		ready = poll(&watch, 1, tf_deadline_poll_ms(deadline_ns));
	} while (ready < 0 && errno == EINTR);
	if (ready <= 0)
		return ready == 0 ? ETIMEDOUT : errno;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &cause, &size) != 0)
		return errno;
	if (cause == 0 && is_self(fd))
		return ECONNREFUSED;
	return cause;
}

/* Tries each address of the host. *out_again: it may work later. */
static enum tf_status reach(
	struct attempt *attempt, const struct tf_address *address, int *out_again, struct tf_error *err)
{
	int64_t deadline = tf_deadline_after(ATTEMPT_NS);
	int cause = EADDRNOTAVAIL;

	if (deadline > attempt->options->deadline_ns)
		deadline = attempt->options->deadline_ns;
	for (unsigned i = 0; i < address->count; i++) {
		int fd =
			socket(address->choices[i].ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		if (fd < 0) {
			cause = errno;
			continue;
		}
		cause = connect_within(
			fd, (const struct sockaddr *)&address->choices[i], address->bytes[i], deadline);
		if (cause == 0) {
			attempt->fd = fd;
			return TF_OK;
		}
		close(fd);
	}
	*out_again = may_pass(cause);
	errno = cause;
	return TF_FAIL_ERRNO(err, "cannot connect");
}

/* The next frame of rank 0; a refusal becomes the error. */
static enum tf_status hear(
	struct attempt *attempt, uint16_t type, size_t bytes, int *out_again, struct tf_error *err)
{
	struct tf_frame_reader *in = &attempt->in;
	struct tf_error note;
	enum tf_status status;

	tf_frame_reader_reset(in);
	status = tf_frame_recv(attempt->fd, in, attempt->options->deadline_ns, err);
	*out_again = status == TF_E_DISCONNECTED;
	if (status != TF_OK)
		return status;
	if (in->frame.type == TF_FRAME_REFUSE) {
		TF_TRY(tf_frame_note_decode(in->payload.data, in->payload.size, &note, err));
		return TF_FAIL(err, note.status, "rank 0 refused: %s", note.text);
	}
	TF_TRY(tf_frame_expect(&in->frame, type, 0, err));
	if (in->payload.size != bytes || in->frame.fd_count)
		return TF_FAIL(err, TF_E_INVALID,
			"frame '%s' has %zu bytes and %u file descriptors, not %zu and 0",
			tf_frame_type_name(type), in->payload.size, in->frame.fd_count, bytes);
	return TF_OK;
}

static enum tf_status say(struct attempt *attempt, uint16_t type, const void *payload, size_t bytes,
	int *out_again, struct tf_error *err)
{
	struct tf_frame frame = {
		.type = type, .sender = attempt->options->rank, .length = (uint32_t)bytes};
	enum tf_status status =
		tf_frame_send(attempt->fd, &frame, payload, NULL, attempt->options->deadline_ns, err);

	*out_again = status == TF_E_DISCONNECTED;
	return status;
}

static enum tf_status introduce(struct attempt *attempt, int *out_again, struct tf_error *err)
{
	const struct tf_link_options *options = attempt->options;
	uint8_t nonce[TF_HELLO_NONCE_BYTES];
	uint8_t proof[TF_HELLO_PROOF_BYTES];

	tf_hello_make(options, &attempt->hello);
	TF_TRY(say(attempt, TF_FRAME_HELLO, attempt->hello.bytes, attempt->hello.size, out_again, err));
	if (!options->secret)
		return hear(attempt, TF_FRAME_ACCEPT, 0, out_again, err);
	TF_TRY(hear(attempt, TF_FRAME_CHALLENGE, sizeof(nonce), out_again, err));
	memcpy(nonce, attempt->in.payload.data, sizeof(nonce));
	tf_hello_prove(options, TF_HELLO_RANK, &attempt->hello, nonce, proof);
	TF_TRY(say(attempt, TF_FRAME_PROOF, proof, sizeof(proof), out_again, err));
	TF_TRY(hear(attempt, TF_FRAME_ACCEPT, sizeof(proof), out_again, err));
	if (!tf_hello_is_proven(options, TF_HELLO_ROOT, &attempt->hello, nonce,
			attempt->in.payload.data, attempt->in.payload.size))
		return TF_FAIL(err, TF_E_MISFIT, "rank 0 does not know the shared secret");
	return TF_OK;
}

static enum tf_status try_once(
	struct attempt *attempt, const struct tf_address *address, int *out_again, struct tf_error *err)
{
	enum tf_status status = TF_OK;

	*out_again = 0;
	TF_TRY(reach(attempt, address, out_again, err));
	if (address->is_tcp)
		tf_rendezvous_tune_tcp(attempt->fd);
	else
		status = tf_hello_check_user(attempt->fd, err);
	if (status == TF_OK)
		status = introduce(attempt, out_again, err);
	if (status != TF_OK) {
		close(attempt->fd);
		attempt->fd = -1;
	}
	return status;
}

static void nap(int64_t ns, int64_t deadline_ns)
{
	int64_t left = tf_deadline_left_ns(deadline_ns);
	struct timespec rest = {.tv_nsec = ns < left ? ns : left};

	nanosleep(&rest, NULL);
}

/* Tries until rank 0 accepts, refuses, or the time is up. */
static enum tf_status come_in(
	struct attempt *attempt, const struct tf_address *address, struct tf_error *err)
{
	int64_t deadline = attempt->options->deadline_ns;
	int64_t ns = NAP_FIRST_NS;
	struct tf_error cause;
	enum tf_status status;
	int again;

	for (;;) {
		status = try_once(attempt, address, &again, &cause);
		if (status == TF_OK)
			return TF_OK;
		if ((again && tf_deadline_passed(deadline)) || status == TF_E_TIMEOUT)
			return TF_FAIL(err, TF_E_TIMEOUT,
				"rendezvous at '%s' timed out: no answer from rank 0: %s",
				attempt->options->address, cause.text);
		if (!again)
			break;
		nap(ns, deadline);
		ns = 2 * ns < NAP_MAX_NS ? 2 * ns : NAP_MAX_NS;
	}
	tf_error_prefix(&cause, "cannot join the group at '%s'", attempt->options->address);
	if (err)
		*err = cause;
	return status;
}

enum tf_status tf_rendezvous_join(const struct tf_link_options *options,
	const struct tf_address *address, struct tf_link *link, struct tf_error *err)
{
	struct attempt attempt = {.options = options, .fd = -1, .in.payload_max = TF_FRAME_NOTE_MAX};
	enum tf_status status = come_in(&attempt, address, err);

	tf_frame_reader_fini(&attempt.in);
	if (status != TF_OK)
		return status;
	tf_star_connect(link, 0, attempt.fd);
	TF_TRY(tf_star_await(link, TF_FRAME_WELCOME, options->deadline_ns, err));
	tf_star_done(link);
	return TF_OK;
}
