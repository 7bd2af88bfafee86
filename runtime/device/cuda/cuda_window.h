/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of CUDA devices: the window_ operations of the table. */
#ifndef TF_RUNTIME_DEVICE_CUDA_CUDA_WINDOW_H
#define TF_RUNTIME_DEVICE_CUDA_CUDA_WINDOW_H

#include "runtime/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum tf_status tf_cuda_window_open(struct tf_device *device,
	const uint8_t token[TF_WINDOW_TOKEN_BYTES], uint64_t base, uint64_t stride, uint32_t world,
	struct tf_window **out, struct tf_error *err);
uint64_t tf_cuda_window_base(const struct tf_window *window);
enum tf_status tf_cuda_window_map(
	struct tf_window *window, uint32_t rank, int fd, uint64_t bytes, struct tf_error *err);
enum tf_status tf_cuda_window_map_own(struct tf_window *window, struct tf_device *device,
	uint32_t rank, uint64_t off, int fd, uint64_t bytes, struct tf_error *err);
void tf_cuda_window_close(struct tf_window *window);

/* Whether one mapped segment of this process holds [address, address + bytes). Any thread. */
int tf_cuda_window_covers(uint64_t address, uint64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
