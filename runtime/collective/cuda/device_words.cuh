/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory accesses of the kernels, and the vectors they move.
 *
 * Nothing here is cached in the first-level cache: what peers write is seen in the own second
 * level, where it is stored, and peers' memory is read anew each time. Words that carry their own
 * arrival are relaxed at system scope; only flags release and acquire.
 */
#ifndef TF_RUNTIME_COLLECTIVE_CUDA_DEVICE_WORDS_CUH
#define TF_RUNTIME_COLLECTIVE_CUDA_DEVICE_WORDS_CUH

#include <stdint.h>

#include "runtime/collective/control.h"

#define TF_FN static __device__ __forceinline__

/* N words of payload in registers; 8 or 16 bytes. */
template <int N> struct tf_vec {
	uint32_t w[N];
};

/* f(FIRST) ... f(END - 1): unrolled, so that f may index registers; or as a loop, to be small. */
template <bool UNROLLED, uint32_t FIRST, uint32_t END, class F> TF_FN void tf_each(const F &f)
{
	if constexpr (UNROLLED) {
#pragma unroll
		for (uint32_t i = FIRST; i < END; i++)
			f(i);
	} else {
#pragma unroll 1
		for (uint32_t i = FIRST; i < END; i++)
			f(i);
	}
}

/* The value is made here, not where it is used: before a wait, not behind it. */
TF_FN void tf_pin(uint32_t &value)
{
	asm volatile("" : "+r"(value)::"memory");
}

TF_FN void tf_pin(uint64_t &value)
{
	asm volatile("" : "+l"(value)::"memory");
}

TF_FN void tf_pin(const uint8_t *&value)
{
	asm volatile("" : "+l"(value)::"memory");
}

TF_FN uint32_t tf_load_gpu(const uint32_t *from)
{
	uint32_t word;

	asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(from) : "memory");
	return word;
}

TF_FN uint32_t tf_load_sys(const uint32_t *from)
{
	uint32_t word;

	asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(word) : "l"(from) : "memory");
	return word;
}

TF_FN uint64_t tf_load_sys(const uint64_t *from)
{
	uint64_t word;

	asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(word) : "l"(from) : "memory");
	return word;
}

TF_FN void tf_store_sys(uint32_t *to, uint32_t word)
{
	asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(to), "r"(word) : "memory");
}

TF_FN void tf_store_release(uint32_t *to, uint32_t word)
{
	asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(to), "r"(word) : "memory");
}

TF_FN void tf_fence_sys()
{
	asm volatile("fence.acq_rel.sys;" ::: "memory");
}

TF_FN void tf_fence_gpu()
{
	asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

TF_FN struct tf_epoch_word tf_load_epoch(const struct tf_epoch_word *from)
{
	uint64_t word;

	asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(from) : "memory");
	return {(uint32_t)word, (uint32_t)(word >> 32)};
}

TF_FN void tf_store_epoch(struct tf_epoch_word *to, struct tf_epoch_word v)
{
	const uint64_t word = (uint64_t)v.turn << 32 | v.epoch;

	asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(word) : "memory");
}

TF_FN tf_vec<4> tf_load_line(const uint8_t *from)
{
	tf_vec<4> v;

	asm volatile("ld.relaxed.sys.global.v4.u32 {%0, %1, %2, %3}, [%4];"
				 : "=r"(v.w[0]), "=r"(v.w[1]), "=r"(v.w[2]), "=r"(v.w[3])
				 : "l"(from)
				 : "memory");
	return v;
}

TF_FN void tf_store_line(uint8_t *to, const tf_vec<4> &v)
{
	asm volatile("st.relaxed.sys.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(v.w[0]),
				 "r"(v.w[1]), "r"(v.w[2]), "r"(v.w[3])
				 : "memory");
}

