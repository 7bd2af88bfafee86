/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the rank program's memory and stream are: "fake" (host memory and the fake NCCL's stream)
 * or "cuda" (the primary context of device `rank` modulo their number).
 */
#ifndef TF_TESTS_RANK_RANK_DEVICE_H
#define TF_TESTS_RANK_RANK_DEVICE_H

#include "runtime/device/device.h"

struct CUstream_st;

struct rank_device {
	int is_cuda;
	struct CUstream_st *stream; /* for NCCL's calls */
	/* fake */
	int (*done)(struct CUstream_st *stream);
	void (*destroy)(struct CUstream_st *stream);
	/* cuda */
	const struct tf_device_ops *ops;
	struct tf_device *device;
	struct tf_stream *own;
	void *scratch;
	int is_marked;
};

/* TF_E_UNAVAILABLE: no such device, or no library. */
TF_WARN_UNUSED enum tf_status rank_device_open(
	const char *kind, uint32_t rank, struct rank_device *out, struct tf_error *err);
void rank_device_close(struct rank_device *device);

TF_WARN_UNUSED enum tf_status rank_device_alloc(
	struct rank_device *device, uint64_t bytes, void **out, struct tf_error *err);
void rank_device_free(struct rank_device *device, void *memory);
TF_WARN_UNUSED enum tf_status rank_device_write(
	struct rank_device *device, void *to, const void *from, uint64_t bytes, struct tf_error *err);
TF_WARN_UNUSED enum tf_status rank_device_read(
	struct rank_device *device, void *to, const void *from, uint64_t bytes, struct tf_error *err);

/* tf_nccl_stream_wait_fn, and `enter` of a communicator; `user` is the device. */
enum tf_status rank_device_wait(void *user, int64_t deadline_ns, struct tf_error *err);
enum tf_status rank_device_enter(void *user, struct tf_error *err);

/* Bytes of the device in use by everybody, or 0 where it does not say. */
uint64_t rank_device_used_bytes(struct rank_device *device);

#endif
