/* SPDX-License-Identifier: Apache-2.0 */
/* Our copy of NCCL's types against nccl.h: what differs does not compile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <nccl.h>

#include "runtime/comm/nccl/nccl_types.h"

#define SAME(ours, theirs) _Static_assert((long long)(ours) == (long long)(theirs), #theirs)
#define SAME_MEMBER(ours, theirs)                                                                  \
	SAME(offsetof(struct tf_nccl_config, ours), offsetof(ncclConfig_t, theirs))

SAME(TF_NCCL_VERSION(2, 19, 3), NCCL_VERSION(2, 19, 3));
SAME(sizeof(struct tf_nccl_unique_id), sizeof(ncclUniqueId));
SAME(TF_NCCL_SUCCESS, ncclSuccess);
SAME(TF_NCCL_UNHANDLED_CUDA_ERROR, ncclUnhandledCudaError);
SAME(TF_NCCL_SYSTEM_ERROR, ncclSystemError);
SAME(TF_NCCL_INTERNAL_ERROR, ncclInternalError);
SAME(TF_NCCL_INVALID_ARGUMENT, ncclInvalidArgument);
SAME(TF_NCCL_INVALID_USAGE, ncclInvalidUsage);
SAME(TF_NCCL_REMOTE_ERROR, ncclRemoteError);
SAME(TF_NCCL_IN_PROGRESS, ncclInProgress);
SAME(TF_NCCL_UNDEF, NCCL_CONFIG_UNDEF_INT);
SAME(TF_NCCL_SPLIT_NOCOLOR, NCCL_SPLIT_NOCOLOR);
SAME(TF_NCCL_SUM, ncclSum);
SAME(TF_NCCL_FLOAT16, ncclFloat16);
SAME(TF_NCCL_FLOAT32, ncclFloat32);
SAME(TF_NCCL_BFLOAT16, ncclBfloat16);
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
SAME(TF_NCCL_WIN_COLL_SYMMETRIC, NCCL_WIN_COLL_SYMMETRIC);
#endif
SAME_MEMBER(size, size);
SAME_MEMBER(magic, magic);
SAME_MEMBER(version, version);
SAME_MEMBER(blocking, blocking);
SAME_MEMBER(cga_cluster_size, cgaClusterSize);
SAME_MEMBER(min_ctas, minCTAs);
SAME_MEMBER(max_ctas, maxCTAs);
SAME_MEMBER(net_name, netName);
SAME_MEMBER(split_share, splitShare);

static void test_config(void **state)
{
	struct tf_nccl_config ours = TF_NCCL_CONFIG_DEFAULT;
	ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;

	(void)state;
	assert_int_equal(ours.magic, theirs.magic);
	assert_int_equal(ours.blocking, theirs.blocking);
	assert_int_equal(ours.split_share, theirs.splitShare);
	assert_true(ours.size <= theirs.size && ours.version <= theirs.version);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_config)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
