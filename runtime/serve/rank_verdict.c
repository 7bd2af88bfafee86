/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1. Who died or fell silent is the cause, whatever the others say: they only noticed it.
 * 2. The others' words are kept as testimony, because they name the group and the wait.
 */
#include "runtime/serve/rank_verdict.h"

#include <stdio.h>
#include <string.h>

#include "base/deadline.h"

int tf_verdict_is_consequence(enum tf_status status)
{
	return status == TF_E_DISCONNECTED || status == TF_E_ABORTED || status == TF_E_TIMEOUT;
}

/* "; ranks 0, 1 and 3 are ended" */
static void append_others(const struct tf_crew *crew, uint32_t cause, struct tf_error *out)
{
	char list[96];
	size_t used = 0, length = strlen(out->text);
	uint32_t others = crew->world - 1, seen = 0;

	for (uint32_t rank = 0; rank < crew->world; rank++) {
		if (rank == cause)
			continue;
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%u",
			!seen                    ? ""
				: seen + 1 == others ? " and "
									 : ", ",
			rank);
		seen++;
	}
	snprintf(out->text + length, sizeof(out->text) - length, "; %s %s %s ended",
		others == 1 ? "rank" : "ranks", list, others == 1 ? "is" : "are");
}

/* " (rank 0: ...)": the first rank that noticed. */
static void append_testimony(const struct tf_crew *crew, uint32_t cause, struct tf_error *out)
{
	size_t length = strlen(out->text);

	for (uint32_t rank = 0; rank < crew->world; rank++) {
		const struct tf_error *said = &crew->members[rank].failure;

		if (rank == cause || said->status == TF_OK)
			continue;
		snprintf(out->text + length, sizeof(out->text) - length, " (%s)", said->text);
		return;
	}
}

static int find_death(const struct tf_crew *crew, struct tf_error *out)
{
	char text[TF_RANK_EXIT_TEXT_BYTES];

	for (uint32_t rank = 0; rank < crew->world; rank++) {
		const struct tf_crew_member *member = &crew->members[rank];

		if (!member->ended || member->failure.status != TF_OK ||
			(crew->may_end && !member->how.code && !member->how.signal))
			continue;
		tf_rank_exit_describe(rank, &member->how, text, sizeof(text));
		(void)!TF_FAIL(out, TF_E_DISCONNECTED, "%s %s", text, crew->doing);
		append_testimony(crew, rank, out);
		append_others(crew, rank, out);
		return 1;
	}
	return 0;
}

/* Once something else failed, half the bound is silence enough to be its cause. */
static int find_silence(const struct tf_crew *crew, int64_t now_ns, struct tf_error *out)
{
	int64_t bound = crew->verdict_ns ? crew->timeout_ns / 2 : crew->timeout_ns;
	int64_t longest = bound;
	uint32_t silent = UINT32_MAX;

	for (uint32_t rank = 0; rank < crew->world; rank++) {
		const struct tf_crew_member *member = &crew->members[rank];

		if (member->ended || member->failure.status != TF_OK || now_ns - member->heard_ns < longest)
			continue;
		longest = now_ns - member->heard_ns;
		silent = rank;
	}
	if (silent == UINT32_MAX)
		return 0;
	(void)!TF_FAIL(out, TF_E_TIMEOUT, "rank %u gave no sign of life for %lld ms %s", silent,
		(long long)(longest / TF_NS_PER_MS), crew->doing);
	append_testimony(crew, silent, out);
	append_others(crew, silent, out);
	return 1;
}

static int find_failure(const struct tf_crew *crew, int also_consequences, struct tf_error *out)
{
	for (uint32_t rank = 0; rank < crew->world; rank++) {
		const struct tf_error *said = &crew->members[rank].failure;

		if (said->status == TF_OK ||
			(!also_consequences && tf_verdict_is_consequence(said->status)))
			continue;
		*out = *said;
		return 1;
	}
	return 0;
}

void tf_verdict_reach(const struct tf_crew *crew, int64_t now_ns, struct tf_error *out)
{
	if (find_death(crew, out) || find_silence(crew, now_ns, out) || find_failure(crew, 0, out) ||
		find_failure(crew, 1, out))
		return;
	(void)!TF_FAIL(out, TF_E_DISCONNECTED, "a rank closed its command socket %s", crew->doing);
}
