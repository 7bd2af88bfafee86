/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device: where memory, streams, kernels and graphs come from. Two implementations, host/ and
 * cuda/, behind one table of operations; tests/device/ is the conformance suite both must pass.
 *
 * The window. One range of addresses, [base, base + world * stride), holds all that graphs may
 * touch. Rank r's segment lies at base + r * stride in every process. Several ranks may live in
 * one process: the window is one object a process and token, counted by references, so that the
 * second rank of a process finds what the first has mapped.
 *
 * A window belongs to the process that opened it. A child made by fork does not inherit its
 * memory: it opens its own (same token, same base), and may only close a handle it inherited.
 * Fork while no other thread is opening, mapping or closing.
 *
 * Lifetimes: device > modules > kernel handles > graphs > streams that still hold them in their
 * queue.
 */
#ifndef TF_RUNTIME_DEVICE_DEVICE_H
#define TF_RUNTIME_DEVICE_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "base/dtype.h"
#include "base/error.h"
#include "runtime/device/comm_caller.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TF_WINDOW_TOKEN_BYTES 16

/*
 * Twice the largest segment that a catalog may ask for; eight of them fit a 47-bit address space.
 */
#define TF_WINDOW_STRIDE_MAX (UINT64_C(1) << 43)

/*
 * The catalog's own limits. A startup graph of 81 groups has about 61,000 nodes; argument bytes
 * are bounded by the hardware.
 */
#define TF_EXEC_NODES_MAX      (UINT32_C(1) << 22)
#define TF_EXEC_EDGES_MAX      (UINT32_C(1) << 24)
#define TF_EXEC_ARGS_BYTES_MAX 32764 /* of one launch */

#define TF_STREAM_NOTE_BYTES 256

#define TF_DEVICE_BUS_ID_BYTES 24 /* "0000:1A:00.0"; domains grow to eight digits */

/*
 * Bases to try for a window, in this order; the last is 0, "anywhere". The first three lie below
 * where programs and libraries are usually mapped and stay usable under AddressSanitizer and
 * ThreadSanitizer.
 */
#define TF_WINDOW_BASE_COUNT 5
extern const uint64_t tf_window_bases[TF_WINDOW_BASE_COUNT];

enum tf_device_capability {
	TF_DEVICE_PEER_WRITE = 1,
	TF_DEVICE_PEER_READ = 2,
	TF_DEVICE_PEER_ATOMIC = 4,
	TF_DEVICE_ADDRESSABLE = 8, /* the CPU may dereference window addresses */
	/* a communication library is to be called too; no device says so, its user does */
	TF_DEVICE_LIBRARY = 16,
};

struct tf_device_properties {
	char kind[16]; /* "host", "cuda" */
	/* equal in devices of one process that have default streams in common; 0 on the host */
	uint64_t context;
	uint32_t ordinal;            /* as this process's driver counts devices; 0 on the host */
	char model[TF_NAME_BYTES];   /* "host" on the host device: fleet machines differ in CPU model */
	uint32_t compute_capability; /* 90; 0 on the host */
	uint32_t sm_count;           /* 0 on the host: CTAs run one after the other there */
	uint64_t memory_bytes;       /* the host's physical memory on the host device */
	uint64_t granularity_bytes;  /* of segments; strides are multiples of it */
	uint32_t capabilities;       /* enum tf_device_capability */
};

struct tf_device; /* an opened device; used by one thread at a time */
struct tf_window;
struct tf_stream; /* used by one thread at a time */
struct tf_exec;   /* an executable graph; in one stream at a time */
struct tf_module_handle;
struct tf_kernel_handle;

/*
 * The launch may begin before the previous operation of its stream has ended: the kernel waits
 * for it itself (griddepcontrol.wait), before its first read and its first remote store. In a
 * graph the edges say so instead. The host device ignores it.
 */
#define TF_LAUNCH_PROGRAMMATIC 1

