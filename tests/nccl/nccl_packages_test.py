# SPDX-License-Identifier: Apache-2.0
"""NCCL as candidates with the stand-in, on the host device or on CUDA's with the fake driver: tuned,
captured, shipped and served; and, on the host, bounded. The fake driver runs a graph on the thread
that launches it, where nothing ends a call that hangs. 'nccl' is two GPUs and NCCL itself, for what
needs no stand-in (tests/gpu/nccl_packages.sh).
Usage: TFRUN TFPREP WORKLOAD LIBRARY_PATH WORK_FOLDER host|cuda|nccl"""
import json
import os
import signal
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "serve"))
import serve_driver as driver  # noqa: E402
from serve_driver import Server, check  # noqa: E402

TFPREP, WORKLOAD, LIBRARIES, FOLDER, KIND = sys.argv[2:7]
DEVICE = "host" if KIND == "host" else "cuda"
ONLY = os.path.join(FOLDER, f"nccl_only_{KIND}.yaml")
PACKAGE = os.path.join(FOLDER, f"nccl_only_{KIND}.tfp")
CATALOG = os.path.join(FOLDER, f"nccl_catalog_{KIND}.sqlite")
LOG = os.path.join(FOLDER, f"nccl_calls_{KIND}.log")
ANY = os.path.join(FOLDER, f"nccl_any_{KIND}.yaml")  # WORKLOAD, where sums may be others
COMM_NODE = 4  # enum tf_node_kind
ONLY_TEXT = """topology: switched
summary: NCCL alone.
rungs:
  - {algorithm: library, writer: nccl, ops: [all_reduce, all_gather], world: [2, 8],
     bytes: [1, 64MiB], reason: "Nothing else may win."}
"""


def settings(**more):
    found = {name: value for name, value in os.environ.items() if not name.startswith("FAKE_")}
    return {**found, "LD_LIBRARY_PATH": LIBRARIES, "FAKE_NCCL_LOG": LOG, **more}


def tfprep(verb, *args, **more):
    """With a timeout for a busy machine, where `args` have none: what spins shares its cores."""
    patience = [] if "--timeout" in args else ["--timeout", "10000"]
    words = [TFPREP, verb, "--device", DEVICE, "--workload", WORKLOAD, *patience, *args]
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=driver.WAIT_S, env=settings(**more))
    return done.returncode, done.stdout, done.stderr


def tune(*args, **more):
    code, out, err = tfprep("tune", "--topology", "switched", "--nccl", "on", "--json", *args,
                            **more)
    check(code == 0, code, err)
    return json.loads(out)


def struck_of(found):
    return [row for row in found["struck"] if row["candidate"] == "nccl"]


def test_candidate():
    """It competes beside the others where the ladder has it, and only where it is asked for."""
    found = tune()
    check(found["nccl"]["candidates"] == found["groups"], found["nccl"])
    check(found["nccl"]["struck"] == 0 and found["nccl"]["ratio"] > 0, found["nccl"])
    code, out, err = tfprep("tune", "--topology", "switched", "--json")
    check(code == 0 and "nccl" not in json.loads(out), err)


def allow_any_sums():
    with open(WORKLOAD) as file:
        text = file.read().replace("op: all_reduce", "op: all_reduce\n    numerics: any")
    with open(ANY, "w") as file:
        file.write(text)


def test_class_of_its_own():
    """Sums of NCCL's own on a GPU: its NaN is not the class's, so they compete where any may."""
    found = tune("--workload", STRICT)
    struck = struck_of(found)
    check({row["group"] for row in struck} == {"reduce"}, struck)
    for row in struck:
        print(row["group"], row["capacity"], row["reason"])
        check("another numerics class: element" in row["reason"], row)


def test_own_nan():
    """As NCCL does on GPUs: told with the element, and no matter where any sums may be."""
    struck = struck_of(tune(FAKE_NCCL_NAN="1"))
    check({row["group"] for row in struck} == {"reduce"}, struck)
    for row in struck:
        check("is 0x7fffffff, and 0x7fc00000 summed in rank order" in row["reason"], row)
    check(not struck_of(tune("--workload", ANY, FAKE_NCCL_NAN="1")))


def test_other_sums():
    """Sums in another order never compete; a gather, which sums nothing, does."""
    found = tune(FAKE_NCCL_BITS="1")
    struck = struck_of(found)
    check({row["group"] for row in struck} == {"reduce"}, struck)
    for row in struck:
        check("another numerics class" in row["reason"], row)
    check(found["nccl"]["picked"] + found["nccl"]["struck"] <= found["nccl"]["candidates"])


