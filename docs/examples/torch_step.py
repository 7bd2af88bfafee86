#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libtfrun inside PyTorch processes: one process a rank, in the context and on the stream of PyTorch.

    torch_step.py NAME.tfp [--world N] [--steps N]       # starts the ranks itself
    torchrun --nproc-per-node 2 torch_step.py NAME.tfp   # or they are started

libtfrun.so is found by the loader, or named in TFRUN_LIBRARY. The package's buffers become tensors without a copy
(__cuda_array_interface__): a step's inputs are written and its outputs read by PyTorch, on torch.cuda.current_stream().
Three times: on the default stream, on a stream of its own, and inside a CUDA graph that PyTorch captures. Each time
the outputs must equal, bit for bit, what PyTorch makes of the inputs of all ranks.
"""
import argparse
import ctypes
import os
import sys

TIMEOUT_MS = 10000
OUTPUT = 1
TYPES = {"bf16": ("<i2", "bfloat16"), "f16": ("<f2", "float16"), "f32": ("<f4", "float32")}


# The structs of tfrun.h, member for member.
class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("native", ctypes.c_int), ("text", ctypes.c_char * 1024)]


class Options(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t), ("rank", ctypes.c_uint32), ("world", ctypes.c_uint32),
        ("address", ctypes.c_char_p), ("secret", ctypes.c_char_p), ("link_fds", ctypes.POINTER(ctypes.c_int)),
        ("device", ctypes.c_char_p), ("timeout_ms", ctypes.c_uint32), ("capacity_max", ctypes.c_uint32),
        ("strict", ctypes.c_int),
    ]


class Launch(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t), ("rank", ctypes.c_uint32), ("world", ctypes.c_uint32),
        ("local_rank", ctypes.c_uint32), ("address", ctypes.c_char * 104),
    ]


class Buffer(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("role", ctypes.c_int), ("dtype", ctypes.c_char_p),
        ("capacity", ctypes.c_uint32), ("dims_count", ctypes.c_uint32), ("dims", ctypes.c_uint64 * 4),
        ("bytes", ctypes.c_size_t), ("data", ctypes.c_void_p), ("cuda_device", ctypes.c_int32),
    ]

    def shape(self):
        return tuple(self.dims[: self.dims_count])


class Array:
    """A buffer as other libraries see GPU memory; it stays libtfrun's."""

    def __init__(self, buffer):
        self.__cuda_array_interface__ = {
            "shape": buffer.shape(), "typestr": TYPES[buffer.dtype.decode()][0],
            "data": (buffer.data, False), "strides": None, "version": 3,
        }


class Session:
    def __init__(self, library, path, rank, world, address, device=None):
        self.library, self.handle, self.error = library, ctypes.c_void_p(), Error()
        options = Options(
            ctypes.sizeof(Options), rank, world, address.encode(), None, None, device and device.encode(), TIMEOUT_MS)
        self.check(library.tfrun_open(
            path.encode(), ctypes.byref(options), ctypes.byref(self.handle), ctypes.byref(self.error)))

    def check(self, status):
        if status:
            raise RuntimeError(self.error.text.decode())

    def buffers(self):
        for i in range(self.library.tfrun_buffer_count(self.handle)):
            buffer = Buffer(ctypes.sizeof(Buffer))
            self.check(self.library.tfrun_buffer_at(
                self.handle, ctypes.c_uint32(i), ctypes.byref(buffer), ctypes.byref(self.error)))
            yield buffer

    def enqueue(self, rows, stream):
        self.check(self.library.tfrun_step_enqueue(
            self.handle, ctypes.c_uint64(rows), ctypes.c_void_p(stream), ctypes.byref(self.error)))

    def status(self):
        self.check(self.library.tfrun_step_status(self.handle, ctypes.byref(self.error)))

    def close(self):
        self.library.tfrun_close(self.handle)


def load_library():
    return ctypes.CDLL(os.environ.get("TFRUN_LIBRARY", "libtfrun.so.0"))


def read_launch(library):
    """What torchrun told this process, or None."""
    launch, error = Launch(ctypes.sizeof(Launch)), Error()
    status = library.tfrun_launch_read(ctypes.byref(launch), ctypes.byref(error))
    return launch if not status else None


def pairs_of(session, capacity):
    """(input, output) buffers of a capacity, by their names: "exchange.c1.in.0" goes with "exchange.c1.out.0"."""
    by_name = {b.name.decode(): b for b in session.buffers() if b.capacity == capacity}
    return [(b, by_name[n.replace(".in.", ".out.")]) for n, b in by_name.items() if b.role != OUTPUT]


