# SPDX-License-Identifier: Apache-2.0
"""Serving over HTTP: health, package, steps, tensors, metrics, refusals. Usage: TFRUN PACKAGE"""
import hashlib
import json
import os
import re
import signal
import socket

import serve_driver as driver
from serve_driver import PACKAGE, Server, check

# Nothing here is about this bound, nor about five of it, within which a drain must end.
SERVER = Server("--timeout", "20000")


def expect_error(status, answer, code, *words):
    check(status == code, status, answer)
    message = answer["error"]["message"]
    for word in words:
        check(word in message, word, "is not in", message)


def test_block():
    block = "".join(SERVER.block)
    with open(PACKAGE, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    for word in (PACKAGE, digest, "3 ranks", "device host", "capacities  1, 2", "probe",
                 "tunings 0, captures 0", "before fork"):
        check(word in block, word, "is not in", block)


def test_health():
    for path in ("/health/live", "/health/ready"):
        answer = SERVER.get_json(path)
        check(answer["state"] == "ready" and answer["ranks_up"] == [0, 1, 2], answer)
    status, headers, body = SERVER.ask("HEAD", "/health/ready")
    check(status == 200 and body == b"", status, headers, body)


def test_package():
    package = SERVER.get_json("/v1/package")
    check(package["identity"]["world"] == "3" and package["capacities"] == [1, 2], package)
    check(package["sha256"] in "".join(SERVER.block), package["sha256"])
    for group in package["groups"]:
        check(group["pick"]["median_ns"] > 0 and group["pick"]["candidate"], group)
    check(len(package["tensors"]) == 2 * 2 * 86, len(package["tensors"]))


def test_steps():
    status, answer = SERVER.steps(rows=1)
    check(status == 200 and answer["capacity"] == 1 and answer["count"] == 1, answer)
    check(answer["check"] == {"outcome": "equal", "steps": 1}, answer)
    status, answer = SERVER.steps(rows=2, count=5, check="last", seed=77, inputs="generated")
    check(status == 200 and answer["capacity"] == 2 and answer["check"]["steps"] == 1, answer)
    times = answer["per_step_ns"]
    check(len(times) == 5 and answer["steps_ns"]["max"] >= max(times), answer)
    status, answer = SERVER.steps(rows=1, count=100, check="none")
    check(answer["check"] == {"outcome": "none", "steps": 0}, answer)
    check("per_step_ns" not in answer and answer["steps_ns"]["min"] > 0, answer)


def test_many_checked_steps():
    status, answer = SERVER.steps(rows=1, count=300)
    check(status == 200 and answer["check"] == {"outcome": "equal", "steps": 300}, answer)


BAD_BODIES = [
    (b"", "empty"),
    (b"{", "not JSON"),
    (b"{'rows':1}", "not JSON"),
    (b"{rows:1}", "not JSON"),
    (b"{\"rows\":1}\0", "zero byte"),
    (b"[1]", "JSON object"),
    (b"7", "JSON object"),
    (b"{}", "'rows' is missing; 1 to 2"),
    (b"{\"rows\":0}", "'rows' is 0, allowed is 1 to 2"),
    (b"{\"rows\":3}", "'rows' is 3, allowed is 1 to 2"),
    (b"{\"rows\":-1}", "allowed is 1 to 2"),
    (b"{\"rows\":99999999999999999999}", "allowed is 1 to 2"),
    (b"{\"rows\":1.0}", "must be an integer"),
    (b"{\"rows\":\"1\"}", "must be an integer"),
    (b"{\"rows\":null}", "must be an integer"),
    (b"{\"rows\":[1]}", "must be an integer"),
    (b"{\"rows\":true}", "must be an integer"),
    (b"{\"rows\":1,\"count\":0}", "allowed is 1 to 1000000"),
    (b"{\"rows\":1,\"count\":1000001}", "allowed is 1 to 1000000"),
    (b"{\"rows\":1,\"row\":1}", "unknown member 'row'"),
    (b"{\"rows\":1,\"rows\":1}", "given twice"),
    (b"{\"rows\":1,\"check\":\"never\"}", "\"every\", \"last\" or \"none\""),
    (b"{\"rows\":1,\"check\":1}", "\"every\", \"last\" or \"none\""),
    (b"{\"rows\":1,\"inputs\":\"mine\"}", "\"generated\" or \"kept\""),
    (b"{\"rows\":1,\"inputs\":\"kept\",\"check\":\"every\"}", "'check' must be \"none\""),
    (b"{\"rows\":1,\"seed\":-5}", "allowed is 0"),
    (b"{\"rows\":1}" + b" " * 5000, "at most"),
]


def test_bad_bodies():
    before = steps_total()
    for body, word in BAD_BODIES:
        status, _, answer = SERVER.ask("POST", "/v1/steps", body)
        expect_error(status, json.loads(answer), 400, word)
    check(steps_total() == before, "a refused request ran a step")


def test_paths_and_methods():
    for method, path, code, allow in (
            ("GET", "/", 404, None), ("GET", "/v1", 404, None), ("GET", "/v1/steps/", 404, None),
            ("GET", "/metrics/x", 404, None), ("GET", "/v1/steps", 405, "POST"),
            ("DELETE", "/v1/package", 405, "GET, HEAD"), ("POST", "/metrics", 405, "GET, HEAD"),
            ("PUT", "/v1/tensors", 405, "GET, HEAD"),
            ("POST", "/v1/tensors/x", 405, "GET, HEAD, PUT")):
        status, headers, body = SERVER.ask(method, path)
        check(status == code and headers.get("Allow") == allow, method, path, status, headers)
        check("error" in json.loads(body), body)


def raw(text):
    with socket.create_connection(("127.0.0.1", SERVER.port), timeout=driver.WAIT_S) as peer:
        peer.sendall(text)
        answer = b""
        while True:
            piece = peer.recv(65536)
            if not piece:
                return answer
            answer += piece


def test_limits():
    big = b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 40000 + b"\r\n\r\n"
    check(b" 400 " in raw(big).split(b"\r\n")[0] or b" 413 " in raw(big).split(b"\r\n")[0])
    long = b"POST /v1/steps HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n"
    check(b" 413 " in raw(long).split(b"\r\n")[0], raw(long))
    check(b"200" not in raw(b"nonsense\r\n\r\n").split(b"\r\n")[0])
    check(SERVER.state() == "ready")


def test_tensors():
    tensors = SERVER.get_json("/v1/tensors")["tensors"]
    source = next(t for t in tensors if t["role"] == "input" and t["capacity"] == 2)
    target = next(t for t in tensors if t["role"] == "output" and t["group"] == source["group"]
                  and t["capacity"] == 2 and t["pair"] == source["pair"])
    sent = []
    for rank in range(3):
        data = bytes((i * 7 + rank * 31) % 127 for i in range(source["bytes"]))
        sent.append(data)
        path = f"/v1/tensors/{source['name']}?rank={rank}"
        status, _, body = SERVER.ask("PUT", path, data)
        check(status == 200 and json.loads(body)["bytes"] == len(data), body)
        status, headers, body = SERVER.ask("GET", path)
        check(status == 200 and body == data, "the bytes put are not the bytes got")
        check(headers["Content-Type"] == "application/octet-stream", headers)
    status, answer = SERVER.steps(rows=2, inputs="kept")
    check(status == 200 and answer["check"]["outcome"] == "none", answer)
    for rank in range(3):
        body = SERVER.ask("GET", f"/v1/tensors/{target['name']}?rank={rank}")[2]
        check(body == b"".join(sent), "an all-gather of the inputs put gave other bytes")
    for path, code, word in (
            (f"/v1/tensors/{source['name']}", 400, "?rank=0 to ?rank=2"),
            (f"/v1/tensors/{source['name']}?rank=3", 400, "?rank=0 to ?rank=2"),
            (f"/v1/tensors/{source['name']}?rank=00", 400, "?rank=0 to ?rank=2"),
            ("/v1/tensors/nothing?rank=0", 404, "no tensor is named 'nothing'")):
        status, _, body = SERVER.ask("GET", path)
        expect_error(status, json.loads(body), code, word)
    status, _, body = SERVER.ask("PUT", f"/v1/tensors/{source['name']}?rank=0", b"short")
    expect_error(status, json.loads(body), 400, "has 5 bytes", "exactly")
    status, _, body = SERVER.ask(
        "PUT", f"/v1/tensors/{target['name']}?rank=0", b"0" * target["bytes"])
    check(status in (400, 413), status, body)


def metrics():
    return SERVER.ask("GET", "/metrics")[2].decode()


def steps_total():
    return sum(int(n) for n in re.findall(r"^tfrun_steps_total\{.*\} (\d+)$", metrics(), re.M))


def test_metrics():
    before = steps_total()
    SERVER.steps(rows=1, count=7, check="none")
    text = metrics()
    check(steps_total() == before + 7, before, steps_total())
    for line in ("tfrun_ready 1", "tfrun_tunings_total 0", "tfrun_captures_total 0",
                 "tfrun_rank_up{rank=\"2\"} 1"):
        check(line in text.splitlines(), line)
    check(re.search(r"^tfrun_load_seconds\{phase=\"all\"\} 0*\.?\d", text, re.M), text)
    calls = re.findall(
        r"^tfrun_writer_calls_total\{rank=\"0\",writer=\"(\w+)\"\} (\d+)$", text, re.M)
    check(sum(int(n) for _, n in calls) > 0, calls)
    for line in text.splitlines():
        check(line.startswith("# ") or re.fullmatch(r"\w+(\{[^}]*\})? \S+", line), line)


def test_departed_client():
    """A client that leaves during its request disturbs nobody."""
    for _ in range(3):
        peer = socket.create_connection(("127.0.0.1", SERVER.port))
        body = b"{\"rows\":1,\"count\":300,\"check\":\"none\"}"
        peer.sendall(b"POST /v1/steps HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s"
                     % (len(body), body))
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        peer.close()
    status, answer = SERVER.steps(rows=1)
    check(status == 200, answer)


def test_left_while_waiting():
    """A request whose client leaves before its turn is never begun, so it holds up nobody."""
    refused = r"^tfrun_requests_total\{outcome=\"refused\"\} (\d+)$"
    before = int(re.search(refused, metrics(), re.M)[1])
    os.kill(SERVER.ranks[0], signal.SIGSTOP)
    try:
        running = SERVER.steps_behind(rows=1)
        driver.wait_for(lambda: SERVER.state() == "busy", "a running step")
        peer = socket.create_connection(("127.0.0.1", SERVER.port))
        body = b"{\"rows\":1,\"count\":1000000,\"check\":\"none\"}"
        peer.sendall(b"POST /v1/steps HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s"
                     % (len(body), body))
        driver.wait_for(lambda: SERVER.get_json("/health/live")["requests_waiting"] == 1, "it")
        peer.close()
        behind = SERVER.steps_behind(rows=2)
        driver.wait_for(lambda: SERVER.get_json("/health/live")["requests_waiting"] == 2, "both")
    finally:
        os.kill(SERVER.ranks[0], signal.SIGCONT)
    for thread in (running, behind):
        thread.join()
        check(isinstance(thread.answer, tuple) and thread.answer[0] == 200, thread.answer)
    check(int(re.search(refused, metrics(), re.M)[1]) == before + 1, metrics())


def test_full_queue():
    """Requests beyond the bound are refused at once; the others are all answered."""
    threads = [SERVER.steps_behind(rows=1, count=2000, check="none")]
    driver.wait_for(lambda: SERVER.state() == "busy", "a running step")
    threads += [SERVER.steps_behind(rows=1, check="none") for _ in range(80)]
    for thread in threads:
        thread.join()
    codes = [thread.answer[0] for thread in threads]
    check(set(codes) == {200, 429} and codes.count(200) >= 65, codes)


def test_drain():
    """A running request is finished, waiting and new ones are refused, the exit code is 0."""
    running = SERVER.steps_behind(rows=1, count=200, check="every")
    driver.wait_for(lambda: SERVER.state() == "busy", "a running step")
    waiting = SERVER.steps_behind(rows=1)
    driver.wait_for(
        lambda: SERVER.get_json("/health/live")["requests_waiting"] == 1, "a waiting step")
    SERVER.process.send_signal(signal.SIGTERM)
    waiting.join()
    check(waiting.answer[0] == 503, waiting.answer)
    check("draining" in waiting.answer[1]["error"]["message"], waiting.answer)
    running.join()
    check(running.answer[0] == 200 and running.answer[1]["count"] == 200, running.answer)
    code, _, err = SERVER.end()
    check(code == 0 and err == "", code, err)


with SERVER:
    driver.main([
        test_block, test_health, test_package, test_steps, test_many_checked_steps, test_bad_bodies,
        test_paths_and_methods, test_limits, test_tensors, test_metrics, test_departed_client,
        test_left_while_waiting, test_full_queue, test_drain])
