/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NCCL's functions, resolved at run time: the only way to NCCL in the tree. What is listed here is
 * what may be called. No policy: blocking or not, splits, deadlines and aborts are the caller's.
 */
#ifndef TF_RUNTIME_COMM_NCCL_NCCL_API_H
#define TF_RUNTIME_COMM_NCCL_NCCL_API_H

#include "base/error.h"
#include "runtime/comm/nccl/nccl_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* 2.19: ncclMemAlloc; ncclCommSplit and its configuration are of 2.18. */
#define TF_NCCL_VERSION_MIN TF_NCCL_VERSION(2, 19, 0)
/* From here on windows, and with NCCL_WIN_COLL_SYMMETRIC the symmetric kernels. */
#define TF_NCCL_VERSION_WINDOWS TF_NCCL_VERSION(2, 27, 0)

/*
 * X(name, since, parameters): each returns enum tf_nccl_result. A member is NULL in a library that
 * is older than `since`.
 */
#define TF_NCCL_CALLS(X)                                                                           \
	X(ncclGetVersion, TF_NCCL_VERSION_MIN, (int *version))                                         \
	X(ncclGetUniqueId, TF_NCCL_VERSION_MIN, (struct tf_nccl_unique_id * id))                       \
	X(ncclCommInitRankConfig, TF_NCCL_VERSION_MIN,                                                 \
		(struct tf_nccl_comm * *comm, int world, struct tf_nccl_unique_id id, int rank,            \
			struct tf_nccl_config *config))                                                        \
	X(ncclCommSplit, TF_NCCL_VERSION_MIN,                                                          \
		(struct tf_nccl_comm * comm, int color, int key, struct tf_nccl_comm **split,              \
			struct tf_nccl_config *config))                                                        \
	X(ncclCommGetAsyncError, TF_NCCL_VERSION_MIN, (struct tf_nccl_comm * comm, int *result))       \
	X(ncclCommFinalize, TF_NCCL_VERSION_MIN, (struct tf_nccl_comm * comm))                         \
	X(ncclCommDestroy, TF_NCCL_VERSION_MIN, (struct tf_nccl_comm * comm))                          \
	X(ncclCommAbort, TF_NCCL_VERSION_MIN, (struct tf_nccl_comm * comm))                            \
	X(ncclAllReduce, TF_NCCL_VERSION_MIN,                                                          \
		(const void *from, void *to, size_t count, int dtype, int op, struct tf_nccl_comm *comm,   \
			struct CUstream_st *stream))                                                           \
	X(ncclAllGather, TF_NCCL_VERSION_MIN,                                                          \
		(const void *from, void *to, size_t send_count, int dtype, struct tf_nccl_comm *comm,      \
			struct CUstream_st *stream))                                                           \
	X(ncclReduceScatter, TF_NCCL_VERSION_MIN,                                                      \
		(const void *from, void *to, size_t receive_count, int dtype, int op,                      \
			struct tf_nccl_comm *comm, struct CUstream_st *stream))                                \
	X(ncclGroupStart, TF_NCCL_VERSION_MIN, (void))                                                 \
	X(ncclGroupEnd, TF_NCCL_VERSION_MIN, (void))                                                   \
	X(ncclMemAlloc, TF_NCCL_VERSION_MIN, (void **out, size_t bytes))                               \
	X(ncclMemFree, TF_NCCL_VERSION_MIN, (void *memory))                                            \
	X(ncclCommWindowRegister, TF_NCCL_VERSION_WINDOWS,                                             \
		(struct tf_nccl_comm * comm, void *memory, size_t bytes, struct tf_nccl_window **out,      \
			int flags))                                                                            \
	X(ncclCommWindowDeregister, TF_NCCL_VERSION_WINDOWS,                                           \
		(struct tf_nccl_comm * comm, struct tf_nccl_window * window))

/* X(name, since, parameters): each returns a text of the library. */
#define TF_NCCL_TEXTS(X)                                                                           \
	X(ncclGetErrorString, TF_NCCL_VERSION_MIN, (int result))                                       \
	X(ncclGetLastError, TF_NCCL_VERSION_MIN, (struct tf_nccl_comm * comm))

/* Constant once it is filled. */
struct tf_nccl_api {
	int version; /* TF_NCCL_VERSION */
	/*
	 * Not NULL: a stand-in of NCCL's, which exports "fake_nccl_runs_on_host", as NCCL does not. Not
	 * 0 there: it works on the host's memory and, on a NULL stream, before the call returns.
	 */
	const int *runs_on_host;
#define TF_NCCL_MEMBER(name, since, parameters) int(*name) parameters;
	TF_NCCL_CALLS(TF_NCCL_MEMBER)
#undef TF_NCCL_MEMBER
#define TF_NCCL_MEMBER(name, since, parameters) const char *(*name)parameters;
	TF_NCCL_TEXTS(TF_NCCL_MEMBER)
#undef TF_NCCL_MEMBER
};

/*
 * The table, filled once a process; it and the library stay for the process's life, because NCCL
 * leaves threads of its own behind. Initialises no device. Any thread.
 * TF_E_UNAVAILABLE: no library (every name tried, and the loader's words), an NCCL older than
 * TF_NCCL_VERSION_MIN, or one that lacks a function of its version, by name. TF_E_NO_MEMORY.
 */
TF_WARN_UNUSED enum tf_status tf_nccl_api_open(
	const struct tf_nccl_api **out, struct tf_error *err);

/*
 * TF_OK for ncclSuccess, and for ncclInProgress: on a non-blocking communicator that is how a call
 * begins, and ncclCommGetAsyncError says how it ends. Else the error holds the call's text,
 * NCCL's words for the code and, where it has any, for what happened last; `native` is the code.
 * TF_E_DISCONNECTED: ncclRemoteError, a peer ended; TF_E_SYSTEM: every other code.
 */
enum tf_status tf_nccl_check(const struct tf_nccl_api *api, int result, const char *call,
	struct tf_error *err, const char *file, int line);

/* TF_NCCL(api, err, ncclGroupEnd()): calls through the table and checks. */
#define TF_NCCL(api, err, call) tf_nccl_check((api), (api)->call, #call, (err), __FILE__, __LINE__)

/* "2.28.3", into `out`, which holds TF_NCCL_VERSION_BYTES; returns it. */
#define TF_NCCL_VERSION_BYTES 32
const char *tf_nccl_version_text(int version, char *out);

#ifdef __cplusplus
}
#endif
#endif