def test_other_sums_allowed():
    """Where the workload allows it, sums that are near compete, ship, and are checked as such."""
    workload = ANY
    package = os.path.join(FOLDER, f"nccl_any_{KIND}.tfp")
    bits = {"FAKE_NCCL_BITS": "1"}
    code, _, err = tfprep("export", "--nccl", "on", "--ladder", ONLY, "--workload", workload, "-o",
                          package, **bits)
    check(code == 0, code, err)
    code, out, err = driver.run("--check", package=package, env=settings(**bits))
    check(code == 0 and "but for sums of 2 groups, within their roundings" in out, out, err)
    with Server(package=package, env=settings(**bits)) as server:
        status, answer = server.steps(rows=1)
        check(status == 200 and answer["check"]["outcome"] == "rounded", status, answer)
        server.end(signal.SIGTERM)
    for row in struck_of(tune("--workload", workload, FAKE_NCCL_BITS="640")):
        check(row["group"] == "reduce" and "further from the reference" in row["reason"], row)
    code, _, err = driver.run("--check", package=package, env=settings(FAKE_NCCL_BITS="640"))
    check(code == 1 and "'reduce.c" in err, code, err)


def test_hang():
    """A call that hangs is sent back, its candidates are struck out by name, and tuning goes on."""
    for call in ("ncclAllReduce", "ncclAllGather"):
        found = tune("--timeout", "300", FAKE_NCCL_HANG=call)
        struck = struck_of(found)
        check(len(struck) == found["nccl"]["candidates"], struck)
        for row in struck:
            check("late on rank" in row["reason"] and "NCCL's call timed out" in row["reason"], row)
        check(len(found["picks"]) == found["groups"])


def test_call_fails():
    """With one call that fails all of NCCL's are out, also those of groups that had passed."""
    for call in ("ncclAllReduce", "ncclAllGather"):
        found = tune(FAKE_NCCL_FAIL=f"{call}:3")
        struck = struck_of(found)
        check(len(struck) == found["nccl"]["candidates"], struck)
        for row in struck:
            check("struck out: failed on rank" in row["reason"], row)
            check(f"{call} failed: internal error (3)" in row["reason"], row)
        check(len(found["picks"]) == found["groups"])


def test_capture_fails():
    """A call that fails only where it is captured: nothing is made or loaded, and it is named."""
    words = "'nccl' of group 0: ncclAllReduce failed: internal error (3)"
    more = {"FAKE_NCCL_FAIL": "captured:3"}
    code, _, err = tfprep("export", "--nccl", "on", "--ladder", ONLY, "-o", PACKAGE + ".not",
                          **more)
    check(code == 1 and words in err and err.count("\n") == 1, code, err)
    check(not os.path.exists(PACKAGE + ".not"))
    code, _, err = driver.run("--check", package=PACKAGE, env=settings(**more))
    check(code == 1 and words in err and err.count("\n") == 1, code, err)


def test_start_fails():
    """Asked for and not to be had: nothing is made, and the reason is said."""
    for name, value, words in (
            ("FAKE_NCCL_FAIL", "ncclCommInitRankConfig:3", "ncclCommInitRankConfig failed"),
            ("FAKE_NCCL_FAIL", "ncclCommSplit:5", "ncclCommSplit failed"),
            ("FAKE_NCCL_VERSION", "21800", "this build needs 2.19.0 or newer")):
        code, _, err = tfprep("tune", "--topology", "switched", "--nccl", "on", "--timeout",
                              "1000", **{name: value})
        check(code in (1, 4), code, err)
        check(words in err and err.count("\n") == 1, err)


def test_refusals():
    code, _, err = tfprep("tune", "--nccl", "on", "--links", "ring-3")
    words = "emulated links" if DEVICE == "host" else "links are emulated on the host device"
    check(code == 2 and words in err, code, err)
    code, _, err = tfprep("export", "--ladder", ONLY, "-o", PACKAGE + ".not")
    check(code == 3 and "needs NCCL, which is off ('--nccl on')" in err, code, err)
    check(not os.path.exists(PACKAGE + ".not"))


def make_package():
    with open(ONLY, "w") as file:
        file.write(ONLY_TEXT)
    code, out, err = tfprep("export", "--nccl", "on", "--ladder", ONLY, "-o", PACKAGE)
    check(code == 0, code, err)
    check("library/nccl 4" in out, out)


def rows(query):
    with open(CATALOG, "wb") as file:
        subprocess.run(f"zstd -dcq < '{PACKAGE}' | tar -xO catalog.sqlite", shell=True, check=True,
                       stdout=file)
    with sqlite3.connect(CATALOG) as base:
        return base.execute(query).fetchall()


