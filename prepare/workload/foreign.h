/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a workload's step holds beside collectives: kernels of the user's own, the modules that they
 * come from, and the buffers that they work on. docs/WORKLOADS.md is the language.
 *
 * Nothing here says which argument words are addresses: that is found by capturing.
 */
#ifndef TF_PREPARE_WORKLOAD_FOREIGN_H
#define TF_PREPARE_WORKLOAD_FOREIGN_H

#include "base/bytes.h"
#include "base/dtype.h"
#include "base/error.h"
#include "catalog/program.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_FOREIGN_BUFFERS_MAX   256
#define TF_FOREIGN_MODULES_MAX   64
#define TF_FOREIGN_IMAGES_MAX    16 /* a module: host, any GPU, and compute capabilities */
#define TF_FOREIGN_KERNELS_MAX   256
#define TF_FOREIGN_ARGUMENTS_MAX 32
#define TF_FOREIGN_CALLS_MAX     1024 /* entries of `step` */
#define TF_FOREIGN_DEVICE_BYTES  16
#define TF_FOREIGN_IMAGE_MAX     (UINT64_C(1) << 28) /* bytes of a module's file */
#define TF_FOREIGN_CONSTANT_MAX  (UINT64_C(1) << 32) /* bytes of a constant's file */

/* factor, times the rows where per_row, divided by divisor and rounded up. */
struct tf_foreign_size {
	uint64_t factor, divisor; /* at least 1 */
	int per_row;
};

struct tf_foreign_buffer {
	char name[TF_NAME_BYTES];
	enum tf_buffer_role role; /* input, output, constant or work */
	enum tf_dtype dtype;
	uint64_t elements; /* a row's where per_row, else all */
	int per_row;
	char *path;            /* constants: their file */
	struct tf_bytes bytes; /* of it; tf_foreign_load */
	uint8_t digest[TF_DIGEST_BYTES];
};

struct tf_foreign_image {
	char device[TF_FOREIGN_DEVICE_BYTES]; /* "host", "sm_90", or "cuda" for any GPU */
	char *path;
	struct tf_bytes bytes; /* of it; tf_foreign_load */
	uint8_t digest[TF_DIGEST_BYTES];
};

struct tf_foreign_module {
	char name[TF_NAME_BYTES];
	struct tf_foreign_image *images;
	uint32_t image_count;
};

enum tf_foreign_kind {
	TF_FOREIGN_BUFFER = 0, /* 8 bytes: where it lies, plus `value` bytes */
	TF_FOREIGN_WORD,       /* 4 bytes: u32, i32, f32 */
	TF_FOREIGN_WIDE,       /* 8 bytes: u64 */
	TF_FOREIGN_ROWS        /* 4 bytes: the capacity */
};

struct tf_foreign_argument {
	enum tf_foreign_kind kind;
	char buffer[TF_NAME_BYTES];
	int is_read_only; /* the kernel only reads through it */
	uint64_t value;   /* bits of a scalar, or byte offset in the buffer */
};

struct tf_foreign_kernel {
	char name[TF_NAME_BYTES];     /* what `step` calls it */
	char function[TF_NAME_BYTES]; /* what its module calls it */
	uint32_t module;
	struct tf_foreign_size grid[3], block[3], shared;
	int programmatic; /* it waits for the launch before it itself, and lets the next one begin */
	struct tf_foreign_argument arguments[TF_FOREIGN_ARGUMENTS_MAX];
	uint32_t argument_count;
};

/* A collective whose operands bear names. "" where one has none. */
struct tf_foreign_operand {
	char group[TF_NAME_BYTES];
	char input[TF_NAME_BYTES], output[TF_NAME_BYTES];
};

struct tf_foreign_call {
	int is_kernel;
	uint32_t kernel;           /* is_kernel: in kernels */
	char group[TF_NAME_BYTES]; /* else: a collective */
};

struct tf_foreign {
	struct tf_foreign_buffer *buffers;
	uint32_t buffer_count;
	struct tf_foreign_module *modules;
	uint32_t module_count;
	struct tf_foreign_kernel *kernels;
	uint32_t kernel_count;
	struct tf_foreign_operand *operands;
	uint32_t operand_count;
	struct tf_foreign_call *calls;
	uint32_t call_count;
	uint32_t repeat; /* how often a step goes through `calls` */
};

uint64_t tf_foreign_size_at(const struct tf_foreign_size *size, uint32_t rows);

/* The names of a collective's operands, or NULL. */
const struct tf_foreign_operand *tf_foreign_operand_of(
	const struct tf_foreign *foreign, const char *group);

/*
 * The image for a device: the host's, or that of the compute capability, or the one for any GPU;
 * NULL where the module has none.
 */
const struct tf_foreign_image *tf_foreign_image_for(
	const struct tf_foreign_module *module, const char *device, uint32_t compute_capability);

/*
 * Reads the files of all constants, and of the images that the device kind ("host", "cuda") can
 * have use for. TF_E_NOT_FOUND, TF_E_INVALID and others of tf_text_file_read; names the file and
 * what it is for.
 */
TF_WARN_UNUSED enum tf_status tf_foreign_load(
	struct tf_foreign *foreign, const char *device, struct tf_error *err);

void tf_foreign_destroy(struct tf_foreign *foreign); /* takes NULL */

#ifdef __cplusplus
}
#endif
#endif
