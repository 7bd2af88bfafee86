#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The ctypes part of docs/examples/torch_step.py against libtfrun, on the host device and without PyTorch.

library_python_test.py EXAMPLES LIBRARY PACKAGE_TP2
"""
import ctypes
import os
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import torch_step as example  # noqa: E402

ROUNDS = 5


def run(rank, path, address, results):
    session = example.Session(example.load_library(), path, rank, 2, address, "host")
    buffers = list(session.buffers())
    pairs = example.pairs_of(session, 1)
    assert pairs and len(buffers) % (2 * len(pairs)) == 0, (len(buffers), len(pairs))
    (source, target) = pairs[0]
    assert source.name == b"exchange.c1.in.0" and target.name == b"exchange.c1.out.0"
    assert source.cuda_device == -1 and source.capacity == 1 and source.dtype == b"bf16"
    assert source.shape() == (1, 4096) and target.shape() == (2, 1, 4096) and source.bytes == 8192
    array = example.Array(target).__cuda_array_interface__
    assert array["data"] == (target.data, False) and array["typestr"] == "<i2" and array["shape"] == (2, 1, 4096)
    for turn in range(ROUNDS):
        ctypes.memset(source.data, 16 * rank + turn, source.bytes)
        session.enqueue(1, None)
        session.status()
        found = ctypes.string_at(target.data, target.bytes)
        assert found == bytes([turn]) * 8192 + bytes([16 + turn]) * 8192, "other bytes than were written"
    for rows, words in ((0, "0 rows"), (9, "above the largest loaded capacity, 8")):
        try:
            session.enqueue(rows, None)
        except RuntimeError as refusal:
            assert words in str(refusal), refusal
        else:
            raise AssertionError(f"{rows} rows were enqueued")
    try:
        session.enqueue(1, 0x1000)
    except RuntimeError as refusal:
        assert "the host device takes no stream" in str(refusal), refusal
    else:
        raise AssertionError("the host device took a stream")
    session.close()
    results[rank] = True


def launched(**variables):
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_PORT"):
        os.environ.pop(name, None)
    os.environ.update(variables)
    return example.read_launch(example.load_library())


def main():
    os.environ["TFRUN_LIBRARY"] = sys.argv[2]
    results = {}
    address = f"unix:@library-python-{os.getpid()}"
    ranks = [threading.Thread(target=run, args=(r, sys.argv[3], address, results)) for r in range(2)]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join()
    assert results == {0: True, 1: True}, results

    assert launched() is None
    launch = launched(RANK="3", WORLD_SIZE="4", LOCAL_RANK="2", MASTER_PORT="29500")
    assert (launch.rank, launch.world, launch.local_rank) == (3, 4, 2)
    assert launch.address.startswith(b"unix:@tfrun-launch-")
    assert launched(RANK="1", WORLD_SIZE="4", MASTER_PORT="29500").address == launch.address
    assert launched(RANK="1", WORLD_SIZE="4", MASTER_PORT="29501").address != launch.address
    assert launched(RANK="4", WORLD_SIZE="4") is None
    assert launched(RANK="0", WORLD_SIZE="16", LOCAL_WORLD_SIZE="8") is None
    print("the example's structs are the library's")


main()
