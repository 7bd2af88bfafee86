#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From a workload with kernels of its own to the bytes that a server holds, and every refusal on the way.

foreign_export_test.py TFPREP TFRUN RMSNORM_BYTES PACKAGE_EDIT EXAMPLE MODULE: EXAMPLE is the folder of the example with
its module built, MODULE the shared object of test_module.c.
"""
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

TFPREP, TFRUN, BYTES, EDIT, EXAMPLE, MODULE = sys.argv[1:]
FAILURES = []


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


def expect(what, got, code, words=""):
    if got[0] != code or words not in got[2] + got[1]:
        FAILURES.append(what)
        print(f"{what}: wanted exit {code} and '{words}', got {got[0]}\n{got[1]}{got[2]}")


def export(workload, out, world=2):
    return run(TFPREP, "export", "--device", "host", "--topology", "local", "--tp", str(world), "--timeout", "20000",
               "--workload", workload, "-o", out)


def catalog(package, folder):
    subprocess.run(["tar", "--zstd", "-xf", package, "-C", folder, "catalog.sqlite"], check=True)
    return sqlite3.connect(os.path.join(folder, "catalog.sqlite"))


def example(folder):
    workload = os.path.join(EXAMPLE, "rmsnorm.yaml")
    for world in (2, 4):
        package = os.path.join(folder, f"r{world}.tfp")
        expect(f"export, {world} ranks", export(workload, package, world), 0)
        expect(f"verify, {world} ranks", run(TFPREP, "verify", "--run", "--timeout", "20000", package), 0)
        expect(f"check, {world} ranks", run(TFRUN, package, "--check", "--strict", "--timeout", "20000"), 0,
               "proven bytewise")
        expect(f"bytes, {world} ranks", run(BYTES, package, str(world)), 0)
        served = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rmsnorm_served.py")
        expect(f"served, {world} ranks", run(sys.executable, served, TFRUN, package, str(world)), 0, " 0 differences")
    db = catalog(os.path.join(folder, "r2.tfp"), folder)
    for what, sql, wanted in (
            ("schema", "PRAGMA user_version", [(1001,)]),
            ("integrity", "PRAGMA integrity_check", [("ok",)]),
            ("words", "SELECT arg_off, kind, nullable FROM kernel_word JOIN kernel USING(kernel) "
                      "WHERE kernel.name = 'rmsnorm' ORDER BY arg_off", [(0, 0, 0), (8, 0, 0), (16, 0, 0)]),
            ("places", "SELECT DISTINCT b.name FROM launch_word AS w JOIN launch AS l USING(launch) JOIN kernel AS k "
                       "USING(kernel) JOIN buffer AS b ON w.segment_off = b.segment_off WHERE k.name = 'rmsnorm' "
                       "AND w.peer = 0 ORDER BY b.name",
             [("gain",), ("hidden.c1",), ("hidden.c4",), ("normed.c1",), ("normed.c4",)]),
            ("zeros", "SELECT count(*) FROM launch JOIN kernel USING(kernel) WHERE name = 'rmsnorm' "
                      "AND substr(args, 1, 24) <> zeroblob(24)", [(0,)]),
            ("touched", "SELECT name FROM touched JOIN buffer USING(buffer) ORDER BY name",
             [("normed.c1",), ("normed.c4",)]),
            ("proofs", "SELECT capacity, count(DISTINCT seed), count(*) FROM proof GROUP BY capacity",
             [(1, 4, 8), (4, 4, 8)]),
            ("order", "SELECT group_concat(name, ' ') FROM (SELECT substr(k.name, 1, 10) AS name FROM node AS n "
                      "JOIN launch AS l USING(launch) JOIN kernel AS k USING(kernel) WHERE n.graph = 0 ORDER BY n.node)",
             [("all_reduce rmsnorm all_reduce all_reduce rmsnorm all_reduce",)]),
            ("edges", "SELECT DISTINCT to_node - from_node, type FROM edge WHERE graph = 0", [(1, 0)])):
        found = db.execute(sql).fetchall()
        if found != wanted:
            FAILURES.append(what)
            print(f"{what}: {found}, wanted {wanted}")


def tampered(folder):
    """A package that says something else than what was proven is refused when it is loaded."""
    good, bad = os.path.join(folder, "r2.tfp"), os.path.join(folder, "bad.tfp")
    word = "launch = (SELECT max(launch) FROM launch JOIN kernel USING(kernel) WHERE name = 'rmsnorm') AND arg_off = "
    for what, sql, code, words in (
            ("another proof", "UPDATE proof SET digest = zeroblob(32) WHERE capacity = 1", 1,
             "outputs of a step of capacity 1 with foreign kernels have digest"),
            ("no proof", "DELETE FROM proof WHERE capacity = 4", 3, "holds no proof of its outputs"),
            ("half a proof", "DELETE FROM proof WHERE rank = 1", 3, "proof 1: "),
            ("protocol memory", f"UPDATE launch_word SET segment_off = 64 WHERE {word} 16", 3,
             "of foreign kernel 'rmsnorm': the word at arg_off 16, offset 64, lies in no declared buffer"),
            ("a peer", f"UPDATE launch_word SET peer = 1 WHERE {word} 16", 3,
             "of foreign kernel 'rmsnorm': the word at arg_off 16 lies in the segment of peer 1"),
            ("another buffer", f"UPDATE launch_word SET segment_off = (SELECT segment_off FROM buffer WHERE name = "
                               f"'hidden.c4') WHERE {word} 16", 1, ""),
            ("a stored address", f"UPDATE launch SET args = CAST(x'01' || substr(args, 2) AS BLOB) WHERE "
                                 f"{word.split(' AND')[0]}", 3, "argument bytes of word 'arg0+0' are not zero"),
            ("no parameters", "DELETE FROM kernel_param WHERE param = 2", 3, "kernel_param")):
        expect(f"{what}, edit", run(EDIT, good, bad, sql), 0)
        expect(what, run(TFRUN, bad, "--check", "--timeout", "20000"), code, words)


HEAD = """name: t
summary: s
capacities: [2]
groups:
  - {name: a, op: all_reduce, dtype: f32, row_elements: 64, output: x}
  - {name: b, op: all_gather, dtype: f32, row_elements: 64, input: y}
