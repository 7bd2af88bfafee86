/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading and resolving addresses. getaddrinfo(3) has no deadline, so a name is asked in a detached
 * thread; the question is shared and freed by whoever lets go of it last.
 */
#include "runtime/link/address.h"
#include "base/alloc.h"
#include "base/deadline.h"

#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <time.h>

#define AGAIN_NS                                                                                   \
	(200 * TF_NS_PER_MS) /* between two questions: a name that appears is found soon enough */

struct question {
	atomic_uint holders;
	char host[TF_ADDRESS_NAME_BYTES];
	char port[8];
	pthread_mutex_t lock;
	pthread_cond_t answered; /* on CLOCK_MONOTONIC */
	int is_answered;
	int code; /* of getaddrinfo */
	struct addrinfo *found;
};

static enum tf_status parse_unix(const char *name, struct tf_address *address, struct tf_error *err)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	size_t length = strlen(name);
	int is_abstract = name[0] == '@';

	if (length <= (size_t)is_abstract)
		return TF_FAIL(err, TF_E_USAGE, "address 'unix:%s' has no name", name);
	if (length >= sizeof(un.sun_path))
		return TF_FAIL(err, TF_E_USAGE, "address 'unix:%s' has %zu bytes, the limit is %zu", name,
			length, sizeof(un.sun_path) - 1);
	memcpy(un.sun_path, name, length);
	if (is_abstract)
		un.sun_path[0] = '\0';
	memcpy(address->host, name, length + 1);
	memcpy(&address->choices[0], &un, sizeof(un));
	address->bytes[0] =
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (is_abstract ? 0 : 1));
	address->count = 1;
	return TF_OK;
}

static int is_port(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return digits > 0 && digits <= 5 && text[digits] == '\0' && atoi(text) >= 1 &&
		atoi(text) <= 65535;
}

static enum tf_status parse_tcp(const char *name, struct tf_address *address, struct tf_error *err)
{
	const char *colon = strrchr(name, ':');
	size_t length = colon ? (size_t)(colon - name) : 0;
	const char *host = name;

	if (length >= 2 && name[0] == '[' && name[length - 1] == ']') {
		host++;
		length -= 2;
	} else if (memchr(name, ':', length)) {
		return TF_FAIL(
			err, TF_E_USAGE, "address 'tcp:%s' needs brackets around its IPv6 host", name);
	}
	if (length == 0 || length >= sizeof(address->host))
		return TF_FAIL(err, TF_E_USAGE, "address 'tcp:%s' is not 'tcp:HOST:PORT'", name);
	if (!is_port(colon + 1))
		return TF_FAIL(err, TF_E_USAGE, "address 'tcp:%s' has no port between 1 and 65535", name);
	memcpy(address->host, host, length);
	memcpy(address->port, colon + 1, strlen(colon + 1) + 1);
	address->is_tcp = 1;
	return TF_OK;
}

enum tf_status tf_address_parse(
	const char *text, struct tf_address *out_address, struct tf_error *err)
{
	struct tf_address address = {0};

	if (strncmp(text, "unix:", 5) == 0)
		TF_TRY(parse_unix(text + 5, &address, err));
	else if (strncmp(text, "tcp:", 4) == 0)
		TF_TRY(parse_tcp(text + 4, &address, err));
	else
		return TF_FAIL(err, TF_E_USAGE,
			"address '%s' is none of 'unix:PATH', 'unix:@NAME' and 'tcp:HOST:PORT'", text);
	*out_address = address;
	return TF_OK;
}

static int ask(const char *host, const char *port, int flags, struct addrinfo **out_found)
{
	struct addrinfo hints = {
		.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = flags | AI_NUMERICSERV,
	};

	return getaddrinfo(host, port, &hints, out_found);
}

static void store(struct tf_address *address, const struct addrinfo *found)
{
	address->count = 0;
	for (; found && address->count < TF_ADDRESS_CHOICES; found = found->ai_next) {
		memcpy(&address->choices[address->count], found->ai_addr, found->ai_addrlen);
		address->bytes[address->count++] = found->ai_addrlen;
	}
}

