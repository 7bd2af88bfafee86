/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random operands with AVX2: the same loops, vectorised by the compiler. Empty on other machines.
 */
#if defined(__x86_64__)
#include "runtime/collective/operand_random.h"

void tf_operand_random_avx2(enum tf_dtype dtype, uint32_t own_key, uint32_t shared_key,
	uint32_t rank, uint64_t count, void *out)
{
	fill_random(dtype, own_key, shared_key, rank, count, out);
}
#endif
