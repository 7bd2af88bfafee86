# SPDX-License-Identifier: Apache-2.0
"""A rank that is killed or stopped, at load, idle and during a step. Usage: TFRUN PACKAGE"""
import os
import signal
import socket

import serve_driver as driver
from serve_driver import Server, check

WORLD = 3
TIMEOUT = ("--timeout", "1000")


def others_of(rank):
    left = [str(r) for r in range(WORLD) if r != rank]
    return f"ranks {left[0]} and {left[1]} are ended"


def expect_loss(server, rank, *words):
    code, _, err = server.end()
    check(code == 1, code, err)
    check(err.count("\n") == 1 and err.startswith("tfrun: "), err)
    check(f"rank {rank} " in err and others_of(rank) in err, rank, err)
    for word in words:
        check(word in err, word, "is not in", err)


def test_killed_while_loading():
    for rank in range(WORLD):
        with Server(*TIMEOUT, ready=False) as server:
            os.kill(server.wait_children(WORLD)[rank], signal.SIGKILL)
            expect_loss(server, rank, "was killed by signal 9 (Killed)")


def test_stopped_while_loading():
    for rank in range(WORLD):
        with Server(*TIMEOUT, ready=False) as server:
            os.kill(server.wait_children(WORLD)[rank], signal.SIGSTOP)
            expect_loss(server, rank, "gave no sign of life")


def test_asked_while_loading():
    """A rank stopped at once makes the loading last: HTTP says so, and takes no steps."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        port = holder.getsockname()[1]
    with Server(*TIMEOUT, "--listen", f"127.0.0.1:{port}", ready=False) as server:
        os.kill(server.wait_children(WORLD)[2], signal.SIGSTOP)
        server.port = port
        check(server.state() == "loading")
        status, _, body = server.ask("GET", "/health/ready")
        check(status == 503 and b"loading" in body, status, body)
        status, answer = server.steps(rows=1)
        check(status == 503 and "loading" in answer["error"]["message"], status, answer)
        check("tfrun_ready 0" in server.ask("GET", "/metrics")[2].decode())
        expect_loss(server, 2, "gave no sign of life", "while loading")


def test_killed_while_idle():
    for rank in range(WORLD):
        with Server(*TIMEOUT) as server:
            os.kill(server.ranks[rank], signal.SIGKILL)
            expect_loss(server, rank, "was killed by signal 9 (Killed) while idle")


def test_stopped_while_idle():
    with Server(*TIMEOUT) as server:
        os.kill(server.ranks[1], signal.SIGSTOP)
        expect_loss(server, 1, "gave no sign of life", "while idle")


def lose_during_steps(rank, number, *words, **request):
    with Server(*TIMEOUT) as server:
        asked = server.steps_behind(rows=2, count=1000000, **request)
        driver.wait_for(lambda: server.state() == "busy", "a running step")
        os.kill(server.ranks[rank], number)
        asked.join()
        check(asked.answer[0] == 503, asked.answer)
        check(f"rank {rank} " in asked.answer[1]["error"]["message"], asked.answer)
        expect_loss(server, rank, "during a step", *words)


def test_killed_during_steps():
    for rank in range(WORLD):
        lose_during_steps(rank, signal.SIGKILL, "was killed by signal 9 (Killed)", check="none")


def test_stopped_during_steps():
    for rank in range(WORLD):
        lose_during_steps(rank, signal.SIGSTOP, "gave no sign of life", check="none")


def test_lost_during_checked_steps():
    lose_during_steps(0, signal.SIGSTOP, "gave no sign of life")
    lose_during_steps(2, signal.SIGKILL, "was killed by signal 9 (Killed)")


def test_supervisor_killed():
    """The ranks die with it."""
    with Server(*TIMEOUT) as server:
        server.process.kill()
        server.process.wait()
        for pid in server.ranks:
            driver.wait_for(lambda p=pid: not driver.is_alive(p), f"the end of {pid}", 10)


def test_all_stopped_and_continued():
    """A group that was suspended as a whole, as from a terminal, goes on."""
    with Server(*TIMEOUT) as server:
        everyone = [server.pid, *server.ranks]
        for pid in everyone:
            os.kill(pid, signal.SIGSTOP)
        driver.time.sleep(1.5)
        for pid in reversed(everyone):
            os.kill(pid, signal.SIGCONT)
        check(server.steps(rows=1)[0] == 200)
        check(server.end(signal.SIGTERM)[0] == 0)


def test_interrupt():
    """SIGINT reaches the whole process group of a terminal; ranks leave it to the supervisor."""
    with Server(*TIMEOUT) as server:
        for pid in server.ranks:
            os.kill(pid, signal.SIGINT)
            os.kill(pid, signal.SIGTERM)
        check(server.steps(rows=1)[0] == 200)
        code, _, err = server.end(signal.SIGINT)
        check(code == 130 and err == "", code, err)


def test_signal_while_loading():
    for number, expected in ((signal.SIGTERM, 0), (signal.SIGINT, 130)):
        with Server(*TIMEOUT, ready=False) as server:
            server.wait_children(WORLD)
            driver.wait_for(lambda: handles(server.pid, number), "the signal's handler")
            code, _, err = server.end(number)
            check(code == expected and err == "", code, err)


def test_signal_at_birth():
    """As soon as there is a process, and mostly before anything listens to signals."""
    for number, expected in 4 * ((signal.SIGTERM, 0), (signal.SIGINT, 130)):
        with Server(*TIMEOUT, ready=False) as server:
            while not driver.children(server.pid):
                check(server.process.poll() is None, "ended by itself")
            code, _, err = server.end(number)
            check(code == expected and err == "", number, code, err)


def handles(pid, number):
    with open(f"/proc/{pid}/status") as file:
        caught = next(line for line in file if line.startswith("SigCgt"))
    return int(caught.split()[1], 16) >> (number - 1) & 1


def test_second_signal():
    with Server(*TIMEOUT) as server:
        asked = server.steps_behind(rows=2, count=1000000, check="none")
        driver.wait_for(lambda: server.state() == "busy", "a running step")
        server.process.send_signal(signal.SIGTERM)
        driver.wait_for(lambda: server.state() == "draining", "draining")
        code, _, err = server.end(signal.SIGINT)
        asked.join()
        check(code == 130 and err == "" and asked.answer[0] == 503, code, err, asked.answer)


def test_drain_is_bounded():
    with Server("--timeout", "500") as server:
        asked = server.steps_behind(rows=2, count=1000000, check="none")
        driver.wait_for(lambda: server.state() == "busy", "a running step")
        code, _, err = server.end(signal.SIGTERM)
        asked.join()
        check(code == 1 and "was cut" in err and asked.answer[0] == 503, code, err, asked.answer)


driver.main([
    test_killed_while_loading, test_stopped_while_loading, test_asked_while_loading,
    test_killed_while_idle, test_stopped_while_idle, test_killed_during_steps,
    test_stopped_during_steps, test_lost_during_checked_steps, test_supervisor_killed,
    test_all_stopped_and_continued, test_interrupt, test_signal_while_loading,
    test_signal_at_birth, test_second_signal, test_drain_is_bounded])
