/* SPDX-License-Identifier: Apache-2.0 */
/* The launches of a program, each stored once. */
#ifndef TF_PREPARE_CAPTURE_LAUNCH_STORE_H
#define TF_PREPARE_CAPTURE_LAUNCH_STORE_H

#include "catalog/program.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_LAUNCH_ARGS_MAX  4096 /* the kernel parameter limit that older GPUs have */
#define TF_LAUNCH_WORDS_MAX 64

/* A launch before it is known whether the program has it already. */
struct tf_launch_draft {
	struct tf_launch launch;
	uint8_t args[TF_LAUNCH_ARGS_MAX];
	struct tf_launch_word words[TF_LAUNCH_WORDS_MAX];
};

/* What finds a stored launch again; {0} is empty, also for a program that has launches already. */
struct tf_launch_store {
	uint32_t
		*table; /* (size), a power of two: open-addressed by hash, launch index + 1, 0 = free */
	uint32_t size, used;
};

/*
 * The index of the program's launch that equals `draft`; appends it (and sets its offsets) where
 * there is none. TF_E_NO_MEMORY.
 */
TF_WARN_UNUSED enum tf_status tf_launch_store_put(struct tf_launch_store *store,
	struct tf_program *program, struct tf_launch_draft *draft, uint32_t *out_launch,
	struct tf_error *err);
void tf_launch_store_fini(struct tf_launch_store *store);

#ifdef __cplusplus
}
#endif
#endif
