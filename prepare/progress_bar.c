/* SPDX-License-Identifier: Apache-2.0 */
/* Redraws one line in place; a bar that was never drawn needs no erasing. */
#include "prepare/progress_bar.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BAR_WIDTH_MAX   40
#define BAR_WIDTH_MIN   4  /* a shorter one shows nothing that the numbers do not */
#define TEXT_WIDTH      32 /* what stands around a bar */
#define COLUMNS_DEFAULT 80 /* of a terminal that does not tell */

static int drawn; /* columns that are in use */

static int terminal_columns(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return COLUMNS_DEFAULT;
	return size.ws_col;
}

/* `width` signs and a zero byte at `to`. */
static void draw_bar(char *to, int width, uint64_t done, uint64_t total)
{
	uint64_t filled = total ? done * (uint64_t)width / total : 0;

	for (int i = 0; i < width; i++)
		to[i] = (uint64_t)i < filled ? '#' : ' ';
	to[width] = '\0';
}

/* A line that reached the last column would wrap, and the next one not be drawn over it. */
void tf_progress_bar(void *user, const char *what, uint64_t done, uint64_t total)
{
	char bar[BAR_WIDTH_MAX + 1], line[BAR_WIDTH_MAX + TEXT_WIDTH + 1];
	int columns, width;

	(void)user;
	if (!isatty(STDERR_FILENO))
		return;
	columns = terminal_columns();
	width = columns - 1 - TEXT_WIDTH;
	draw_bar(bar, width < 0 ? 0 : width > BAR_WIDTH_MAX ? BAR_WIDTH_MAX : width, done, total);
	if (width < BAR_WIDTH_MIN)
		(void)snprintf(line, sizeof(line), "%-8s %" PRIu64 "/%" PRIu64, what, done, total);
	else
		(void)snprintf(
			line, sizeof(line), "%-8s [%s] %" PRIu64 "/%" PRIu64, what, bar, done, total);
	drawn = columns - 1 < BAR_WIDTH_MAX + TEXT_WIDTH ? columns - 1 : BAR_WIDTH_MAX + TEXT_WIDTH;
	fprintf(stderr, "\r%-*.*s", drawn, drawn, line);
	fflush(stderr);
}

void tf_progress_bar_end(void)
{
	if (drawn)
		fprintf(stderr, "\r%-*s\r", drawn, "");
	drawn = 0;
}
