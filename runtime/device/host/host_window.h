/* SPDX-License-Identifier: Apache-2.0 */
/* Segments and windows of the host device: the segment_ and window_ operations of the table. */
#ifndef TF_RUNTIME_DEVICE_HOST_HOST_WINDOW_H
#define TF_RUNTIME_DEVICE_HOST_HOST_WINDOW_H

#include "runtime/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A multiple of every page size in use (4, 16, 64 KiB), so that a layout fits all machines. */
#define TF_HOST_GRANULARITY UINT64_C(65536)

enum tf_status tf_host_segment_create(
	struct tf_device *device, uint64_t bytes, int *out_fd, struct tf_error *err);
enum tf_status tf_host_window_open(struct tf_device *device,
	const uint8_t token[TF_WINDOW_TOKEN_BYTES], uint64_t base, uint64_t stride, uint32_t world,
	struct tf_window **out, struct tf_error *err);
uint64_t tf_host_window_base(const struct tf_window *window);
enum tf_status tf_host_window_map(
	struct tf_window *window, uint32_t rank, int fd, uint64_t bytes, struct tf_error *err);
enum tf_status tf_host_window_map_own(struct tf_window *window, struct tf_device *device,
	uint32_t rank, uint64_t off, int fd, uint64_t bytes, struct tf_error *err);
void tf_host_window_close(struct tf_window *window);

#ifdef __cplusplus
}
#endif
#endif
