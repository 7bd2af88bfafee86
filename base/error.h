/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status codes and the error object.
 *
 * A function that can fail returns enum tf_status and takes a `struct tf_error *err` as its last
 * parameter, which may be NULL. The error is set where it is detected (TF_FAIL, tf_error_set) and
 * prefixed on the way up (tf_error_prefix), so that its text reads outermost first:
 * "cannot open 'x.tfp': catalog: row 12 of kernel: digest is 31 bytes, not 32".
 * Nothing here allocates.
 */
#ifndef TF_BASE_ERROR_H
#define TF_BASE_ERROR_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TF_ERROR_TEXT_BYTES 1024

#define TF_WARN_UNUSED      __attribute__((warn_unused_result))
#define TF_PRINTF(fmt, arg) __attribute__((format(printf, fmt, arg)))

enum tf_status {
	TF_OK = 0,
	TF_E_USAGE,     /* the caller's words are wrong: an option, an argument out of its range */
	TF_E_INVALID,   /* outside data is malformed: a file, a frame, a row; not the caller's words */
	TF_E_DAMAGED,   /* data contradicts its own digest or length; INVALID never was right */
	TF_E_VERSION,   /* well-formed, but of a format or ABI this build does not read */
	TF_E_MISFIT,    /* well-formed and readable, but not for this machine or group */
	TF_E_NOT_FOUND, /* a named thing does not exist (file, group, kernel, buffer) */
	TF_E_UNSUPPORTED,  /* this backend lacks the operation, and says so by name */
	TF_E_UNAVAILABLE,  /* a library, driver or device is absent; tests skip on this alone */
	TF_E_NO_MEMORY,    /* an allocation failed */
	TF_E_LIMIT,        /* a stated limit was exceeded (counts, sizes) */
	TF_E_TIMEOUT,      /* a bounded wait ended by its clock */
	TF_E_DISCONNECTED, /* a peer departed; TIMEOUT is for peers that are silent */
	TF_E_ABORTED,      /* another rank, or a signal, ended the work; the cause lies there */
	TF_E_MISMATCH,     /* bytes or picks that must be equal are not */
	TF_E_SYSTEM,       /* a system or library call failed; `native` holds its code */
	TF_E_INTERNAL,     /* our own bug */
	TF_STATUS_COUNT
};

/* Exit codes of both tools. */
enum tf_exit {
	TF_EXIT_DONE = 0,
	TF_EXIT_FAILED = 1,
	TF_EXIT_USAGE = 2,
	TF_EXIT_INPUT = 3,
	TF_EXIT_ABSENT = 4,
	TF_EXIT_INTERRUPTED = 130
};

/* By value, owned by the caller; {0} is "no error". */
struct tf_error {
	enum tf_status status;
	int native; /* errno or the foreign library's code, 0 if none */
	const char
		*origin;      /* static string: "system", "sqlite", "zstd", "archive", ...; NULL if ours */
	const char *file; /* static string: where it was detected */
	int line;
	char text[TF_ERROR_TEXT_BYTES];
};

/*
 * Sets `err` (unless NULL) and returns `status`, so that `return tf_error_set(...)` works.
 * `fmt` is lower case, without a full stop, with the subject in single quotes.
 * Text that does not fit is cut and ends in "...".
 */
enum tf_status tf_error_set(struct tf_error *err, enum tf_status status, const char *origin,
	int native, const char *file, int line, const char *fmt, ...) TF_PRINTF(7, 8);

/*
 * Makes an error safe to use that came as bytes from another process of this build: its text ends,
 * and what pointed into that process is gone.
 */
void tf_error_adopt(struct tf_error *err);

/*
 * Puts "PREFIX: " before the text already in `err`. No effect where `err` is NULL or holds no
 * error.
 */
void tf_error_prefix(struct tf_error *err, const char *fmt, ...) TF_PRINTF(2, 3);

/* The code's stable name, "misfit" for TF_E_MISFIT. Never NULL. */
const char *tf_status_name(enum tf_status status);

/*
 * The tools' exit code for a status (DESIGN 13): input problems 3, absent libraries 4, usage 2,
 * else 1.
 */
enum tf_exit tf_status_exit(enum tf_status status);

#define TF_FAIL(err, status, ...)                                                                  \
	tf_error_set((err), (status), NULL, 0, __FILE__, __LINE__, __VA_ARGS__)

/* A failed system call: appends ": " and strerror of the current errno. */
#define TF_FAIL_ERRNO(err, ...) tf_error_errno((err), __FILE__, __LINE__, __VA_ARGS__)
enum tf_status tf_error_errno(
	struct tf_error *err, const char *file, int line, const char *fmt, ...) TF_PRINTF(4, 5);

/* Runs `call`; on failure leaves the function with its status. */
#define TF_TRY(call)                                                                               \
	do {                                                                                           \
		enum tf_status tf_try_status_ = (call);                                                    \
		if (tf_try_status_ != TF_OK)                                                               \
			return tf_try_status_;                                                                 \
	} while (0)

#ifdef __cplusplus
}
#endif
#endif
