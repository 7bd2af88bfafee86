/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every rung of every built-in ladder, in every world, operation, data type and at sizes within
 * its own limits (odd ones among them), on random and on special operands: bytes equal the
 * reference.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "ladders/ladder.h"
#include "runtime/collective/order.h"
#include "tests/collective/ranks.h"

/*
 * Rungs for larger payloads are exercised at their smallest ones; beyond that only the loops get
 * longer.
 */
#ifdef TF_THREAD_SANITIZER
/* ThreadSanitizer keeps up to a kilobyte for every word that is accessed atomically. */
#define BYTES_USUAL   (UINT64_C(4) << 10)
#define BYTES_LARGEST (UINT64_C(8) << 10)
#else
#define BYTES_USUAL   (UINT64_C(24) << 10)
#define BYTES_LARGEST (UINT64_C(2100) << 10) /* above the smallest payload of any rung */
#endif
#ifdef TF_THREAD_SANITIZER
#define CASE_STEP 7
#else
#define CASE_STEP 1
#endif

struct plan {
	const struct tf_ladder *ladder;
	uint64_t seed;
	uint64_t cases; /* counted by rank 0 */
};

static const struct tf_collective_kernel *kernel_of(
	enum tf_op op, const struct tf_candidate *candidate)
{
	const char *name = tf_collective_kernel_name(op, candidate->algorithm, candidate->writer);
	uint32_t count;
	const struct tf_collective_kernel *kernels = tf_collective_kernels(&count);

	for (uint32_t i = 0; name && i < count; i++) {
		if (!strcmp(kernels[i].name, name))
			return &kernels[i];
	}
	return NULL;
}

/*
 * Elements for the k-th size of a rung: its smallest, an odd one above, a ragged one, one near
 * its largest. 0: none.
 */
static uint64_t count_for(const struct tf_rung *rung, uint32_t world, uint64_t width, uint32_t k)
{
	uint64_t align = rung->align_bytes > width ? rung->align_bytes : width;
	uint64_t first = (rung->bytes_min + align - 1) / align * align;
	uint64_t above = first > BYTES_USUAL ? first + 8 * align : BYTES_USUAL;
	uint64_t last = rung->bytes_max < above ? rung->bytes_max : above;
	const uint64_t sizes[] = {first, first + 7 * align, first + 1021 * align, last / align * align};
	uint64_t bytes = sizes[k] ? sizes[k] : align;

	/*
	 * Far-up rungs: their geometry on a ragged small payload, and once on a payload of their own.
	 */
	if (first > BYTES_USUAL && k != 1)
		return k == 2 ? (BYTES_USUAL - 3 * align) / width : 0;
	if (first > BYTES_USUAL && (width == 4 || world % 3 != 2 || above > BYTES_LARGEST - 64))
		return 0;

	return bytes > last || bytes < rung->bytes_min ? 0 : bytes / width;
}

static void rung_cases(
	struct ranks *ranks, uint32_t rank, const struct tf_rung *rung, struct plan *plan)
{
	const uint32_t combinations = TF_OP_COUNT * TF_DTYPE_COUNT * 4 * 2;

	for (uint32_t i = 0; i < combinations; i += CASE_STEP) {
		enum tf_op op = (enum tf_op)(i % TF_OP_COUNT);
		enum tf_dtype dtype = (enum tf_dtype)(i / TF_OP_COUNT % TF_DTYPE_COUNT);
		uint32_t k = i / (TF_OP_COUNT * TF_DTYPE_COUNT) % 4;
		struct ranks_call call = {
			.kernel = kernel_of(op, &rung->candidate),
			.dtype = dtype,
			.fill = i >= combinations / 2 ? TF_FILL_SPECIAL : TF_FILL_RANDOM,
			.count = count_for(rung, ranks->world, tf_dtype_bytes(dtype), k),
			.ctas = rung->candidate.ctas,
			.chunk_bytes = rung->candidate.chunk_bytes,
			.seed = plan->seed * 100000 + i,
		};

		if (!(rung->ops >> op & 1) || !(rung->dtypes >> dtype & 1) || !call.kernel || !call.count)
			continue;
		ranks_check(ranks, rank, &call);
		if (rank == 0)
			plan->cases++;
	}
}

static void ladder_cases(struct ranks *ranks, uint32_t rank, void *user)
{
	struct plan *plan = user;

	for (uint32_t i = 0; i < plan->ladder->rung_count; i++) {
		const struct tf_rung *rung = &plan->ladder->rungs[i];

		if (ranks->world < rung->world_min || ranks->world > rung->world_max ||
			rung->candidate.algorithm == TF_ALGORITHM_LIBRARY ||
			!(TF_WRITERS_AVAILABLE >> rung->candidate.writer & 1))
			continue;
		rung_cases(ranks, rank, rung, plan);
	}
}

static void every_rung(void **state)
{
	static const char *const classes[] = {"switched", "host-bridge", "ring", "fabric", "local"};

	(void)state;
	for (size_t c = 0; c < sizeof(classes) / sizeof(classes[0]); c++) {
		struct tf_ladder ladder = {0};

		assert_int_equal(tf_ladder_builtin(classes[c], &ladder, NULL), TF_OK);
		for (uint32_t world = TF_WORLD_MIN; world <= TF_WORLD_MAX; world++) {
			struct plan plan = {.ladder = &ladder, .seed = 10 * c + world};
			struct ranks ranks;

			ranks_init(&ranks, world, BYTES_LARGEST + 64, 0);
			ranks_threads(&ranks, ladder_cases, &plan);
			assert_int_equal(ranks_failures(&ranks), 0);
			assert_true(plan.cases > 10);
			ranks_fini(&ranks);
		}
		tf_ladder_fini(&ladder);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_rung)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