class Step:
    """One capacity of a session: its buffers as tensors, and what must come out of them."""

    def __init__(self, torch, session, rank, world, capacity):
        self.torch, self.session, self.rank, self.world, self.capacity = torch, session, rank, world, capacity
        self.pairs = [(self.tensor(i), self.tensor(o)) for i, o in pairs_of(session, capacity)]

    def tensor(self, buffer):
        tensor = self.torch.as_tensor(Array(buffer), device=f"cuda:{buffer.cuda_device}")
        return tensor.view(getattr(self.torch, TYPES[buffer.dtype.decode()][1]))

    def operand(self, rank, pair, turn, like):
        """Any rank can make what any other writes."""
        generator = self.torch.Generator(device=like.device)
        generator.manual_seed((turn * self.world + rank) * len(self.pairs) + pair)
        return self.torch.randn(like.shape, generator=generator, device=like.device).to(like.dtype)

    def write(self, turn):
        for pair, (tensor, _) in enumerate(self.pairs):
            tensor.copy_(self.operand(self.rank, pair, turn, tensor))

    def expected(self, pair, turn):
        tensor, output = self.pairs[pair]
        gathered = self.torch.stack([self.operand(r, pair, turn, tensor) for r in range(self.world)])
        if output.shape == gathered.shape:
            return gathered  # all_gather
        total = gathered[0].float()
        for r in range(1, self.world):  # in the order of ranks, rounded once
            total = total + gathered[r].float()
        total = total.to(tensor.dtype)
        if output.shape == tensor.shape:
            return total  # all_reduce
        share = output.numel()  # reduce_scatter
        return total.flatten()[self.rank * share : (self.rank + 1) * share]

    def enqueue(self):
        self.session.enqueue(self.capacity, self.torch.cuda.current_stream().cuda_stream)

    def verify(self, turn, where):
        self.torch.cuda.current_stream().synchronize()
        self.session.status()
        for pair, (_, output) in enumerate(self.pairs):
            wanted = self.expected(pair, turn)
            if not self.torch.equal(output.flatten()[: wanted.numel()], wanted.flatten()):
                raise RuntimeError(f"rank {self.rank}: {where}: output {pair} is not PyTorch's own result")


def run_rank(path, rank, world, local_rank, address, steps):
    import torch  # here, so that the rest of this file serves without it

    device = local_rank % torch.cuda.device_count()
    torch.cuda.set_device(device)
    torch.ones(8, device="cuda").sum().item()  # PyTorch has its context before libtfrun comes
    library = load_library()
    session = Session(library, path, rank, world, address, f"cuda:{device}")
    step = Step(torch, session, rank, world, min(b.capacity for b in session.buffers()))

    for turn in range(steps):
        step.write(turn)
        step.enqueue()
        step.verify(turn, "default stream")
    with torch.cuda.stream(torch.cuda.Stream()):
        for turn in range(steps, 2 * steps):
            step.write(turn)
            step.enqueue()
            step.verify(turn, "own stream")
    torch.cuda.synchronize()

    # The step is a child node of PyTorch's graph, with PyTorch's own work behind it, which is loaded by now.
    step.pairs[0][1].float().sum()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step.enqueue()
        total = step.pairs[0][1].float().sum()
    for turn in range(2 * steps, 3 * steps):
        step.write(turn)
        graph.replay()
        step.verify(turn, "captured graph")
        if not torch.equal(total, step.pairs[0][1].float().sum()):
            raise RuntimeError(f"rank {rank}: the graph's own sum is of other bytes")
    torch.cuda.synchronize()

    # A graph that holds steps ends before the session does.
    del graph, step
    session.close()
    torch.ones(8, device="cuda").sum().item()  # and PyTorch's context is as it was
    print(f"rank {rank} of {world} on cuda:{device}: {3 * steps} steps, outputs equal PyTorch's", flush=True)


def main():
    parser = argparse.ArgumentParser(description="Runs a package's steps inside PyTorch processes.")
    parser.add_argument("package")
    parser.add_argument("--world", type=int, default=2, help="ranks to start; the package's (default 2)")
    parser.add_argument("--steps", type=int, default=10, help="steps a part (default 10)")
    options = parser.parse_args()

    launch = read_launch(load_library())
    if launch:
        run_rank(options.package, launch.rank, launch.world, launch.local_rank, launch.address.decode(), options.steps)
        return 0
    import multiprocessing

    context = multiprocessing.get_context("spawn")  # a fork would inherit a context that it cannot use
    address = f"unix:@torch-step-{os.getpid()}"
    ranks = [
        context.Process(target=run_rank, args=(options.package, r, options.world, r, address, options.steps))
        for r in range(options.world)
    ]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join()
    return int(any(rank.exitcode for rank in ranks))


if __name__ == "__main__":
    sys.exit(main())
