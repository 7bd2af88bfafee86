/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of the fake NCCL: a queue and a thread that runs it. The library exports these beside
 * NCCL's names; a program that opened it finds them with dlsym.
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

#endif