static void question_unref(struct question *q)
{
	if (atomic_fetch_sub(&q->holders, 1) != 1)
		return;
	if (q->found)
		freeaddrinfo(q->found);
	pthread_cond_destroy(&q->answered);
	pthread_mutex_destroy(&q->lock);
	tf_free(q);
}

static void *ask_in_thread(void *arg)
{
	struct question *q = arg;
	struct addrinfo *found = NULL;
	int code = ask(q->host, q->port, 0, &found);

	pthread_mutex_lock(&q->lock);
	q->code = code;
	q->found = code == 0 ? found : NULL;
	q->is_answered = 1;
	pthread_cond_signal(&q->answered);
	pthread_mutex_unlock(&q->lock);
	question_unref(q);
	return NULL;
}

static struct question *question_create(const struct tf_address *address)
{
	struct question *q = tf_calloc(1, sizeof(*q));
	pthread_condattr_t attr;

	if (!q)
		return NULL;
	memcpy(q->host, address->host, sizeof(q->host));
	memcpy(q->port, address->port, sizeof(q->port));
	atomic_init(&q->holders, 2);
	pthread_mutex_init(&q->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&q->answered, &attr);
	pthread_condattr_destroy(&attr);
	return q;
}

static struct timespec as_timespec(int64_t ns)
{
	return (struct timespec){.tv_sec = ns / TF_NS_PER_S, .tv_nsec = ns % TF_NS_PER_S};
}

static enum tf_status wait_answer(struct question *q, struct tf_address *address,
	int64_t deadline_ns, int *out_code, struct tf_error *err)
{
	struct timespec until = as_timespec(deadline_ns);
	int waited = 0;
	int answered;

	pthread_mutex_lock(&q->lock);
	while (!q->is_answered && waited == 0)
		waited = pthread_cond_timedwait(&q->answered, &q->lock, &until);
	answered = q->is_answered;
	if (answered && q->code == 0)
		store(address, q->found);
	*out_code = q->code;
	pthread_mutex_unlock(&q->lock);
	if (!answered)
		return TF_FAIL(err, TF_E_TIMEOUT, "cannot resolve '%s': no answer in time", address->host);
	return TF_OK;
}

static enum tf_status ask_name(
	struct tf_address *address, int64_t deadline_ns, int *out_code, struct tf_error *err)
{
	struct question *q = question_create(address);
	enum tf_status status;
	pthread_attr_t attr;
	pthread_t thread;
	int failed;

	if (!q)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory to resolve '%s'", address->host);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	failed = pthread_create(&thread, &attr, ask_in_thread, q);
	pthread_attr_destroy(&attr);
	if (failed) {
		status = tf_error_set(err, TF_E_SYSTEM, "system", failed, __FILE__, __LINE__,
			"cannot resolve '%s': no thread: %s", address->host, strerror(failed));
		question_unref(q);
	} else {
		status = wait_answer(q, address, deadline_ns, out_code, err);
	}
	question_unref(q);
	return status;
}

enum tf_status tf_address_resolve(
	struct tf_address *address, int64_t deadline_ns, struct tf_error *err)
{
	struct addrinfo *found;
	int code = 0;

	if (!address->is_tcp)
		return TF_OK;
	if (ask(address->host, address->port, AI_NUMERICHOST, &found) == 0) {
		store(address, found);
		freeaddrinfo(found);
		return TF_OK;
	}
	for (;;) {
		int64_t again = tf_deadline_after(AGAIN_NS);
		struct timespec until = as_timespec(again);

		TF_TRY(ask_name(address, deadline_ns, &code, err));
		if (code == 0)
			return TF_OK;
		/* A service's name may appear only after its processes started. */
		if ((code != EAI_AGAIN && code != EAI_NONAME) || again >= deadline_ns)
			return TF_FAIL(
				err, TF_E_NOT_FOUND, "cannot resolve '%s': %s", address->host, gai_strerror(code));
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
}
