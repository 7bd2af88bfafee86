#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Serves the example's package and looks at its bytes over HTTP, on whatever device it was made for.

rmsnorm_served.py TFRUN PACKAGE WORLD: every rank must hold the sum of all inputs and its RMSNorm, to the bit: FP32 in the
fixed order that rmsnorm.cu and rmsnorm.c state, so that the host and a GPU give the same.
"""
import json
import math
import struct
import subprocess
import sys
import urllib.request

TFRUN, PACKAGE, WORLD = sys.argv[1], sys.argv[2], int(sys.argv[3])
WIDTH, THREADS, ROWS = 1024, 256, 4
GAINS = (1.0, 0.5, 1.5, 2.0)


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def narrow(value):
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 & 0xFFFF


def widen(bits):
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


def input_of(rank):
    return [narrow(((i * 37 + rank * 11) % 64 - 31) / 8) for i in range(ROWS * WIDTH)]


def norm(row):
    sums = [0.0] * THREADS
    for i, bits in enumerate(row):
        sums[i % THREADS] = f32(sums[i % THREADS] + f32(widen(bits) * widen(bits)))
    half = THREADS // 2
    while half:
        for i in range(half):
            sums[i] = f32(sums[i] + sums[i + half])
        half //= 2
    root = f32(math.sqrt(f32(f32(sums[0] / WIDTH) + f32(1e-5))))
    return [narrow(f32(f32(widen(bits) / root) * GAINS[i % 4])) for i, bits in enumerate(row)]


def expected():
    inputs = [input_of(rank) for rank in range(WORLD)]
    hidden = [narrow(sum(widen(one[i]) for one in inputs)) for i in range(ROWS * WIDTH)]
    normed = []
    for row in range(ROWS):
        normed += norm(hidden[row * WIDTH:(row + 1) * WIDTH])
    return hidden, normed, [narrow(WORLD * widen(bits)) for bits in normed]


def ask(base, path, body=None, method=None):
    request = urllib.request.Request(base + path, data=body, method=method)
    with urllib.request.urlopen(request, timeout=120) as answer:
        return answer.read()


def look(base):
    wrong = 0
    for rank in range(WORLD):
        ask(base, f"/v1/tensors/attention.c{ROWS}.in.0?rank={rank}",
            struct.pack(f"<{ROWS * WIDTH}H", *input_of(rank)), "PUT")
    ask(base, "/v1/steps", json.dumps({"rows": ROWS, "count": 3, "inputs": "kept"}).encode())
    for name, wanted in zip((f"hidden.c{ROWS}", f"normed.c{ROWS}", f"mlp.c{ROWS}.out.0"), expected()):
        for rank in range(WORLD):
            found = struct.unpack(f"<{ROWS * WIDTH}H", ask(base, f"/v1/tensors/{name}?rank={rank}"))
            bad = [i for i in range(ROWS * WIDTH) if found[i] != wanted[i]]
            wrong += len(bad)
            if bad:
                print(f"rank {rank}, {name}: {len(bad)} of {len(found)} differ, the first at {bad[0]}: "
                      f"{found[bad[0]]:04x}, wanted {wanted[bad[0]]:04x}")
    answer = json.loads(ask(base, "/v1/steps", json.dumps({"rows": ROWS, "count": 8, "check": "every"}).encode()))
    if answer["check"] != {"outcome": "equal", "steps": 8}:
        print(f"steps from generated operands: {answer['check']}")
        wrong += 1
    return wrong


def main():
    server = subprocess.Popen([TFRUN, PACKAGE, "--listen", "127.0.0.1:0", "--timeout", "20000"], stdout=subprocess.PIPE,
                              text=True)
    try:
        base = None
        for line in server.stdout:
            if line.startswith("listening"):
                base = line.split()[1]
                break
        if not base:
            return 1
        wrong = look(base)
        print(f"{WORLD} ranks, {ROWS} rows: {wrong} differences")
        return 1 if wrong else 0
    finally:
        server.terminate()
        server.wait(timeout=120)


if __name__ == "__main__":
    sys.exit(main())
