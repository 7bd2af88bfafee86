/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planning, second part: the modules, kernels and constants that a workload brings itself. Which of
 * a kernel's argument words are addresses is left open here; prepare/capture/foreign_capture.h
 * finds out.
 */
#ifndef TF_PREPARE_TUNE_PLAN_FOREIGN_H
#define TF_PREPARE_TUNE_PLAN_FOREIGN_H

#include "catalog/program.h"
#include "prepare/workload/foreign.h"
#include "runtime/device/device.h"
#include "runtime/graph/rebuild_modules.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Adds to a program that tf_plan has filled. Loads each module once to ask for the parameters of
 * its kernels, and compares them with the arguments that the workload gives. TF_E_NOT_FOUND: a
 * module has no image for this device, or a kernel is not in it; TF_E_INVALID: arguments that do
 * not fit (both are named). Any of module_load and kernel_params.
 */
TF_WARN_UNUSED enum tf_status tf_plan_foreign(const struct tf_foreign *foreign,
	const struct tf_device_ops *ops, struct tf_device *device, struct tf_program *program,
	struct tf_error *err);

/* The loaded image with that digest; {0} where `foreign` (may be NULL) has none. Borrowed. */
struct tf_module_image tf_plan_foreign_image(
	const struct tf_foreign *foreign, const uint8_t digest[TF_DIGEST_BYTES]);

/* The same for images and constants: what fills a member of the package. */
const struct tf_bytes *tf_plan_foreign_member(
	const struct tf_foreign *foreign, const uint8_t digest[TF_DIGEST_BYTES]);

/* The program's kernel that a kernel of the workload is. */
uint32_t tf_plan_foreign_kernel(
	const struct tf_program *program, const struct tf_foreign *foreign, uint32_t kernel);

/* Bytes of an argument; its place in the struct is the next multiple of them. */
uint32_t tf_plan_argument_bytes(const struct tf_foreign_argument *argument);

#ifdef __cplusplus
}
#endif
#endif
