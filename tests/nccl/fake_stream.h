/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the fake NCCL's work goes: to the fake driver's streams in a process that has that driver
 * loaded, else to streams of its own, a queue and a thread that runs it. The library exports these
 * beside NCCL's names; a program that opened it finds them with dlsym.
 */
#ifndef TF_TESTS_NCCL_FAKE_STREAM_H
#define TF_TESTS_NCCL_FAKE_STREAM_H

#include <stddef.h>

struct CUstream_st;

struct CUstream_st *fake_nccl_stream_create(void);
/* 1: all that was enqueued is done. */
int fake_nccl_stream_done(struct CUstream_st *stream);
/* Waits for what runs. */
void fake_nccl_stream_destroy(struct CUstream_st *stream);

typedef void (*fake_work_fn)(void *work);
/* `work` is the stream's from here on, and freed behind the call. */
void fake_stream_push(struct CUstream_st *stream, fake_work_fn run, void *work);

/* Whether streams are the fake driver's. Constant once a device was opened. */
int fake_stream_is_driver(void);
/*
 * Runs it, or captures it where the stream is captured; `work` is copied. 0, or a code of the
 * driver's.
 */
int fake_stream_to_driver(
	struct CUstream_st *stream, fake_work_fn run, const void *work, size_t bytes);
/* Whether calls on it are captured; 0 for streams that are not the fake driver's. */
int fake_stream_is_captured(struct CUstream_st *stream);
/* Captured work, of this process, that graphs of the fake driver's still hold; 0 without it. */
int fake_stream_held(void);

#endif
