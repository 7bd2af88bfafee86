# SPDX-License-Identifier: Apache-2.0
"""The command line: exit codes, refusals, --check, --bench, --drift. Usage: TFRUN PACKAGE EDIT"""
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import serve_driver as driver
from serve_driver import PACKAGE, TFRUN, Server, check, run

EDIT = sys.argv[3]
FOLDER = tempfile.mkdtemp(prefix="tfrun test \u00e9\u6f22 ")


def expect(result, code, *words):
    check(result[0] == code, "exit code", result, "wanted", code)
    check(result[2].count("\n") == 1 and result[2].startswith("tfrun: "), result)
    for word in words:
        check(word in result[2], word, "is not in", result[2])


def test_usage():
    expect(run(package=None), 2, "a package is needed", "see 'tfrun --help'")
    expect(run("--chek"), 2, "did you mean '--check'")
    expect(run("--timeout", "5"), 2, "--timeout")
    expect(run("--check", "--bench"), 2, "exclude each other")
    expect(run("--check", "--listen", "127.0.0.1:0"), 2, "--listen is for serving")
    expect(run("--capacity", "0"), 2, "--capacity")
    expect(run(PACKAGE), 2)  # two packages
    for address in ("127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "::1:80", ":80", "1.1.1.1:8x"):
        expect(run("--listen", address), 2, "cannot listen at")


def test_about():
    code, out, err = run("--version", package=None)
    check(code == 0 and re.fullmatch(r"tfrun \d+\.\d+\.\d+\n", out) and not err, out)
    code, out, err = run("--help", package=None)
    check(code == 0 and "--drift" in out and "127.0.0.1:8470" in out and not err, out)
    code, out, err = run("--completion", package=None)
    check(code == 0 and "--strict" in out and not err, out)
    code, out, err = run("--man", package=None)
    check(code == 0 and "TFRUN 1" in out.upper().replace('"', "") and not err, out)


def test_told_to_end():
    """While loading and while measuring: who has no result has no success."""
    for option, pause_s in (("--check", 0), ("--drift", 0), ("--bench", 0), ("--bench", 0.3)):
        for number in (signal.SIGTERM, signal.SIGINT):
            with subprocess.Popen([TFRUN, option, PACKAGE], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) as process:
                # it may be through before anyone looked
                driver.wait_for(lambda p=process: driver.children(p.pid) or p.poll() is not None,
                                "a rank")
                time.sleep(pause_s)
                process.send_signal(number)
                out, err = process.communicate(timeout=driver.WAIT_S)
            if out and option != "--bench":  # it was faster than the signal; a bench takes seconds
                check(process.returncode == 0 and not err, option, process.returncode, err)
                continue
            expect((process.returncode, out, err), 130, "interrupted before there was a result")
            check(out == "", option, out)


def test_no_package():
    missing = os.path.join(FOLDER, "missing.tfp")
    expect(run(package=missing), 3, missing, "No such file")
    expect(run("--check", package=missing), 3, missing)
    expect(run(package=FOLDER), 3, FOLDER)
    empty = os.path.join(FOLDER, "empty.tfp")
    open(empty, "w").close()
    expect(run("--check", package=empty), 3, empty)


def test_damaged_package():
    with open(PACKAGE, "rb") as file:
        whole = file.read()
    path = os.path.join(FOLDER, "damaged.tfp")
    for length in (1, 100, len(whole) // 2, len(whole) - 1):
        with open(path, "wb") as file:
            file.write(whole[:length])
        expect(run("--check", package=path), 3, path)
    with open(path, "wb") as file:
        middle = len(whole) // 2
        file.write(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1:])
    expect(run("--check", package=path), 3, path)


def edited(name, sql):
    path = os.path.join(FOLDER, name)
    subprocess.run([EDIT, PACKAGE, path, sql], check=True, timeout=driver.WAIT_S)
    return path


def test_misfit():
    """All causes at once, in one line, and no process is left (subprocess waits for the pipes)."""
    path = edited("misfit.tfp",
                  "UPDATE identity SET value='a-giant' WHERE key='device.model';"
                  "UPDATE identity SET value='fp64' WHERE key='numerics';"
                  "UPDATE identity SET value='host:vax' WHERE key='topology.signature';")
    for words in (("--check",), ()):
        expect(run(*words, package=path), 3, path, "device.model", "a-giant", "numerics", "fp64",
               "topology.signature", "host:vax")


def test_unknown_kind_of_device():
    """What the package says is no word of the command line's: not 2."""
    path = edited("kind.tfp", "UPDATE identity SET value='abacus' WHERE key='device.kind';")
    expect(run("--check", package=path), 3, path, "device.kind", "abacus")


def test_catalog_is_named_once():
    path = edited("once.tfp", "UPDATE identity SET value=char(27) WHERE key='device.model';")
    result = run("--check", package=path)
    expect(result, 3, path, "catalog: identity 'device.model'")
    check(result[2].count("catalog") == 1, result)


def test_wrong_world():
    path = edited("world.tfp", "UPDATE identity SET value='5' WHERE key='world';")
    expect(run("--check", package=path), 3, "world", "5")


def test_capacity():
    code, out, err = run("--check", "--capacity", "1")
    check(code == 0 and "1 capacity up to 1" in out and err == "", out, err)
    with Server("--capacity", "1") as server:
        status, answer = server.steps(rows=2)
        check(status == 400 and "allowed is 1 to 1" in answer["error"]["message"], answer)
        check(server.steps(rows=1)[0] == 200)
        check(server.end(signal.SIGTERM)[0] == 0)


def test_check():
    code, out, err = run("--check")
    check(code == 0 and out.count("\n") == 1 and "fits: 3 ranks" in out and err == "", out, err)
    code, out, err = run("--check", "--json", "--strict")
    answer = json.loads(out)
    check(code == 0 and answer["version"] == 1 and answer["capacities"] == [1, 2], out)
    check(answer["tunings"] == 0 and answer["captures"] == 0 and answer["listen"] is None, out)
    check(answer["load_ns"]["total"] > answer["load_ns"]["probe"] > 0, out)


def test_device():
    expect(run("--check", "--device", "gpu"), 2, "--device")
    code, _, err = run("--check", "--device", "cuda")
    check(code in (3, 4) and err.count("\n") == 1, code, err)


def test_bench():
    code, out, err = run("--bench", "--json")
    answer = json.loads(out)
    check(code == 0 and err == "", err)
    check([row["capacity"] for row in answer["capacities"]] == [1, 2], answer)
    for row in answer["capacities"]:
        check(0 < row["low"] <= row["steps_per_second"] <= row["high"], row)
    code, out, err = run("--bench", "--capacity", "1")
    check(code == 0 and len(out.splitlines()) == 2 and "steps/s" in out, out)


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def test_drift():
    before = sha256(PACKAGE)
    code, out, err = run("--drift", "--json")
    answer = json.loads(out)
    check(code == 0 and err == "" and len(answer["groups"]) == 2, out, err)
    for group in answer["groups"]:
        check(group["packaged_ns"] > 0 and group["measured_ns"] > 0, group)
        check(abs(group["ratio"] - group["measured_ns"] / group["packaged_ns"]) < 1e-9, group)
        check(group["change"] in ("alike", "slower", "faster"), group)
        for which in ("packaged", "measured"):
            low, high = group[which + "_interval_ns"]
            check(0 < low <= group[which + "_ns"] <= high, group)
    code, out, err = run("--drift")
    check(code == 0 and "selectors stay as packaged" in out, out)
    # fewer capacities loaded: the startup graph and its memory are whole, every group is compared
    code, out, err = run("--drift", "--json", "--capacity", "1")
    fewer = json.loads(out)
    check(code == 0 and err == "", out, err)
    check([(g["group"], g["capacity"], g["pick"], g["packaged_ns"]) for g in fewer["groups"]]
          == [(g["group"], g["capacity"], g["pick"], g["packaged_ns"]) for g in answer["groups"]],
          out)
    check(all(group["measured_ns"] > 0 for group in fewer["groups"]), out)
    # and the file says the same after it as before
    check(fewer["sha256"] == answer["sha256"] and sha256(PACKAGE) == before, out)


def test_taken_port():
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        expect(run("--listen", f"127.0.0.1:{port}"), 1, f"127.0.0.1:{port}", "in use")


def test_writes_nothing():
    """Read-only folder, no HOME, no temporary folder, a path with spaces and other letters."""
    folder = os.path.join(FOLDER, "read only \u00fc")
    os.mkdir(folder)
    path = os.path.join(folder, "a package.tfp")
    shutil.copy(PACKAGE, path)
    os.chmod(path, 0o444)
    os.chmod(folder, 0o555)
    shared = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
    with Server(package=path, cwd=folder, env={}) as server:
        check(server.steps(rows=1)[0] == 200)
        check(path in "".join(server.block), server.block)
        check(not open_files(server), open_files(server))
        check(server.end(signal.SIGTERM)[0] == 0)
    check(os.listdir(folder) == ["a package.tfp"], os.listdir(folder))
    if os.path.isdir("/dev/shm"):
        check(not [name for name in set(os.listdir("/dev/shm")) - shared if "tf" in name])
    os.chmod(folder, 0o755)


def open_files(server):
    """Regular files that any of the processes holds open by a name."""
    return {name for pid in [server.pid, *server.ranks] for name in driver.links(pid)
            if name.startswith("/") and not name.startswith(("/dev/null", "/memfd:"))}


def test_ipv6():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return
    words = [driver.TFRUN, "--listen", "[::1]:0", PACKAGE]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if line.startswith("listening"):
                check(re.search(r"http://\[::1\]:\d+$", line), line)
                break
        process.terminate()
        check(process.wait() == 0)


try:
    driver.main([
        test_usage, test_about, test_told_to_end, test_no_package, test_damaged_package,
        test_misfit, test_unknown_kind_of_device, test_catalog_is_named_once, test_wrong_world,
        test_capacity, test_check, test_device, test_bench,
        test_drift, test_taken_port, test_writes_nothing, test_ipv6])
finally:
    shutil.rmtree(FOLDER, ignore_errors=True)
