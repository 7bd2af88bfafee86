/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory order of words that carry their own arrival (ll, sentinel).
 *
 * They are stored and loaded relaxed; one release fence before a call's first store and one
 * acquire fence after its last load order the calls. ThreadSanitizer does not model fences, so
 * under it each word is a release or an acquire of its own.
 */
#ifndef TF_RUNTIME_COLLECTIVE_ORDER_H
#define TF_RUNTIME_COLLECTIVE_ORDER_H

#if defined(__SANITIZE_THREAD__)
#define TF_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TF_THREAD_SANITIZER 1
#endif
#endif

#ifdef TF_THREAD_SANITIZER
#define TF_WORD_STORE __ATOMIC_RELEASE
#define TF_WORD_LOAD  __ATOMIC_ACQUIRE
static inline void tf_fence_release(void)
{
}
static inline void tf_fence_acquire(void)
{
}
#else
#define TF_WORD_STORE __ATOMIC_RELAXED
#define TF_WORD_LOAD  __ATOMIC_RELAXED
static inline void tf_fence_release(void)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
}
static inline void tf_fence_acquire(void)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}
#endif

#endif
