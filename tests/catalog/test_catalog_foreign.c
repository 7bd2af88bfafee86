/* SPDX-License-Identifier: Apache-2.0 */
/* What schema 1.1 adds: written and read back, absent where a program has none, and its faults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "catalog/catalog_read.h"
#include "catalog/catalog_write.h"
#include "tests/catalog/sample_program.h"

#define PARTS (TF_CATALOG_STARTUP | TF_CATALOG_SAMPLES)

static void *room(void *old, uint32_t count, size_t bytes)
{
	void *grown = tf_reallocarray(old, count, bytes);

	assert_non_null(grown);
	return grown;
}

/* The sample program with kernel 3 as a user's, from a shared object, and proofs for two seeds. */
static void make(struct tf_program *program)
{
	static const struct tf_kernel_param params[] = {{0, 4}, {4, 8}, {12, 8}};

	sample_program_make(program);
	program->modules = room(program->modules, 3, sizeof(program->modules[0]));
	program->modules[2] = (struct tf_module){.name = "user", .kind = TF_MODULE_HOST, .member = 3};
	memcpy(program->modules[2].digest, program->members[3].digest, TF_DIGEST_BYTES);
	program->module_count = 3;
	program->kernels[3].module = 2;
	program->kernels[3].params_count = 3;
	program->kernel_params = room(NULL, 3, sizeof(params[0]));
	memcpy(program->kernel_params, params, sizeof(params));
	program->kernel_param_count = 3;
	program->touched = room(NULL, 2, sizeof(program->touched[0]));
	program->touched[0] = 2;
	program->touched[1] = 12;
	program->touched_count = 2;
	program->proofs = room(NULL, 9, sizeof(program->proofs[0]));
	for (uint32_t i = 0; i < 9; i++) {
		program->proofs[i] =
			(struct tf_proof){.capacity = i < 6 ? 1 : 8, .seed = i < 3 ? 4 : 9, .rank = i % 3};
		memset(program->proofs[i].digest, (int)(i + 1), TF_DIGEST_BYTES);
	}
	program->proof_count = 9;
}

static void test_round_trip(void **state)
{
	struct tf_program program, read = {0};
	struct tf_bytes image = {0}, again = {0};
	struct tf_error err = {0};

	(void)state;
	make(&program);
	if (tf_catalog_write(&program, &image, &err) != TF_OK ||
		tf_catalog_read(image.data, image.size, PARTS, &read, &err) != TF_OK)
		fail_msg("%s", err.text);
	assert_int_equal(image.data[63], (1000 + TF_CATALOG_FOREIGN_MINOR) & 0xff);
	assert_null(sample_program_difference(&program, &read));
	assert_int_equal(read.modules[2].member, 3);
	assert_int_equal(read.kernels[3].params_count, 3);
	assert_int_equal(read.kernels[0].params_count, 0);
	assert_int_equal(read.kernel_params[2].arg_off, 12);
	assert_int_equal(read.touched_count, 2);
	assert_true(tf_program_is_touched(&read, 12) && !tf_program_is_touched(&read, 3));
	assert_int_equal(read.proof_count, 9);
	assert_memory_equal(&read.proofs[8].digest, &program.proofs[8].digest, TF_DIGEST_BYTES);
	assert_int_equal(read.proofs[5].seed, 9);
	assert_int_equal(tf_catalog_write(&read, &again, &err), TF_OK);
	assert_int_equal(again.size, image.size);
	assert_memory_equal(again.data, image.data, image.size);
	tf_program_fini(&program);
	tf_program_fini(&read);
	tf_bytes_fini(&image);
	tf_bytes_fini(&again);
}

/* A program without foreign kernels is written as before: old readers know it. */
static void test_absent(void **state)
{
	struct tf_program program, read = {0};
	struct tf_bytes image = {0};
	struct tf_error err = {0};

	(void)state;
	sample_program_make(&program);
	assert_false(tf_program_has_foreign(&program));
	assert_int_equal(tf_catalog_write(&program, &image, &err), TF_OK);
	assert_int_equal(image.data[63], 1000 & 0xff);
	assert_null(memmem(image.data, image.size, "host_image", 10));
	assert_int_equal(tf_catalog_read(image.data, image.size, PARTS, &read, &err), TF_OK);
	assert_int_equal(read.proof_count, 0);
	tf_program_fini(&program);
	tf_program_fini(&read);
	tf_bytes_fini(&image);
}

