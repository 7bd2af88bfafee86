/* SPDX-License-Identifier: Apache-2.0 */
/* Loading a program's modules: all of them, or none and the reason. */
#include "tests/graph/graph_rig.h"

#include "base/alloc.h"
#include "tests/device/device_kernels.h"

static enum tf_status load(struct graph_rig *rig, struct tf_rebuild_modules *out)
{
	return tf_rebuild_modules_load(
		&rig->test.program, &tf_host_device_ops, rig->device, NULL, out, &rig->err);
}

static void test_kernels_by_index(void **state)
{
	struct graph_rig *rig = *state;

	assert_int_equal(rig->modules.kernel_count, TEST_KERNELS);
	assert_non_null(rig->modules.kernels[KERNEL_MIX]);
	assert_non_null(rig->modules.kernels[KERNEL_STORE]);
	assert_ptr_not_equal(rig->modules.kernels[KERNEL_MIX], rig->modules.kernels[KERNEL_STORE]);
}

static void test_refuses(void **state)
{
	struct graph_rig *rig = *state;
	struct tf_module *module = &rig->test.modules[0];
	struct tf_kernel *kernel = &rig->test.kernels[KERNEL_STORE];
	struct tf_rebuild_modules modules = {0};

	module->digest[31] ^= 1;
	assert_refused(
		load(rig, &modules), TF_E_MISFIT, &rig->err, "module 'host': host module: digest");
	module->digest[31] ^= 1;
	module->kind = TF_MODULE_CUBIN;
	module->compute_capability = 90;
	assert_refused(load(rig, &modules), TF_E_MISFIT, &rig->err,
		"module 'host': it is for the device 'cuda', compute capability 90, this is 'host'");
	module->kind = (enum tf_module_kind)5;
	assert_refused(load(rig, &modules), TF_E_INVALID, &rig->err, "kind 5");
	module->kind = TF_MODULE_HOST;
	kernel->args_bytes = 24;
	assert_refused(load(rig, &modules), TF_E_MISFIT, &rig->err, "kernel 'test_store': an argument");
	kernel->args_bytes = sizeof(struct test_store_args);
	kernel->name[0] = 'b';
	assert_refused(load(rig, &modules), TF_E_NOT_FOUND, &rig->err, "kernel 'best_store'");
	kernel->name[0] = 't';
	kernel->module = 1;
	assert_refused(load(rig, &modules), TF_E_INVALID, &rig->err, "kernel 1: module 1, of 1");
	kernel->module = 0;
	assert_null(modules.modules);
	assert_ok(load(rig, &modules), &rig->err);
	tf_rebuild_modules_unload(&modules);
	tf_rebuild_modules_unload(&modules); /* empty now */
}

static void test_host_module_on_another_device(void **state)
{
	struct graph_rig *rig = *state;
	struct tf_rebuild_modules modules = {0};

	assert_refused(tf_rebuild_modules_load(
					   &rig->test.program, &tf_stub_device_ops, NULL, NULL, &modules, &rig->err),
		TF_E_MISFIT, &rig->err, "module 'host': it is for the device 'host'");
	assert_null(modules.modules);
}

static void test_no_memory(void **state)
{
	struct graph_rig *rig = *state;
	int failures = 0;

	for (uint64_t nth = 1;; nth++) {
		struct tf_rebuild_modules modules = {0};
		enum tf_status status;

		tf_alloc_fail_at(nth);
		status = load(rig, &modules);
		tf_alloc_fail_at(0);
		tf_rebuild_modules_unload(&modules);
		if (status == TF_OK)
			break;
		assert_refused(status, TF_E_NO_MEMORY, &rig->err, "no memory");
		failures++;
	}
	assert_true(failures >= 3);
}

#define RIGGED(test) cmocka_unit_test_setup_teardown(test, graph_rig_setup, graph_rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIGGED(test_kernels_by_index),
		RIGGED(test_refuses),
		RIGGED(test_host_module_on_another_device),
		RIGGED(test_no_memory),
	};

	test_kernels_register();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
