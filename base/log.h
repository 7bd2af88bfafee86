/* SPDX-License-Identifier: Apache-2.0 */
/* The log callback. Library code never prints: it hands lines to whatever the host installed. */
#ifndef TF_BASE_LOG_H
#define TF_BASE_LOG_H

#ifdef __cplusplus
extern "C" {
#endif

enum tf_log_level { TF_LOG_ERROR = 0, TF_LOG_WARN, TF_LOG_INFO, TF_LOG_DEBUG };

/*
 * `text` is one line without its end and without control characters, borrowed for the call;
 * longer lines than 1023 bytes are cut and end in "...". Called from any thread that logs.
 */
typedef void (*tf_log_fn)(void *user, enum tf_log_level level, const char *text);

/*
 * Installs the process's callback (NULL: silence, the default) and the least severe level it wants.
 * Call before threads start.
 */
void tf_log_install(tf_log_fn fn, void *user, enum tf_log_level level);

void tf_log(enum tf_log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif
#endif
