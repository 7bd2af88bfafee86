/* SPDX-License-Identifier: Apache-2.0 */
/* A progress bar on stderr, only where stderr is a terminal. */
#ifndef TF_PREPARE_PROGRESS_BAR_H
#define TF_PREPARE_PROGRESS_BAR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A tf_progress_fn; `user` is unused. Draws "verify  [#####     ]  40/81". Nothing where stderr
 * is no terminal.
 */
void tf_progress_bar(void *user, const char *what, uint64_t done, uint64_t total);
/* Erases the bar, so that what follows starts on a clean line. */
void tf_progress_bar_end(void);

#ifdef __cplusplus
}
#endif
#endif
