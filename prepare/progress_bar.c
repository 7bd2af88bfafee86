/* SPDX-License-Identifier: Apache-2.0 */
/* Redraws one line in place; a bar that was never drawn needs no erasing. */
#include "prepare/progress_bar.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define BAR_WIDTH 40

static int drawn;

void tf_progress_bar(void *user, const char *what, uint64_t done, uint64_t total)
{
	char bar[BAR_WIDTH + 1];
	uint64_t filled = total ? done * BAR_WIDTH / total : 0;

	(void)user;
	if (!isatty(STDERR_FILENO))
		return;
	for (uint64_t i = 0; i < BAR_WIDTH; i++)
		bar[i] = i < filled ? '#' : ' ';
	bar[BAR_WIDTH] = '\0';
	fprintf(stderr, "\r%-8s [%s] %" PRIu64 "/%" PRIu64, what, bar, done, total);
	fflush(stderr);
	drawn = 1;
}

void tf_progress_bar_end(void)
{
	if (drawn)
		fprintf(stderr, "\r%-*s\r", BAR_WIDTH + 32, "");
	drawn = 0;
}
