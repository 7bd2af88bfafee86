# SPDX-License-Identifier: Apache-2.0
"""NCCL's functions are called through the table alone, and exactly those that are listed here.

Usage: scan_calls.py ROOT

The table is TF_NCCL_CALLS and TF_NCCL_TEXTS of runtime/comm/nccl/nccl_api.h. CALLS says how often
each is called in the product's sources (not in tests), by area: a new call is a decision that is
written down here. A call is the name before '('. Names in texts and comments count for nothing.
"""
import collections
import os
import re
import sys

TABLE = "runtime/comm/nccl/nccl_api.h"
FOLDERS = ("base", "catalog", "packages", "ladders", "runtime", "prepare")

# Functions: calls in runtime/comm/nccl (the communicator), calls in the rest.
CALLS = {
    "ncclGetVersion": (0, 0),  # resolved and called by nccl_api.c under another name
    "ncclGetUniqueId": (1, 1),
    "ncclCommInitRankConfig": (1, 1),
    "ncclCommSplit": (1, 0),
    "ncclCommGetAsyncError": (1, 1),
    "ncclCommFinalize": (1, 1),
    "ncclCommDestroy": (1, 1),
    "ncclCommAbort": (3, 0),  # the parent, a parent that came late, the split
    "ncclAllReduce": (1, 1),
    "ncclAllGather": (1, 1),
    "ncclReduceScatter": (1, 1),
    "ncclGroupStart": (0, 0),
    "ncclGroupEnd": (0, 0),
    "ncclMemAlloc": (0, 1),
    "ncclMemFree": (0, 1),
    "ncclCommWindowRegister": (0, 1),
    "ncclCommWindowDeregister": (0, 1),
    "ncclGetErrorString": (1, 0),
    "ncclGetLastError": (1, 0),
}

NOISE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
CALL = re.compile(r"\b(p?nccl[A-Z]\w*)\s*\(")
ROW = re.compile(r"^\s*X\((nccl\w+),", re.MULTILINE)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def sources(root):
    for folder in FOLDERS:
        for at, _, names in os.walk(os.path.join(root, folder)):
            for name in names:
                path = os.path.relpath(os.path.join(at, name), root)
                if path.endswith((".c", ".h", ".cu", ".cuh", ".in")) and path != TABLE:
                    yield path


def count(root):
    found = collections.defaultdict(lambda: [0, 0])
    for path in sources(root):
        own = path.startswith("runtime/comm/nccl/")
        for name in CALL.findall(NOISE.sub(" ", read(os.path.join(root, path)))):
            found[name][0 if own else 1] += 1
    return found


def main():
    root = sys.argv[1]
    table = ROW.findall(read(os.path.join(root, TABLE)))
    found, findings = count(root), []
    if len(table) < 10 or len(set(table)) != len(table):
        findings.append(f"{TABLE}: {len(table)} rows, some twice or none read")
    findings += [f"{name} is in the table and not in the list" for name in set(table) - set(CALLS)]
    findings += [f"{name} is in the list and not in the table" for name in set(CALLS) - set(table)]
    for name in sorted(set(found) | set(CALLS)):
        have, want = tuple(found[name]), CALLS.get(name)
        if want is None:
            findings.append(f"{name} is called {sum(have)} times and is not in the table")
        elif have != want:
            findings.append(f"{name}: {have} calls (communicator, others), {want} are listed")
    for finding in findings:
        print(finding)
    print(f"{len(table)} functions, {len(findings)} findings")
    sys.exit(1 if findings else 0)


main()
