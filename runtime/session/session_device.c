/* SPDX-License-Identifier: Apache-2.0 */
/* A session's device: which one, opened how, and who else in this process shares its context. */
#include "runtime/session/session_private.h"

#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "runtime/collective/collective.h"
#include "runtime/session/peer_access.h"

/* "auto" means what the package was made for: another kind would be a misfit by its identity. */
static enum tf_status device_kind(const struct tf_session *session, const char *device,
	char out_kind[TF_NAME_BYTES], struct tf_error *err)
{
	int is_asked = device && strcmp(device, "auto") != 0;

	if (!is_asked)
		device = tf_program_identity(&session->package.program, "device.kind");
	if (!device)
		return TF_FAIL(err, TF_E_INVALID, "the package's identity names no device.kind");
	if (!is_asked && strcmp(device, "host") != 0 && strcmp(device, "cuda") != 0)
		return TF_FAIL(err, TF_E_MISFIT,
			"the package's device.kind is '%s'; this version knows 'host' and 'cuda'", device);
	if (strlen(device) >= TF_NAME_BYTES)
		return TF_FAIL(err, TF_E_USAGE, "a device's name is longer than %d bytes", TF_NAME_BYTES);
	strcpy(out_kind, device);
	return TF_OK;
}

/* "KIND" or "KIND:WHICH". */
static enum tf_status open_as_guest(struct tf_session *session, char *device, struct tf_error *err)
{
	char *which = strchr(device, ':');

	if (which)
		*which++ = 0;
	TF_TRY(tf_device_ops_find(device, &session->ops, err));
	return session->ops->guest_open(which, &session->device, err);
}

static enum tf_status open_own(struct tf_session *session, const struct tf_session_options *options,
	const char *kind, struct tf_error *err)
{
	uint32_t ordinal = options->device_ordinal, count;

	TF_TRY(tf_device_ops_find(kind, &session->ops, err));
	if (options->spread) {
		TF_TRY(tf_device_count(kind, &count, err));
		ordinal = session->rank % count;
	}
	return session->ops->open(ordinal, &session->device, err);
}

enum tf_status tf_session_open_device(
	struct tf_session *session, const struct tf_session_options *options, struct tf_error *err)
{
	char kind[TF_NAME_BYTES];

	tf_collective_register_host();
	TF_TRY(device_kind(session, options->device, kind, err));
	if (options->is_guest)
		TF_TRY(open_as_guest(session, kind, err));
	else
		TF_TRY(open_own(session, options, kind, err));
	session->ops->properties(session->device, &session->properties);
	if (options->no_peer_access || tf_peer_access_is_off(&session->package.program))
		tf_peer_access_withdraw(&session->properties);
	return session->ops->stream_create(session->device, &session->stream, err);
}

/* Equal for ranks of one process that share a context. */
struct neighbourhood {
	uint8_t process[16]; /* drawn once; a child by fork has the same, and another number */
	uint64_t pid, context;
};

static uint8_t process_token[16];

/* A token that could not be drawn is zero everywhere, which can only make a stream be refused. */
static void draw_process_token(void)
{
	if (getrandom(process_token, sizeof(process_token), 0) != (ssize_t)sizeof(process_token))
		memset(process_token, 0, sizeof(process_token));
}

enum tf_status tf_session_count_neighbours(
	struct tf_session *session, int64_t deadline, struct tf_error *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct neighbourhood mine = {.pid = (uint64_t)getpid(), .context = session->properties.context};
	struct neighbourhood all[TF_WORLD_MAX];

	pthread_once(&once, draw_process_token);
	memcpy(mine.process, process_token, sizeof(mine.process));
	TF_TRY(tf_link_exchange_fixed(session->link, &mine, sizeof(mine), all, deadline, err));
	for (uint32_t r = 0; r < session->world; r++)
		session->context_ranks += !memcmp(&all[r], &mine, sizeof(mine));
	return TF_OK;
}
