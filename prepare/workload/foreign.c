/* SPDX-License-Identifier: Apache-2.0 */
/* What a step holds beside collectives, as objects: sizes, images, files, and their end. */
#include "prepare/workload/foreign.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "ladders/text_file.h"

uint64_t tf_foreign_size_at(const struct tf_foreign_size *size, uint32_t rows)
{
	uint64_t value = size->factor * (size->per_row ? rows : 1);

	return value / size->divisor + (value % size->divisor != 0);
}

const struct tf_foreign_operand *tf_foreign_operand_of(
	const struct tf_foreign *foreign, const char *group)
{
	for (uint32_t i = 0; foreign && i < foreign->operand_count; i++) {
		if (!strcmp(foreign->operands[i].group, group))
			return &foreign->operands[i];
	}
	return NULL;
}

const struct tf_foreign_image *tf_foreign_image_for(
	const struct tf_foreign_module *module, const char *device, uint32_t compute_capability)
{
	char exact[TF_FOREIGN_DEVICE_BYTES];
	const struct tf_foreign_image *any = NULL;

	if (!strcmp(device, "host"))
		snprintf(exact, sizeof(exact), "host");
	else
		snprintf(exact, sizeof(exact), "sm_%u", compute_capability % 10000);
	for (uint32_t i = 0; i < module->image_count; i++) {
		if (!strcmp(module->images[i].device, exact))
			return &module->images[i];
		if (!strcmp(module->images[i].device, device))
			any = &module->images[i];
	}
	return any;
}

/* PTX is a text, and the driver looks for its end. */
static enum tf_status end_ptx(struct tf_bytes *bytes, struct tf_error *err)
{
	static const uint8_t elf[] = {0x7f, 'E', 'L', 'F'}, fatbin[] = {0x50, 0xed, 0x55, 0xba};

	if (bytes->size < 4 || !memcmp(bytes->data, elf, 4) || !memcmp(bytes->data, fatbin, 4) ||
		!bytes->data[bytes->size - 1])
		return TF_OK;
	return tf_bytes_append(bytes, "", 1, err);
}

static enum tf_status load(const char *path, int is_image, struct tf_bytes *bytes,
	uint8_t digest[TF_DIGEST_BYTES], struct tf_error *err)
{
	if (bytes->size)
		return TF_OK;
	TF_TRY(tf_text_file_read(
		path, is_image ? TF_FOREIGN_IMAGE_MAX : TF_FOREIGN_CONSTANT_MAX, bytes, err));
	if (!bytes->size)
		return TF_FAIL(err, TF_E_INVALID, "'%s' is empty", path);
	if (is_image)
		TF_TRY(end_ptx(bytes, err));
	crypto_hash_sha256(digest, bytes->data, bytes->size);
	return TF_OK;
}

static enum tf_status load_module(
	struct tf_foreign_module *module, int on_host, struct tf_error *err)
{
	for (uint32_t i = 0; i < module->image_count; i++) {
		struct tf_foreign_image *image = &module->images[i];
		enum tf_status status;

		if (on_host != !strcmp(image->device, "host"))
			continue;
		status = load(image->path, 1, &image->bytes, image->digest, err);
		if (status != TF_OK) {
			tf_error_prefix(err, "module '%s' for %s", module->name, image->device);
			return status;
		}
	}
	return TF_OK;
}

enum tf_status tf_foreign_load(struct tf_foreign *foreign, const char *device, struct tf_error *err)
{
	for (uint32_t i = 0; i < foreign->module_count; i++)
		TF_TRY(load_module(&foreign->modules[i], !strcmp(device, "host"), err));
	for (uint32_t i = 0; i < foreign->buffer_count; i++) {
		struct tf_foreign_buffer *buffer = &foreign->buffers[i];
		uint64_t bytes = buffer->elements * tf_dtype_bytes(buffer->dtype);

		if (buffer->role != TF_BUFFER_CONSTANT)
			continue;
		TF_TRY(load(buffer->path, 0, &buffer->bytes, buffer->digest, err));
		if (buffer->bytes.size != bytes)
			return TF_FAIL(err, TF_E_INVALID,
				"constant '%s': '%s' has %zu bytes, %llu elements of %s are %llu", buffer->name,
				buffer->path, buffer->bytes.size, (unsigned long long)buffer->elements,
				tf_dtype_name(buffer->dtype), (unsigned long long)bytes);
	}
	return TF_OK;
}

void tf_foreign_destroy(struct tf_foreign *foreign)
{
	if (!foreign)
		return;
	for (uint32_t i = 0; foreign->buffers && i < foreign->buffer_count; i++) {
		tf_free(foreign->buffers[i].path);
		tf_bytes_fini(&foreign->buffers[i].bytes);
	}
	for (uint32_t i = 0; foreign->modules && i < foreign->module_count; i++) {
		struct tf_foreign_module *module = &foreign->modules[i];

		for (uint32_t k = 0; module->images && k < module->image_count; k++) {
			tf_free(module->images[k].path);
			tf_bytes_fini(&module->images[k].bytes);
		}
		tf_free(module->images);
	}
	tf_free(foreign->buffers);
	tf_free(foreign->modules);
	tf_free(foreign->kernels);
	tf_free(foreign->operands);
	tf_free(foreign->calls);
	tf_free(foreign);
}