/* A CUDA stream's handle that means the legacy default stream: NULL, and CU_STREAM_LEGACY. */
static inline int tf_stream_is_legacy(const void *stream)
{
	return (uintptr_t)stream <= 1;
}

/* One kernel launch with final argument bytes. */
struct tf_launch_call {
	const struct tf_kernel_handle *kernel;
	uint32_t grid[3], block[3];
	uint32_t shared_bytes;
	const void *args;
	uint32_t args_bytes;
	uint32_t flags; /* TF_LAUNCH_PROGRAMMATIC or 0 */
};

/*
 * A graph with every address resolved, ready to be built; borrowed for the call of graph_build.
 */
struct tf_exec_node {
	int kind; /* enum tf_node_kind of catalog/program.h */
	struct tf_launch_call launch;
	void *to;
	const void *from;
	uint64_t bytes;
	uint32_t value;                /* SET: 0..255; COMM: the group */
	struct tf_comm_caller *caller; /* COMM; outlives the graph */
};

/* One argument of a kernel in its argument bytes. */
struct tf_exec_param {
	uint32_t off, bytes;
};

/*
 * Type 1 is programmatic, between kernels only. CUDA knows the ports 1 (the trigger; also meant
 * by 0) and 2 (all CTAs have begun) of such an edge; the host ignores ports.
 */
struct tf_exec_edge {
	uint32_t from, to;
	uint8_t type, from_port, to_port;
};

/*
 * Test and capture hook of a stream: sees each operation instead of the stream (nothing runs); a
 * graph is seen node by node, in the order in which it would run. `node` and its argument bytes
 * are borrowed for the call. Returning anything but TF_OK makes the launch fail with it.
 */
typedef enum tf_status (*tf_stream_tap_fn)(
	void *user, const struct tf_exec_node *node, struct tf_error *err);

struct tf_device_ops {
	const char *name;

	/* Opens device `ordinal` (host: 0 only). TF_E_UNAVAILABLE: absent, and why. */
	enum tf_status (*open)(uint32_t ordinal, struct tf_device **out, struct tf_error *err);
	/*
	 * The same as a guest in an engine's process. `which` names the device, NULL leaves it open.
	 * CUDA: an ordinal or a UUID; if the calling thread has a context of that device current (NULL:
	 * any context), the device is opened in it, and the context is borrowed until the last of
	 * device, window, module, stream and graph has ended; else in the primary context, as open
	 * does. NULL without a current context is device 0. Host: NULL or "0". TF_E_USAGE: `which` is
	 * no name of a device; TF_E_UNAVAILABLE.
	 */
	enum tf_status (*guest_open)(const char *which, struct tf_device **out, struct tf_error *err);
	void (*close)(struct tf_device *device); /* takes NULL */
	void (*properties)(const struct tf_device *device, struct tf_device_properties *out);
	/*
	 * Makes the device's context current on this thread, for calls of another library. Host:
	 * nothing.
	 */
	enum tf_status (*enter)(struct tf_device *device, struct tf_error *err);

	/*
	 * A shareable segment of `bytes` (a multiple of the granularity, at most
	 * TF_WINDOW_STRIDE_MAX; else TF_E_USAGE), zeroed, as a file descriptor owned by the caller.
	 * It can never change its size.
	 */
	enum tf_status (*segment_create)(
		struct tf_device *device, uint64_t bytes, int *out_fd, struct tf_error *err);

	/*
	 * The same of this machine's memory, which every device reaches without peer access: pinned
	 * for CUDA. TF_E_UNAVAILABLE: the device has no such memory, and why.
	 */
	enum tf_status (*host_segment_create)(
		struct tf_device *device, uint64_t bytes, int *out_fd, struct tf_error *err);

