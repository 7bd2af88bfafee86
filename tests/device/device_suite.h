/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conformance suite of devices: every backend passes the same tests. device_cts KIND runs it
 * and skips (77) only where the backend is unavailable.
 */
#ifndef TF_TESTS_DEVICE_DEVICE_SUITE_H
#define TF_TESTS_DEVICE_DEVICE_SUITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/device/device.h"
#include "tests/device/device_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The backend under test; set before the first group runs. */
extern const struct tf_device_ops *suite_ops;

#define SUITE_WAIT_NS INT64_C(30000000000) /* far above what any passing test needs */

/* Whether the backend under test is the host device. */
int suite_on_host(void);

/* The device that rank `rank` of this machine opens: SUITE_DEVICES of the environment, else 1. */
uint32_t suite_ordinal(uint32_t rank);

/* The test kernels: built into the host device, an image elsewhere. */
enum tf_status suite_module_load(const struct tf_device_ops *ops, struct tf_device *device,
	struct tf_module_handle **out, struct tf_error *err);
void suite_module_digest(uint8_t out[32]);
const void *suite_module_image(size_t *out_bytes); /* NULL on the host device */

/* A device with everything a test of streams and graphs needs; suite_setup makes one a test. */
struct suite_rig {
	const struct tf_device_ops *ops;
	struct tf_device *device;
	struct tf_device_properties properties;
	struct tf_module_handle *module;
	struct tf_stream *stream;
	struct tf_window *window; /* two ranks, both mapped, SUITE_SEGMENT_GRANULES each */
	uint8_t *memory;          /* the first rank's segment; the CPU may not touch it */
	uint64_t stride;
	struct tf_error err;
};

#define SUITE_SEGMENT_GRANULES 16

int suite_setup(void **state);
int suite_teardown(void **state);

/* Fails the test with the error's own text. */
#define assert_ok(call, error)                                                                     \
	do {                                                                                           \
		enum tf_status got_ = (call);                                                              \
		if (got_ != TF_OK)                                                                         \
			fail_msg("%s: %s", tf_status_name(got_), (error)->text);                               \
	} while (0)

/* The call returns `wanted` and the error says `words`. */
#define assert_refused(call, wanted, error, words)                                                 \
	suite_assert_refused((call), (wanted), (error), (words), __FILE__, __LINE__)
void suite_assert_refused(enum tf_status got, enum tf_status wanted, const struct tf_error *error,
	const char *words, const char *file, int line);

/* A token that no other call in this process returns. */
void suite_token(uint8_t out[TF_WINDOW_TOKEN_BYTES]);

/* Opens a window at the first base of tf_window_bases that is free. */
enum tf_status suite_window_open(const struct tf_device_ops *ops, struct tf_device *device,
	const uint8_t *token, uint64_t stride, uint32_t world, struct tf_window **out,
	struct tf_error *err);

/* Bytes from and to the window, by the device's own operations; they cannot fail. */
void suite_get(struct suite_rig *rig, const void *from, void *to, size_t bytes);
void suite_put(struct suite_rig *rig, void *to, const void *from, size_t bytes);

/* The log at the start of the rig's memory. */
struct test_log *suite_log(struct suite_rig *rig);
uint32_t suite_log_count(struct suite_rig *rig);
void suite_log_clear(struct suite_rig *rig);
uint32_t suite_log_value(struct suite_rig *rig, uint32_t index);

const struct tf_kernel_handle *suite_kernel(
	struct suite_rig *rig, const char *name, uint32_t args_bytes);

/* A launch of one thread; `args` is borrowed. */
struct tf_launch_call suite_call(
	struct suite_rig *rig, const char *name, const void *args, uint32_t args_bytes);

/* The second process of a test of two, at its end of a socket; its exit code. */
int suite_ranks_peer(int socket);

/* The groups of the suite. */
const struct CMUnitTest *suite_device_tests(size_t *out_count);
const struct CMUnitTest *suite_window_tests(size_t *out_count);
const struct CMUnitTest *suite_ranks_tests(size_t *out_count);
const struct CMUnitTest *suite_stream_tests(size_t *out_count);
const struct CMUnitTest *suite_graph_tests(size_t *out_count);
const struct CMUnitTest *suite_comm_tests(size_t *out_count);

#ifdef __cplusplus
}
#endif
#endif
