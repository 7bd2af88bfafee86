/* SPDX-License-Identifier: Apache-2.0 */
/* What a tool sees to before anything else in its process. */
#ifndef TF_BASE_PROCESS_START_H
#define TF_BASE_PROCESS_START_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Holds descriptors 0 to 2 where they are closed, so that no file or socket gets their number and
 * with it what is meant for a reader: reading and writing them goes on failing, with EBADF. Has a
 * write beyond the limit of a file's size fail with EFBIG in place of SIGXFSZ. Has children be
 * waited for also where whoever started this process ignores their ends. For a tool's main, before
 * it opens anything; a library leaves its process alone.
 */
void tf_process_start(void);

#ifdef __cplusplus
}
#endif
#endif
