/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an engine's thread has current when it calls us, and putting it back. Operations of a device
 * make their own context current and leave it so; around a public call these two hide that.
 */
#ifndef TF_RUNTIME_DEVICE_CALLER_CONTEXT_H
#define TF_RUNTIME_DEVICE_CALLER_CONTEXT_H

#ifdef __cplusplus
extern "C" {
#endif

struct tf_caller_context {
	void *handle; /* NULL: none */
};

/*
 * Makes a driver that this process has loaded known to us, so that the other two see it; loads
 * nothing that is not there. Once before the first of them, not in a step.
 */
void tf_caller_context_learn(void);

/* No lock, no allocation. */
void tf_caller_context_note(struct tf_caller_context *out);
void tf_caller_context_put_back(const struct tf_caller_context *noted);

#ifdef __cplusplus
}
#endif
#endif
