/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in module: tables of C functions, registered once each, and the digest that names
 * their ABI. A module handle is a copy of what was registered when it was loaded, or a user's
 * shared object with the kernels that were asked for so far.
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
#include "runtime/device/host/host_object.h"
#include "runtime/device/module_digest.h"

struct table {
	const struct tf_host_kernel *kernels;
	size_t count;
	const char *abi;
};

static pthread_mutex_t tables_lock = PTHREAD_MUTEX_INITIALIZER;
static struct table tables[TF_HOST_TABLES_MAX];
static size_t table_count;

/* A kernel of a user's object, kept so that its handle stays where it is. */
struct user_kernel {
	struct user_kernel *next;
	struct tf_kernel_handle handle;
	const struct tfrun_host_params *params; /* of the object */
	char name[TF_NAME_BYTES];
};

struct tf_module_handle {
	struct tf_host_object *object; /* NULL: built in */
	struct user_kernel *user_kernels;
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

	digest_tables(built_in);
	return tf_module_digest_match(
		"host module", "this build's kernels have", built_in, wanted, err);
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
				(struct tf_kernel_handle){kernel->name, kernel->fn, kernel->args_bytes, NULL};
		}
	*out = module;
	return TF_OK;
}

static enum tf_status load_object(const void *image, size_t bytes, const uint8_t digest[32],
	struct tf_module_handle **out, struct tf_error *err)
{
	struct tf_module_handle *module = tf_calloc(1, sizeof(*module));
	enum tf_status status;

	if (!module)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a host module");
	status = tf_host_object_open(image, bytes, digest, &module->object, err);
	if (status != TF_OK) {
		tf_free(module);
		return status;
	}
	*out = module;
	return TF_OK;
}

enum tf_status tf_host_module_load(struct tf_device *device, const void *image, size_t bytes,
	const uint8_t digest[32], struct tf_module_handle **out, struct tf_error *err)
{
	enum tf_status status;

	(void)device;
	if (image)
		return load_object(image, bytes, digest, out, err);
	pthread_mutex_lock(&tables_lock);
	status = check_digest(digest, err);
	if (status == TF_OK)
		status = copy_tables(out, err);
	pthread_mutex_unlock(&tables_lock);
	return status;
}

void tf_host_module_unload(struct tf_module_handle *module)
{
	if (!module)
		return;
	while (module->user_kernels) {
		struct user_kernel *kernel = module->user_kernels;

		module->user_kernels = kernel->next;
		tf_free(kernel);
	}
	tf_host_object_close(module->object);
	tf_free(module);
}

static uint32_t args_bytes_of(const struct tfrun_host_params *params)
{
	const struct tfrun_host_param *last = &params->params[params->count - 1];

	return last->off + last->bytes;
}

/* A kernel of the object, looked up once. */
static enum tf_status user_kernel(struct tf_module_handle *module, const char *name,
	const struct user_kernel **out, struct tf_error *err)
{
	const struct tfrun_host_params *params;
	tfrun_host_kernel_fn fn;
	struct user_kernel *kernel = module->user_kernels;

	while (kernel && strcmp(kernel->name, name) != 0)
		kernel = kernel->next;
	if (kernel) {
		*out = kernel;
		return TF_OK;
	}
	if (strlen(name) >= TF_NAME_BYTES)
		return TF_FAIL(err, TF_E_NOT_FOUND, "kernel '%s' has too long a name", name);
	TF_TRY(tf_host_object_kernel(module->object, name, &fn, &params, err));
	kernel = tf_calloc(1, sizeof(*kernel));
	if (!kernel)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for kernel '%s'", name);
	memcpy(kernel->name, name, strlen(name));
	kernel->params = params;
	kernel->handle = (struct tf_kernel_handle){kernel->name, NULL, args_bytes_of(params), fn};
	kernel->next = module->user_kernels;
	module->user_kernels = kernel;
	*out = kernel;
	return TF_OK;
}

/* The kernel of either kind of module; `out_params` stays NULL for a built-in one. */
static enum tf_status find(struct tf_module_handle *module, const char *name,
	const struct tf_kernel_handle **out, const struct tfrun_host_params **out_params,
	struct tf_error *err)
{
	const struct user_kernel *user = NULL;

	if (module->object) {
		TF_TRY(user_kernel(module, name, &user, err));
		*out = &user->handle;
		*out_params = user->params;
		return TF_OK;
	}
	for (size_t k = 0; k < module->count; k++) {
		if (strcmp(module->kernels[k].name, name) != 0)
			continue;
		*out = &module->kernels[k];
		*out_params = NULL;
		return TF_OK;
	}
	return TF_FAIL(err, TF_E_NOT_FOUND, "kernel '%s' is not among the %zu of the host module", name,
		module->count);
}

enum tf_status tf_host_kernel_find(struct tf_module_handle *module, const char *name,
	uint32_t args_bytes, const struct tf_kernel_handle **out, struct tf_error *err)
{
	const struct tf_kernel_handle *kernel = NULL;
	const struct tfrun_host_params *params;

	TF_TRY(find(module, name, &kernel, &params, err));
	if (kernel->args_bytes != args_bytes)
		return TF_FAIL(err, TF_E_MISFIT,
			"kernel '%s': an argument struct of %u bytes is asked for, this build's has %u", name,
			args_bytes, kernel->args_bytes);
	*out = kernel;
	return TF_OK;
}

enum tf_status tf_host_kernel_params(struct tf_module_handle *module, const char *name,
	struct tf_exec_param *out, uint32_t max, uint32_t *out_count, struct tf_error *err)
{
	const struct tf_kernel_handle *kernel = NULL;
	const struct tfrun_host_params *params = NULL;
	uint32_t count;

	TF_TRY(find(module, name, &kernel, &params, err));
	count = params ? params->count : 1;
	if (count > max)
		return TF_FAIL(err, TF_E_LIMIT, "kernel '%s': %u parameters, at most %u", name, count, max);
	if (!params)
		out[0] = (struct tf_exec_param){0, kernel->args_bytes};
	for (uint32_t i = 0; params && i < count; i++)
		out[i] = (struct tf_exec_param){params->params[i].off, params->params[i].bytes};
	*out_count = count;
	return TF_OK;
}
