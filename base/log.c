/* SPDX-License-Identifier: Apache-2.0 */
/* One process-wide log callback; longer lines are cut and end in "...". */
#include "base/log.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define LINE_BYTES 1024

static tf_log_fn log_fn;
static void *log_user;
static enum tf_log_level log_level;

void tf_log_install(tf_log_fn fn, void *user, enum tf_log_level level)
{
	log_fn = fn;
	log_user = user;
	log_level = level;
}

/* Foreign text may hold line ends and terminal controls: none reaches the callback. */
static void keep_one_line(char *line)
{
	for (; *line; line++) {
		if ((unsigned char)*line < ' ' || *line == 0x7f)
			*line = ' ';
	}
}

void tf_log(enum tf_log_level level, const char *fmt, ...)
{
	char line[LINE_BYTES];
	va_list args;
	int used;

	if (!log_fn || level > log_level)
		return;
	va_start(args, fmt);
	used = vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	if (used < 0)
		return;
	if ((size_t)used >= sizeof(line))
		memcpy(line + sizeof(line) - 4, "...", 4);
	keep_one_line(line);
	log_fn(log_user, level, line);
}