/* A line of two 8-byte words, each stored and seen whole. */
TF_FN void tf_store_pair(uint8_t *to, uint64_t a, uint64_t b)
{
	asm volatile("st.relaxed.sys.global.v2.b64 [%0], {%1, %2};" ::"l"(to), "l"(a), "l"(b)
				 : "memory");
}

TF_FN void tf_load_pair(const uint8_t *from, uint64_t *out_a, uint64_t *out_b)
{
	asm volatile("ld.relaxed.sys.global.v2.b64 {%0, %1}, [%2];"
				 : "=l"(*out_a), "=l"(*out_b)
				 : "l"(from)
				 : "memory");
}

TF_FN tf_vec<2> tf_load_half_line(const uint8_t *from)
{
	tf_vec<2> v;

	asm volatile("ld.relaxed.sys.global.v2.u32 {%0, %1}, [%2];"
				 : "=r"(v.w[0]), "=r"(v.w[1])
				 : "l"(from)
				 : "memory");
	return v;
}

TF_FN uint32_t tf_load_half(const uint8_t *from)
{
	uint16_t half;

	asm volatile("ld.relaxed.sys.global.u16 %0, [%1];" : "=h"(half) : "l"(from) : "memory");
	return half;
}

TF_FN tf_vec<4> tf_load_whole(const uint8_t *from, const tf_vec<4> *)
{
	return tf_load_line(from);
}

TF_FN tf_vec<2> tf_load_whole(const uint8_t *from, const tf_vec<2> *)
{
	return tf_load_half_line(from);
}

TF_FN void tf_store_whole(uint8_t *to, const tf_vec<4> &v)
{
	*(uint4 *)to = make_uint4(v.w[0], v.w[1], v.w[2], v.w[3]);
}

TF_FN void tf_store_whole(uint8_t *to, const tf_vec<2> &v)
{
	*(uint2 *)to = make_uint2(v.w[0], v.w[1]);
}

/* The same element by element; elements have even sizes and addresses. */
template <int N>
static __device__ __noinline__ tf_vec<N> tf_read_pieces(const uint8_t *from, int64_t left)
{
	tf_vec<N> v;

#pragma unroll
	for (int i = 0; i < N; i++) {
		uint32_t low = left > 4 * i ? tf_load_half(from + 4 * i) : 0;
		uint32_t high = left > 4 * i + 2 ? tf_load_half(from + 4 * i + 2) : 0;

		v.w[i] = low | high << 16;
	}
	return v;
}

template <int N>
static __device__ __noinline__ void tf_write_pieces(uint8_t *to, int64_t left, tf_vec<N> v)
{
#pragma unroll
	for (int i = 0; i < N; i++) {
		if (left > 4 * i)
			*(uint16_t *)(to + 4 * i) = (uint16_t)v.w[i];
		if (left > 4 * i + 2)
			*(uint16_t *)(to + 4 * i + 2) = (uint16_t)(v.w[i] >> 16);
	}
}

/*
 * A vector of an operand of which `left` bytes remain (may be none or negative); zeros beyond
 * them. WHOLE: all of it is there, and aligned.
 */
template <int N, bool WHOLE> TF_FN tf_vec<N> tf_read(const uint8_t *from, int64_t left)
{
	if constexpr (WHOLE)
		return tf_load_whole(from, (const tf_vec<N> *)nullptr);
	else
		return tf_read_pieces<N>(from, left);
}

/* The counterpart: stores the first `left` bytes of v, at most all. Plain stores. */
template <int N, bool WHOLE> TF_FN void tf_write(uint8_t *to, int64_t left, const tf_vec<N> &v)
{
	if constexpr (WHOLE)
		tf_store_whole(to, v);
	else
		tf_write_pieces<N>(to, left, v);
}

/* Programmatic launch; no effect where the launch has no programmatic edge. */
TF_FN void tf_grid_wait()
{
#if __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

TF_FN void tf_grid_trigger()
{
#if __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

TF_FN uint64_t tf_device_ns()
{
	uint64_t ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
	return ns;
}

#endif