def test_catalog():
    """Calls travel as nodes, with the version that was proven, and under the name people use."""
    identity = dict(rows("SELECT key, value FROM identity"))
    check(identity["nccl.version"] == "2.28.9" == identity["samples.nccl"], identity)
    check(rows("SELECT DISTINCT algorithm, writer FROM picks") == [("library", "nccl")])
    check(rows("SELECT DISTINCT candidate FROM samples") == [("nccl",)])
    calls = rows(f"SELECT count(*) FROM node WHERE kind = {COMM_NODE}")[0][0]
    check(calls == 2 * 6 + 21 * 4, calls)  # two steps of 6 calls, 21 passes of 4 candidates


def test_loads():
    code, out, err = driver.run("--check", package=PACKAGE, env=settings())
    check(code == 0 and "proven bytewise" in out, code, err)
    code, _, err = driver.run("--drift", package=PACKAGE, env=settings())
    check(code == 0, code, err)


def test_left_behind():
    """What NCCL does not give back keeps the memory that its kernels may still be in."""
    code, _, err = driver.run("--check", package=PACKAGE, env=settings(
        FAKE_NCCL_FAIL="ncclCommDestroy:3", FAKE_NCCL_HANG="ncclCommAbort", FAKE_NCCL_TOUCH="1"))
    check(code == 0, code, err)


def test_other_version():
    code, _, err = driver.run(
        "--check", package=PACKAGE, env=settings(FAKE_NCCL_VERSION="22705"))
    check(code == 3, code, err)
    check("nccl.version: package '2.28.9', machine '2.27.5'" in err, err)
    check(err.count("\n") == 1, err)


def test_other_bytes():
    """The same version that sums in another order is found by the probe."""
    code, _, err = driver.run("--check", package=PACKAGE, env=settings(FAKE_NCCL_BITS="1"))
    check(code == 1 and "'reduce.c" in err, code, err)


def test_serves():
    with Server(package=PACKAGE, env=settings()) as server:
        status, answer = server.steps(rows=2, count=5, seed=7)
        check(status == 200, status, answer)
        code, _, err = server.end(signal.SIGTERM)
        check(code == 0 and err == "", code, err)


def test_lost_during_steps():
    """A rank that is killed or stopped while the others wait in a call of NCCL's."""
    for number in (signal.SIGKILL, signal.SIGSTOP):
        with Server("--timeout", "1000", package=PACKAGE, env=settings()) as server:
            asked = server.steps_behind(rows=2, count=1000000, check="none")
            driver.wait_for(lambda server=server: server.state() == "busy", "a running step")
            os.kill(server.ranks[1], number)
            code, _, err = server.end()
            asked.join()
            check(code == 1 and "rank 1 " in err and err.count("\n") == 1, number, code, err)


def minding_rules(test):
    """The test, with a log of its own that must hold no broken rule of NCCL's."""
    def run():
        if os.path.exists(LOG):
            os.unlink(LOG)
        test()
        if os.path.exists(LOG):
            with open(LOG) as file:
                broken = {line for line in file if line.startswith("VIOLATION")}
            check(not broken, broken)
    run.__name__ = test.__name__
    return run


def test_log():
    """A communicator a rank, begun and ended; each different call is captured once, and the 84 of
    the startup graph are 4 different ones."""
    for verb, captures in (("--check", 2 * 6), ("--drift", 2 * 6 + 4)):
        if os.path.exists(LOG):
            os.unlink(LOG)
        code, _, err = driver.run(verb, package=PACKAGE, env=settings())
        check(code == 0, code, err)
        with open(LOG) as file:
            lines = file.read().splitlines()
        for rank in range(2):
            for what in ("destroy split", "destroy parent"):
                check(lines.count(f"rank {rank}: {what}") == 1, lines)
            found = lines.count(f"rank {rank}: capture")
            check(found == (captures if DEVICE == "cuda" else 0), verb, found)


EVERYWHERE = [make_package, test_candidate, test_loads, test_serves]
STAND_IN = [
    test_own_nan, test_other_sums, test_other_sums_allowed, test_call_fails, test_start_fails,
    test_refusals, test_catalog, test_log, test_other_version, test_other_bytes]
# Streams of the host are not captured: its graphs call when they run.
OTHERS = {
    "host": [*STAND_IN, test_hang, test_lost_during_steps, test_left_behind],
    "cuda": [*STAND_IN, test_capture_fails],
    "nccl": [test_class_of_its_own, test_lost_during_steps]}
allow_any_sums()
STRICT = WORKLOAD
if KIND == "nccl":
    WORKLOAD = ANY
driver.main([minding_rules(test) for test in EVERYWHERE + OTHERS[KIND]])