buffers:
  - {name: extra, role: %s, dtype: f32, row_elements: 64}
modules:
  - {name: m, images: [{device: host, file: m.so}]}
kernels:
"""
KERNEL = "  - {name: %s, module: m, function: %s, grid: [rows], block: [2], arguments: [%s]}\n"
READ_X, WRITE_Y, TAIL = "{buffer: x, access: read}", "{buffer: y}", "{u32: 512}, {u32: 1}"
BASE = 0x7E9000000000


def case(folder, what, kernels, step, code, words, role="output"):
    workload = os.path.join(folder, "t.yaml")
    package = os.path.join(folder, "t.tfp")
    with open(workload, "w", encoding="utf-8") as file:
        file.write(HEAD % role + "".join(KERNEL % kernel for kernel in kernels) + f"step: [{step}]\n")
    if os.path.exists(package):
        os.remove(package)
    expect(what, export(workload, package), code, words)
    if code and os.path.exists(package):
        FAILURES.append(f"{what}: a package was left")
    return package


def refusals(folder):
    shutil.copy(MODULE, os.path.join(folder, "m.so"))
    good = ("k", "add", f"{READ_X}, {WRITE_Y}, {TAIL}")
    package = case(folder, "works", [good], "a, k, b", 0, "")
    expect("works, check", run(TFRUN, package, "--check", "--timeout", "20000"), 0)
    # In place on a collective's output and on memory of its own: proven from the same state each time.
    case(folder, "in place", [("k", "add", "{buffer: x}, {buffer: x}, " + TAIL),
                              ("l", "add", "{buffer: extra}, {buffer: extra}, " + TAIL)], "a, k, l, l, b", 0, "", "work")
    case(folder, "input of its own", [("k", "add", "{buffer: extra, access: read}, {buffer: y}, " + TAIL)], "k, a, b", 0, "",
         "input")
    case(folder, "null", [good, ("l", "add", "{u64: 0}, {u64: 0}, {u32: 0}, {u32: 1}")], "a, k, l, b", 0, "")

    where = "step of capacity 2: node 1: kernel 'add': "
    case(folder, "absolute address", [("k", "add", f"{{u64: {BASE + 4096}}}, {WRITE_Y}, {TAIL}")], "a, k, b", 3,
         where + f"argument 0 (byte 0): 0x{BASE + 4096:x} is the same at bases 0x{BASE:x} and ")
    case(folder, "outside of the window", [("k", "add", f"{{buffer: x, offset: 1099511627776}}, {WRITE_Y}, {TAIL}")],
         "a, k, b", 3, where + "argument 0 (byte 0): 0x")
    case(folder, "outside of all buffers", [("k", "add", f"{READ_X}, {{buffer: extra, offset: 512}}, {TAIL}")], "a, k, b", 3,
         "of the segment lies in no declared buffer; the one before it is 'extra'")
    case(folder, "two kinds of a word", [good, ("l", "add", "{u64: 5}, {u64: 0}, {u32: 0}, {u32: 1}")], "a, k, l, b", 3,
         "node 2: kernel 'add': argument 0 (byte 0): 0x5 is no address, where another launch of the kernel has one")
    case(folder, "too few arguments", [("k", "add", f"{READ_X}, {WRITE_Y}, {{u32: 1}}")], "a, k, b", 3,
         "kernel 'k': 3 arguments, its function 'add' takes 4")
    case(folder, "another layout", [("k", "add", f"{READ_X}, {{u32: 1}}, {TAIL}")], "a, k, b", 3,
         "kernel 'k': argument 1 has 4 bytes at 8, its function 'add' takes 8 bytes at 8")
    case(folder, "no such function", [("k", "none", f"{READ_X}, {WRITE_Y}, {TAIL}")], "a, k, b", 3,
         "kernel 'k': kernel 'none': 'none' is not in its host module")
    case(folder, "not deterministic", [("k", "restless", f"{READ_X}, {WRITE_Y}, {TAIL}")], "a, k, b", 1,
         "two steps of capacity 2 from the same operands left different outputs")
    # A kernel that writes what it is said to read: the reference of the collective does not hold.
    case(folder, "writes what it reads", [("k", "add", f"{READ_X}, {{buffer: y, access: read}}, {TAIL}")], "a, k, b", 1,
         "check of the package in fresh processes")

    os.remove(os.path.join(folder, "m.so"))
    case(folder, "no file", [good], "a, k, b", 3, "module 'm' for host: cannot read")
    with open(os.path.join(folder, "m.so"), "w", encoding="utf-8") as file:
        file.write("text")
    case(folder, "no object", [good], "a, k, b", 3, "module 'm' for host, ")


def main():
    with tempfile.TemporaryDirectory() as folder:
        example(folder)
        tampered(folder)
        refusals(folder)
    print(f"{len(FAILURES)} failures")
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