	/*
	 * Reserves the window at exactly `base` (0: anywhere), or attaches to the one this process
	 * holds for `token` (then stride and world must agree, and base too unless it is 0). Any
	 * thread.
	 * TF_E_MISFIT: the range is taken, or they do not agree; try another base.
	 * TF_E_USAGE: base or stride is no multiple of the granularity, or a number is out of its
	 * range.
	 */
	enum tf_status (*window_open)(struct tf_device *device,
		const uint8_t token[TF_WINDOW_TOKEN_BYTES], uint64_t base, uint64_t stride, uint32_t world,
		struct tf_window **out, struct tf_error *err);
	uint64_t (*window_base)(const struct tf_window *window);
	/*
	 * Maps rank's segment from `fd` (borrowed; need not stay open), read and write. Any thread. A
	 * rank whose segment is mapped already in this process is a success. TF_E_MISFIT: fd is
	 * shorter than `bytes`, or no segment of segment_create. TF_E_MISMATCH: the rank is mapped
	 * already, from another segment or with other bytes. TF_E_USAGE: rank or bytes are out of
	 * range. CUDA: `bytes` is the segment's size; every device of this process that opened the
	 * window may use the memory.
	 */
	enum tf_status (*window_map)(
		struct tf_window *window, uint32_t rank, int fd, uint64_t bytes, struct tf_error *err);
	/*
	 * Maps what is rank's alone behind its mapped segment, from `off` on, which is that segment's
	 * size: `fd` is a segment of `device`, and no other device may use it. Refusals are those of
	 * window_map; TF_E_MISMATCH also: a second one for the same rank; TF_E_USAGE: `off` is not
	 * where the rank's segment ends.
	 */
	enum tf_status (*window_map_own)(struct tf_window *window, struct tf_device *device,
		uint32_t rank, uint64_t off, int fd, uint64_t bytes, struct tf_error *err);
	/* Drops a reference; the last one unmaps and frees the range. Takes NULL. Any thread. */
	void (*window_close)(struct tf_window *window);

	/*
	 * Host copies from and to the window; synchronous, not on a stream: work that runs is not
	 * waited for. TF_E_USAGE: a NULL pointer; CUDA: a range that no mapped segment holds.
	 */
	enum tf_status (*read)(
		struct tf_device *device, void *to, const void *from, size_t bytes, struct tf_error *err);
	enum tf_status (*write)(
		struct tf_device *device, void *to, const void *from, size_t bytes, struct tf_error *err);

	/*
	 * A module by kind and bytes. Host: NULL means the built-in module, else a shared object as
	 * tfrun/host_kernel.h describes it (TF_E_INVALID: the loader refuses it). CUDA: a cubin, a
	 * fatbin, or PTX with its ending zero; NULL means the kernels of this build (TF_E_NOT_FOUND:
	 * none for this device). `digest` is checked: TF_E_MISFIT. Kernel handles live until
	 * module_unload, which takes NULL.
	 */
	enum tf_status (*module_load)(struct tf_device *device, const void *image, size_t bytes,
		const uint8_t digest[32], struct tf_module_handle **out, struct tf_error *err);
	void (*module_unload)(struct tf_module_handle *module);
	/* TF_E_NOT_FOUND: no such kernel; TF_E_MISFIT: its argument struct has another size. */
	enum tf_status (*kernel_find)(struct tf_module_handle *module, const char *name,
		uint32_t args_bytes, const struct tf_kernel_handle **out, struct tf_error *err);

	/*
	 * Where the arguments of a kernel lie, in order; `out` holds `max` of them. Built-in kernels
	 * have one, their struct. TF_E_NOT_FOUND: no such kernel; TF_E_LIMIT: more than `max`.
	 */
	enum tf_status (*kernel_params)(struct tf_module_handle *module, const char *name,
		struct tf_exec_param *out, uint32_t max, uint32_t *out_count, struct tf_error *err);

