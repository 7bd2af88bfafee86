/* SPDX-License-Identifier: Apache-2.0 */
/* Writing what foreign kernels bring: images on the host, parameters, touched buffers, proofs. */
#include "catalog/catalog_insert.h"
#include "catalog/schema.h"

static enum tf_status write_host_images(
	sqlite3 *db, const struct tf_program *program, struct tf_error *err)
{
	struct tf_insert insert;

	tf_insert_open(&insert, db, "host_image", 2, err);
	for (uint32_t i = 0; i < program->module_count; i++) {
		const struct tf_module *module = &program->modules[i];

		if (module->kind != TF_MODULE_HOST || module->member == TF_PROGRAM_NONE)
			continue;
		tf_insert_uint(&insert, i);
		tf_insert_uint(&insert, module->member);
		if (!tf_insert_row(&insert))
			break;
	}
	return tf_insert_close(&insert);
}

static int insert_params(
	struct tf_insert *insert, const struct tf_program *program, uint32_t kernel)
{
	const struct tf_kernel *owner = &program->kernels[kernel];

	for (uint32_t i = 0; i < owner->params_count; i++) {
		const struct tf_kernel_param *param = &program->kernel_params[owner->params_first + i];

		tf_insert_uint(insert, kernel);
		tf_insert_uint(insert, i);
		tf_insert_uint(insert, param->arg_off);
		tf_insert_uint(insert, param->bytes);
		if (!tf_insert_row(insert))
			return 0;
	}
	return 1;
}

static enum tf_status write_params(
	sqlite3 *db, const struct tf_program *program, struct tf_error *err)
{
	struct tf_insert insert;

	tf_insert_open(&insert, db, "kernel_param", 4, err);
	for (uint32_t i = 0; i < program->kernel_count; i++) {
		if (!insert_params(&insert, program, i))
			break;
	}
	return tf_insert_close(&insert);
}

static enum tf_status write_touched(
	sqlite3 *db, const struct tf_program *program, struct tf_error *err)
{
	struct tf_insert insert;

	tf_insert_open(&insert, db, "touched", 1, err);
	for (uint32_t i = 0; i < program->touched_count; i++) {
		tf_insert_uint(&insert, program->touched[i]);
		if (!tf_insert_row(&insert))
			break;
	}
	return tf_insert_close(&insert);
}

static enum tf_status write_proofs(
	sqlite3 *db, const struct tf_program *program, struct tf_error *err)
{
	struct tf_insert insert;

	tf_insert_open(&insert, db, "proof", 4, err);
	for (uint32_t i = 0; i < program->proof_count; i++) {
		const struct tf_proof *proof = &program->proofs[i];

		tf_insert_uint(&insert, proof->capacity);
		tf_insert_uint(&insert, proof->seed);
		tf_insert_uint(&insert, proof->rank);
		tf_insert_blob(&insert, proof->digest, sizeof(proof->digest));
		if (!tf_insert_row(&insert))
			break;
	}
	return tf_insert_close(&insert);
}

enum tf_status tf_write_foreign(sqlite3 *db, const struct tf_program *program, struct tf_error *err)
{
	TF_TRY(TF_SQL(db, err, sqlite3_exec(db, tf_catalog_schema_foreign, NULL, NULL, NULL)));
	TF_TRY(write_host_images(db, program, err));
	TF_TRY(write_params(db, program, err));
	TF_TRY(write_touched(db, program, err));
	return write_proofs(db, program, err);
}