#define FAULTS(X)                                                                                  \
	X(param_overlap, "kernel 3 'sum': parameter 1: 8 bytes at 3", p->kernel_params[1].arg_off = 3) \
	X(param_empty, "parameter 0: 0 bytes", p->kernel_params[0].bytes = 0)                          \
	X(param_past, "parameter 2 passes the 20 bytes", p->kernel_params[2].bytes = 9)                \
	X(param_range, "parameters 1 + 3 pass the 3", p->kernels[3].params_first = 1)                  \
	X(word_outside, "word 'y' at arg_off 12 lies in no parameter", p->kernel_params[2].bytes = 4)  \
	X(peer, "launch 4 of foreign kernel 'sum': the word at arg_off 4 lies in the segment of peer", \
		(p->launch_words[7].peer = 1, p->launch_words[7].segment_off = 49152))                     \
	X(protocol_memory, "the word at arg_off 4, offset 64, lies in no declared buffer",             \
		p->launch_words[7].segment_off = 64)                                                       \
	X(protocol_buffer, "offset 36864, lies in no declared buffer",                                 \
		p->launch_words[7].segment_off = 36864)                                                    \
	X(touched_range, "touched 1: buffer is 14", p->touched[1] = 14)                                \
	X(touched_order, "touched 1: buffer is 2", p->touched[1] = 2)                                  \
	X(proof_rank, "proof 1: capacity 1, seed 4, rank 2 is out of order", p->proofs[1].rank = 2)    \
	X(proof_seed, "proof 4: capacity 1, seed 10, rank 1 is out of order", p->proofs[4].seed = 10)  \
	X(proof_twice, "proof 3: capacity 1, seed 4, rank 0 is out of order",                          \
		p->proofs[3].seed = p->proofs[4].seed = p->proofs[5].seed = 4)                             \
	X(proof_capacity, "capacity is 0", p->proofs[0].capacity = 0)                                  \
	X(proof_short, "8 proofs, the last seed lacks ranks of 3", p->proof_count = 8)                 \
	X(image_digest, "module 2 'user': digest differs", p->modules[2].digest[0] ^= 1)

#define PLANT(name, words, fault)                                                                  \
	static void plant_##name(struct tf_program *p)                                                 \
	{                                                                                              \
		(void)(fault);                                                                             \
	}
FAULTS(PLANT)

static void test_faults(void **state)
{
#define ROW(name, words, fault) {words, plant_##name},
	static const struct {
		const char *words;
		void (*plant)(struct tf_program *program);
	} rows[] = {FAULTS(ROW)};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tf_error err = {0};
		struct tf_program program;

		make(&program);
		assert_int_equal(tf_program_check(&program, &err), TF_OK);
		rows[i].plant(&program);
		if (tf_program_check(&program, &err) != TF_E_INVALID || !strstr(err.text, rows[i].words))
			fail_msg("wanted \"%s\", got \"%s\"", rows[i].words, err.text);
		tf_program_fini(&program);
	}
}

static void test_no_memory(void **state)
{
	struct tf_bytes image = {0};
	struct tf_program program;
	int failures = 0;

	(void)state;
	make(&program);
	assert_int_equal(tf_catalog_write(&program, &image, NULL), TF_OK);
	for (uint64_t nth = 1;; nth++) {
		struct tf_program read = {0};
		enum tf_status status;

		tf_alloc_fail_at(nth);
		status = tf_catalog_read(image.data, image.size, PARTS, &read, NULL);
		tf_alloc_fail_at(0);
		tf_program_fini(&read);
		if (status == TF_OK)
			break;
		assert_int_equal(status, TF_E_NO_MEMORY);
		failures++;
	}
	assert_true(failures > 20);
	tf_program_fini(&program);
	tf_bytes_fini(&image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
