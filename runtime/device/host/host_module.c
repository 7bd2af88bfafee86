/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in module: tables of C functions, registered once each, and the digest that names
 * their ABI. A module handle is a copy of what was registered when it was loaded.
 *
 * Invariants: tables are only appended, under the lock; kernel names are unique over all tables.
 */
#include "runtime/device/host/host_module.h"

#include <assert.h>
#include <pthread.h>
#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "runtime/device/host/host_node.h"

struct table {
	const struct tf_host_kernel *kernels;
	size_t count;
	const char *abi;
};

static pthread_mutex_t tables_lock = PTHREAD_MUTEX_INITIALIZER;
static struct table tables[TF_HOST_TABLES_MAX];
static size_t table_count;

struct tf_module_handle {
	size_t count;
	struct tf_kernel_handle kernels[]; /* (count) */
};

static int is_registered(const char *name)
{
	for (size_t t = 0; t < table_count; t++)
		for (size_t k = 0; k < tables[t].count; k++)
			if (strcmp(tables[t].kernels[k].name, name) == 0)
				return 1;
	return 0;
}

/* Whether the table may be appended; called under the lock. */
static int is_acceptable(const struct tf_host_kernel *kernels, size_t count)
{
	if (table_count == TF_HOST_TABLES_MAX)
		return 0;
	for (size_t k = 0; k < count; k++) {
		if (is_registered(kernels[k].name) || kernels[k].args_bytes > TF_EXEC_ARGS_BYTES_MAX)
			return 0;
		for (size_t before = 0; before < k; before++)
			if (strcmp(kernels[before].name, kernels[k].name) == 0)
				return 0;
	}
	return 1;
}

void tf_host_module_register(const struct tf_host_kernel *kernels, size_t count, const char *abi)
{
	int acceptable;

	pthread_mutex_lock(&tables_lock);
	acceptable = is_acceptable(kernels, count);
	if (acceptable)
		tables[table_count++] = (struct table){kernels, count, abi};
	pthread_mutex_unlock(&tables_lock);
	assert(
		acceptable && "a kernel is registered twice, is too large, or there are too many tables");
	(void)acceptable;
}

/*
 * Texts enter with their end, numbers as 8 little-endian bytes: no two module states look alike.
 */
static void digest_tables(uint8_t out[32])
{
	crypto_hash_sha256_state state;
	uint8_t number[8];

	crypto_hash_sha256_init(&state);
	for (size_t t = 0; t < table_count; t++) {
		const struct table *table = &tables[t];

		crypto_hash_sha256_update(&state, (const uint8_t *)table->abi, strlen(table->abi) + 1);
		tf_put_le64(number, table->count);
		crypto_hash_sha256_update(&state, number, sizeof(number));
		for (size_t k = 0; k < table->count; k++) {
			const char *name = table->kernels[k].name;

			crypto_hash_sha256_update(&state, (const uint8_t *)name, strlen(name) + 1);
			tf_put_le64(number, table->kernels[k].args_bytes);
			crypto_hash_sha256_update(&state, number, sizeof(number));
		}
	}
	crypto_hash_sha256_final(&state, out);
}

void tf_host_module_digest(uint8_t out[32])
{
	pthread_mutex_lock(&tables_lock);
	digest_tables(out);
	pthread_mutex_unlock(&tables_lock);
}

static enum tf_status check_digest(const uint8_t wanted[32], struct tf_error *err)
{
	uint8_t built_in[TF_DIGEST_BYTES];
	char wanted_hex[TF_DIGEST_HEX_BYTES], built_in_hex[TF_DIGEST_HEX_BYTES];

	digest_tables(built_in);
	if (memcmp(built_in, wanted, sizeof(built_in)) == 0)
		return TF_OK;
	tf_hex(wanted, TF_DIGEST_BYTES, wanted_hex);
	tf_hex(built_in, TF_DIGEST_BYTES, built_in_hex);
	return TF_FAIL(err, TF_E_MISFIT,
		"host module: digest '%s' is asked for, this build's kernels have '%s'", wanted_hex,
		built_in_hex);
}

static enum tf_status copy_tables(struct tf_module_handle **out, struct tf_error *err)
{
	struct tf_module_handle *module;
	size_t count = 0;

	for (size_t t = 0; t < table_count; t++)
		count += tables[t].count;
	module = tf_calloc(1, sizeof(*module) + count * sizeof(module->kernels[0]));
	if (!module)
		return TF_FAIL(err, TF_E_NO_MEMORY, "host module: no memory for %zu kernels", count);
	for (size_t t = 0; t < table_count; t++)
		for (size_t k = 0; k < tables[t].count; k++) {
			const struct tf_host_kernel *kernel = &tables[t].kernels[k];

			module->kernels[module->count++] =
				(struct tf_kernel_handle){kernel->name, kernel->fn, kernel->args_bytes};
		}
	*out = module;
	return TF_OK;
}

enum tf_status tf_host_module_load(struct tf_device *device, const void *image, size_t bytes,
	const uint8_t digest[32], struct tf_module_handle **out, struct tf_error *err)
{
	enum tf_status status;

	(void)device, (void)image, (void)bytes;
	pthread_mutex_lock(&tables_lock);
	status = check_digest(digest, err);
	if (status == TF_OK)
		status = copy_tables(out, err);
	pthread_mutex_unlock(&tables_lock);
	return status;
}

void tf_host_module_unload(struct tf_module_handle *module)
{
	tf_free(module);
}

enum tf_status tf_host_kernel_find(struct tf_module_handle *module, const char *name,
	uint32_t args_bytes, const struct tf_kernel_handle **out, struct tf_error *err)
{
	for (size_t k = 0; k < module->count; k++) {
		const struct tf_kernel_handle *kernel = &module->kernels[k];

		if (strcmp(kernel->name, name) != 0)
			continue;
		if (kernel->args_bytes != args_bytes)
			return TF_FAIL(err, TF_E_MISFIT,
				"kernel '%s': an argument struct of %u bytes is asked for, this build's has %u",
				name, args_bytes, kernel->args_bytes);
		*out = kernel;
		return TF_OK;
	}
	return TF_FAIL(err, TF_E_NOT_FOUND, "kernel '%s' is not among the %zu of the host module", name,
		module->count);
}
