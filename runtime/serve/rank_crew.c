/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1. A rank is silent only if its socket was just found empty and this process itself was awake all
 *    the time.
 * 2. The end of a process is looked at after its last words were read.
 * 3. What may be a consequence waits a grace for its cause; what is a cause waits for nothing.
 */
#include "runtime/serve/rank_crew.h"

#include <string.h>
#include <sys/time.h>

#include "base/deadline.h"
#include "runtime/link/channel.h"
#include "runtime/serve/command.h"
#include "runtime/serve/rank_verdict.h"

#define TICKS_A_TIMEOUT  32
#define GRACES_A_TIMEOUT 8
#define LATES_A_TIMEOUT  2 /* a gap between ticks in which this process itself was stopped */
#define ORDER_BOUND_NS   (TF_NS_PER_S / 10)
#define STALLED_TIMEOUTS                                                                           \
	200 /* above the longest that a session bounds itself: the replay of a startup graph */

const char tf_crew_idle[] = "while idle";

static struct timeval interval(int64_t ns)
{
	if (ns < TF_NS_PER_MS)
		ns = TF_NS_PER_MS;
	return (struct timeval){
		.tv_sec = (time_t)(ns / TF_NS_PER_S),
		.tv_usec = (suseconds_t)(ns % TF_NS_PER_S / 1000),
	};
}

static void close_event(struct event **event)
{
	if (*event)
		event_free(*event);
	*event = NULL;
}

/* Tells of the end, once. */
static void judge(struct tf_crew *crew)
{
	struct tf_error cause = {0};

	if (crew->over)
		return;
	crew->over = 1;
	tf_verdict_reach(crew, tf_now_ns(), &cause);
	crew->handlers.fault(crew->handlers.user, &cause);
}

static void judge_later(struct tf_crew *crew)
{
	if (!crew->verdict_ns)
		crew->verdict_ns = tf_deadline_after(crew->timeout_ns / GRACES_A_TIMEOUT);
}

static void take_failure(struct tf_crew_member *member)
{
	struct tf_error *failure = &member->failure;

	if (member->reader.payload.size == sizeof(*failure)) {
		memcpy(failure, member->reader.payload.data, sizeof(*failure));
		tf_error_adopt(failure);
	}
	if (failure->status == TF_OK)
		(void)!TF_FAIL(failure, TF_E_INTERNAL, "rank %u failed without saying why", member->rank);
}

static void take_beat(struct tf_crew_member *member)
{
	struct tf_rank_beat beat;

	if (member->reader.payload.size != sizeof(beat))
		return;
	memcpy(&beat, member->reader.payload.data, sizeof(beat));
	if (beat.done != member->done)
		member->progress_ns = member->heard_ns;
	member->done = beat.done;
}

static void take_word(struct tf_crew_member *member)
{
	struct tf_crew *crew = member->crew;

	member->heard_ns = tf_now_ns();
	switch (member->reader.frame.type) {
	case TF_COMMAND_BEAT:
		take_beat(member);
		return;
	case TF_COMMAND_FAILED:
		take_failure(member);
		if (tf_verdict_is_consequence(member->failure.status))
			judge_later(crew);
		else
			judge(crew);
		return;
	default:
		member->progress_ns = member->heard_ns;
		if (!crew->over)
			crew->handlers.word(crew->handlers.user, member->rank, member->reader.frame.type,
				member->reader.payload.data, member->reader.payload.size);
	}
}

/* Reads all that the socket holds. */
static void hear(struct tf_crew_member *member)
{
	struct tf_crew *crew = member->crew;
	int fd = tf_ranks_command_fd(crew->ranks, member->rank);

	while (member->socket) {
		struct tf_error error = {0};
		int complete = 0;
		enum tf_status status = tf_frame_reader_step(&member->reader, fd, &complete, &error);

		if (status == TF_OK && !complete)
			return;
		if (status == TF_OK) {
			take_word(member);
			tf_frame_reader_reset(&member->reader);
			continue;
		}
		close_event(&member->socket);
		if (status != TF_E_DISCONNECTED) {
			tf_error_prefix(&error, "rank %u", member->rank);
			member->failure = error;
		}
		if (!crew->may_end)
			judge_later(crew);
	}
}

static int all_ended(const struct tf_crew *crew)
{
	return tf_crew_running(crew) == 0;
}

static void look_for_end(struct tf_crew_member *member)
{
	struct tf_crew *crew = member->crew;

	if (member->ended || !tf_ranks_has_ended(crew->ranks, member->rank, &member->how))
		return;
	hear(member);
	member->ended = 1;
	close_event(&member->socket);
	close_event(&member->pidfd);
	if (crew->over)
		return;
	if (!crew->may_end || member->how.code || member->how.signal) {
		if (tf_verdict_is_consequence(member->failure.status))
			judge_later(crew);
		else
			judge(crew);
	} else if (all_ended(crew)) {
		crew->over = 1;
		crew->handlers.ended(crew->handlers.user);
	}
}

static void on_socket(evutil_socket_t fd, short what, void *user)
{
	(void)fd;
	(void)what;
	hear(user);
}

static void on_pidfd(evutil_socket_t fd, short what, void *user)
{
	(void)fd;
	(void)what;
	look_for_end(user);
}

/* A rank that lives but gets nowhere, beyond every bound of its own. */
static void look_for_stall(struct tf_crew_member *member, int64_t now_ns)
{
	struct tf_crew *crew = member->crew;

	if (crew->doing == tf_crew_idle ||
		now_ns - member->progress_ns < STALLED_TIMEOUTS * crew->timeout_ns)
		return;
	(void)!TF_FAIL(&member->failure, TF_E_INTERNAL, "rank %u made no progress for %lld s %s",
		member->rank, (long long)((now_ns - member->progress_ns) / TF_NS_PER_S), crew->doing);
	judge(crew);
}