	/*
	 * A FIFO of operations. Host: operations run on the thread that waits (stream_wait), in
	 * order; nothing runs before. CUDA: they run from now on. Argument bytes are copied; graphs
	 * are borrowed until the wait has ended.
	 * TF_E_USAGE: an operation that cannot run (argument bytes of another size, an empty grid,
	 * NULL).
	 * TF_E_LIMIT: too many operations without a wait.
	 */
	enum tf_status (*stream_create)(
		struct tf_device *device, struct tf_stream **out, struct tf_error *err);
	/* Host: drops what is queued. CUDA: waits for it, some seconds at most. Takes NULL. */
	void (*stream_destroy)(struct tf_stream *stream);
	enum tf_status (*stream_launch)(
		struct tf_stream *stream, const struct tf_launch_call *call, struct tf_error *err);
	enum tf_status (*stream_copy)(
		struct tf_stream *stream, void *to, const void *from, uint64_t bytes, struct tf_error *err);
	enum tf_status (*stream_set)(
		struct tf_stream *stream, void *to, uint8_t value, uint64_t bytes, struct tf_error *err);
	/*
	 * What the call itself fails with is returned: on CUDA by this operation, on the host by
	 * stream_wait, which then ends there (the queue is dropped). TF_E_USAGE: NULL.
	 */
	enum tf_status (*stream_comm)(
		struct tf_stream *stream, const struct tf_comm_call *call, struct tf_error *err);
	enum tf_status (*stream_graph)(
		struct tf_stream *stream, struct tf_exec *exec, struct tf_error *err);
	/*
	 * Runs out the queue. Kernels bound their own waits; TF_E_TIMEOUT if `deadline_ns` passed
	 * before an operation could start (named; the queue is then dropped). An empty queue is a
	 * success. CUDA: TF_E_TIMEOUT if the operations are not done by then; they run on, and the
	 * next wait is for them too.
	 */
	enum tf_status (*stream_wait)(
		struct tf_stream *stream, int64_t deadline_ns, struct tf_error *err);
	/*
	 * Enqueues the reading of a few words of the window, at most TF_STREAM_NOTE_BYTES; *out_note
	 * holds them once the wait has ended, until the next note or the stream's end. Host: *out_note
	 * is `from` itself. The range is mapped: it is not checked. TF_E_USAGE: NULL, too many bytes.
	 */
	enum tf_status (*stream_note)(struct tf_stream *stream, const void *from, uint32_t bytes,
		const void **out_note, struct tf_error *err);
	/* NULL removes the tap. What is queued already stays queued. */
	void (*stream_tap)(struct tf_stream *stream, tf_stream_tap_fn fn, void *user);

	/*
	 * Builds and instantiates; copies all argument bytes. A node runs after every node with an
	 * edge to it; the host runs nodes one by one, the lowest index first among those that may
	 * run. CUDA: the addresses of copies and sets are mapped by now.
	 * COMM nodes: CUDA captures each different call (caller, group, operands) once, on a stream of
	 * its own, and puts it in as a child graph; the host calls when the node runs.
	 * TF_E_INVALID names the node (a cycle, a kind or operation it cannot run) or the edge;
	 * TF_E_LIMIT; what a caller's enqueue fails with, with the node's number. Launching allocates
	 * nothing. graph_destroy takes NULL, and ends before the callers it holds.
	 */
	enum tf_status (*graph_build)(struct tf_device *device, const struct tf_exec_node *nodes,
		uint32_t node_count, const struct tf_exec_edge *edges, uint32_t edge_count,
		struct tf_exec **out, struct tf_error *err);
	void (*graph_destroy)(struct tf_exec *exec);

	/*
	 * Puts the graph on a stream that is not ours; returns once it is there. No allocation of ours,
	 * no lock. CUDA: `stream` is a CUstream of the context of the graph's device; NULL and
	 * CU_STREAM_LEGACY are the legacy default stream, and CU_STREAM_PER_THREAD is allowed, both of
	 * the context that the thread has current. A stream that is being captured takes the graph as a
	 * child node instead. TF_E_USAGE: a stream of another context, or a default one of none; host:
	 * always.
	 */
	enum tf_status (*graph_enqueue)(struct tf_exec *exec, void *stream, struct tf_error *err);
};

/*
 * "host" or "cuda"; TF_E_UNAVAILABLE with the reason where this build or machine lacks it;
 * TF_E_USAGE for another word. Finding initialises nothing, opening does: a child by
 * fork of a process that has opened a CUDA device cannot use CUDA.
 */
TF_WARN_UNUSED enum tf_status tf_device_ops_find(
	const char *kind, const struct tf_device_ops **out, struct tf_error *err);

/*
 * How many devices of a kind this process may use: 1 for "host". Asking initialises the driver in
 * it, as opening does. TF_E_UNAVAILABLE: none, and why. Rank r of a host takes device r modulo
 * this.
 */
TF_WARN_UNUSED enum tf_status tf_device_count(
	const char *kind, uint32_t *out_count, struct tf_error *err);

/* The devices of a kind that this process may use. */
struct tf_device_roster {
	uint32_t count;
	/* PCI bus ids of the first, in the order in which ranks take them; "" on the host device */
	char bus_ids[TF_WORLD_MAX][TF_DEVICE_BUS_ID_BYTES];
};

/*
 * They are counted in a child process, so that the caller, which is single-threaded, may fork ranks
 * afterwards. TF_E_UNAVAILABLE: none, and why.
 */
TF_WARN_UNUSED enum tf_status tf_device_roster_read(
	const char *kind, struct tf_device_roster *out, struct tf_error *err);

/* They are counted in this process, as tf_device_count does. */
TF_WARN_UNUSED enum tf_status tf_device_roster_here(
	const char *kind, struct tf_device_roster *out, struct tf_error *err);

/*
 * What "auto" means here: CUDA where it is found with at least one device, else the host. Always
 * finds one; `why` (`why_bytes` long, may be NULL) gets the reason why it is not CUDA, or "". The
 * devices are counted in a child process, so that the caller may fork ranks afterwards; it is
 * single-threaded.
 */
void tf_device_ops_auto(const struct tf_device_ops **out, char *why, size_t why_bytes);

/*
 * Ranks are processes or threads of this machine, memory is shared memory, kernels are C
 * functions.
 */
extern const struct tf_device_ops tf_host_device_ops;

/* By the driver's API; only in builds with CUDA (tf_device_ops_find says). cuda/cuda_device.c. */
extern const struct tf_device_ops tf_cuda_device_ops;

/*
 * Does nothing: operations that can fail return TF_E_UNSUPPORTED with their name, the others have
 * no effect (properties are zero, window_base is 0). For tests, and for tables that are not
 * complete yet.
 */
extern const struct tf_device_ops tf_stub_device_ops;

/* A kernel of the host's built-in module. Runs all CTAs of the launch; `call` is borrowed. */
typedef void (*tf_host_kernel_fn)(const struct tf_launch_call *call);

struct tf_host_kernel {
	const char *name;
	tf_host_kernel_fn fn;
	uint32_t args_bytes; /* at most TF_EXEC_ARGS_BYTES_MAX */
};

#define TF_HOST_TABLES_MAX 8 /* collective/ has one, a test adds another */

/*
 * The host's built-in module: collective/ registers its table here before any device is opened,
 * each table once (`kernels` and all its texts are borrowed for ever). A kernel name registered
 * before is the caller's bug (assert), and leaves the module as it was. `abi` is a text that
 * changes whenever an argument struct or a protocol layout changes; SHA-256 of it and of the
 * kernels' names and sizes, table by table in the order of registration, is the module's digest.
 * Any thread.
 */
void tf_host_module_register(const struct tf_host_kernel *kernels, size_t count, const char *abi);
void tf_host_module_digest(uint8_t out[32]);

#ifdef __cplusplus
}
#endif
#endif