/* Draining ranks are quiet; the supervisor bounds that itself. */
static void look_for_silence(struct tf_crew *crew, int64_t now_ns)
{
	for (uint32_t rank = 0; !crew->may_end && !crew->over && rank < crew->world; rank++) {
		struct tf_crew_member *member = &crew->members[rank];

		if (member->ended || member->failure.status != TF_OK)
			continue;
		if (now_ns - member->heard_ns >= crew->timeout_ns)
			judge(crew);
		else
			look_for_stall(member, now_ns);
	}
}

/* What this process slept through is neither silence nor standing still. */
static void forgive(struct tf_crew_member *member, int64_t now_ns, int64_t gap_ns)
{
	member->heard_ns = now_ns;
	member->progress_ns += gap_ns;
	if (member->progress_ns > now_ns)
		member->progress_ns = now_ns;
}

static void on_tick(evutil_socket_t fd, short what, void *user)
{
	struct tf_crew *crew = user;
	int64_t now = tf_now_ns();
	int64_t gap = now - crew->ticked_ns;
	int late = gap > crew->timeout_ns / LATES_A_TIMEOUT;

	(void)fd;
	(void)what;
	crew->ticked_ns = now;
	for (uint32_t rank = 0; rank < crew->world; rank++) {
		hear(&crew->members[rank]);
		if (late)
			forgive(&crew->members[rank], now, gap);
		look_for_end(&crew->members[rank]);
	}
	look_for_silence(crew, now);
	if (crew->verdict_ns && tf_deadline_passed(crew->verdict_ns))
		judge(crew);
}

static enum tf_status watch_member(struct tf_crew *crew, uint32_t rank, struct tf_error *err)
{
	struct tf_crew_member *member = &crew->members[rank];
	int pidfd = tf_ranks_pidfd(crew->ranks, rank);

	member->crew = crew;
	member->rank = rank;
	member->reader.payload_max = TF_FRAME_RECORD_MAX;
	member->heard_ns = member->progress_ns = tf_now_ns();
	member->socket = event_new(crew->base, tf_ranks_command_fd(crew->ranks, rank),
		EV_READ | EV_PERSIST, on_socket, member);
	if (!member->socket || event_add(member->socket, NULL))
		return TF_FAIL(err, TF_E_SYSTEM, "libevent cannot watch the socket of rank %u", rank);
	if (pidfd < 0)
		return TF_OK; /* an old kernel: the tick looks */
	member->pidfd = event_new(crew->base, pidfd, EV_READ | EV_PERSIST, on_pidfd, member);
	if (!member->pidfd || event_add(member->pidfd, NULL))
		return TF_FAIL(err, TF_E_SYSTEM, "libevent cannot watch the process of rank %u", rank);
	return TF_OK;
}

enum tf_status tf_crew_init(struct tf_crew *crew, struct tf_ranks *ranks, uint32_t world,
	struct event_base *base, int64_t timeout_ns, const struct tf_crew_handlers *handlers,
	struct tf_error *err)
{
	struct timeval every = interval(timeout_ns / TICKS_A_TIMEOUT);

	memset(crew, 0, sizeof(*crew));
	crew->ranks = ranks;
	crew->world = world;
	crew->base = base;
	crew->timeout_ns = timeout_ns;
	crew->handlers = *handlers;
	crew->doing = "while loading";
	crew->ticked_ns = tf_now_ns();
	for (uint32_t rank = 0; rank < world; rank++)
		TF_TRY(watch_member(crew, rank, err));
	crew->tick = event_new(base, -1, EV_PERSIST, on_tick, crew);
	if (!crew->tick || event_add(crew->tick, &every))
		return TF_FAIL(err, TF_E_SYSTEM, "libevent cannot keep a timer");
	return TF_OK;
}

void tf_crew_fini(struct tf_crew *crew)
{
	close_event(&crew->tick);
	for (uint32_t rank = 0; rank < TF_WORLD_MAX; rank++) {
		close_event(&crew->members[rank].socket);
		close_event(&crew->members[rank].pidfd);
		tf_frame_reader_fini(&crew->members[rank].reader);
	}
}

void tf_crew_order(
	struct tf_crew *crew, uint32_t rank, uint16_t type, const void *data, size_t bytes)
{
	struct tf_crew_member *member = &crew->members[rank];
	struct tf_error error = {0};

	if (crew->over || member->ended)
		return;
	member->done = 0;
	member->progress_ns = tf_now_ns();
	if (tf_channel_send(tf_ranks_command_fd(crew->ranks, rank), type, 0, data, bytes,
			tf_deadline_after(ORDER_BOUND_NS), &error) == TF_OK)
		return;
	/* A closed socket is the trace of a death, which will be seen as such. */
	if (error.status != TF_E_DISCONNECTED) {
		tf_error_prefix(&error, "rank %u does not take orders", rank);
		member->failure = error;
	}
	judge_later(crew);
}

void tf_crew_order_all(struct tf_crew *crew, uint16_t type, const void *data, size_t bytes)
{
	for (uint32_t rank = 0; rank < crew->world; rank++)
		tf_crew_order(crew, rank, type, data, bytes);
}

uint32_t tf_crew_running(const struct tf_crew *crew)
{
	uint32_t running = 0;

	for (uint32_t rank = 0; rank < crew->world; rank++)
		running |= crew->members[rank].ended ? 0 : UINT32_C(1) << rank;
	return running;
}
