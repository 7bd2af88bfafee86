# SPDX-License-Identifier: Apache-2.0
"""What the scripts of this folder share: starting tfrun, asking it, looking for what it leaves."""
import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time

TFRUN = sys.argv[1]
PACKAGE = sys.argv[2]
WAIT_S = 60  # for what must happen at some time; never a measurement


def check(condition, *words):
    if not condition:
        raise AssertionError(" ".join(str(word) for word in words))


def wait_for(condition, what, seconds=WAIT_S):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        value = condition()
        if value:
            return value
        time.sleep(0.005)
    raise AssertionError(f"waited {seconds} s for {what}")


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(word) for word in file.read().split()]
    except FileNotFoundError:
        return []


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def links(pid):
    """What its descriptors are; one that closes meanwhile is none."""
    found = set()
    place = f"/proc/{pid}/fd"
    for fd in os.listdir(place):
        try:
            found.add(os.readlink(os.path.join(place, fd)))
        except FileNotFoundError:
            pass
    return found


def run(*args, package=PACKAGE, **more):
    """tfrun to its end: (exit code, stdout, stderr)."""
    words = [TFRUN, *args] + ([package] if package else [])
    done = subprocess.run(words, capture_output=True, text=True, timeout=WAIT_S, **more)
    return done.returncode, done.stdout, done.stderr


def in_order(pids):
    """As they were forked: pids rise, and behind the highest begin anew."""
    with open("/proc/sys/kernel/pid_max") as file:
        half = int(file.read()) // 2
    wrapped = pids and max(pids) - min(pids) > half
    return sorted(pids, key=lambda pid: (wrapped and pid < half, pid))


class Server:
    """A serving tfrun at a free port; the end of the `with` block must find it ended or ends it."""

    def __init__(self, *args, package=PACKAGE, ready=True, **more):
        words = [TFRUN, "--listen", "127.0.0.1:0", *args, package]
        self.process = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
        self.pid = self.process.pid
        self.block = []
        self.port = None
        self.ranks = []
        if ready:
            self.wait_ready()

    def wait_ready(self):
        for line in self.process.stdout:
            self.block.append(line)
            if line.startswith("listening"):
                self.port = int(line.rsplit(":", 1)[1])
                break
        if self.port is None:
            raise AssertionError(f"never ready: {self.process.communicate()}")
        self.ranks = in_order(children(self.pid))

    def wait_children(self, count):
        self.ranks = in_order(wait_for(
            lambda: len(children(self.pid)) >= count and children(self.pid), "the ranks"))
        return self.ranks

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        for pid in self.ranks:
            wait_for(lambda p=pid: not is_alive(p), f"the end of rank process {pid}", 10)

    def connect(self, timeout=WAIT_S):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(self, method, path, body=None, headers=None):
        """(status, headers, body) of one request on a connection of its own."""
        connection = self.connect()
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def get_json(self, path):
        status, _, body = self.ask("GET", path)
        check(status == 200, path, status, body)
        return json.loads(body)

    def steps(self, **members):
        status, _, body = self.ask("POST", "/v1/steps", json.dumps(members))
        return status, json.loads(body)

    def steps_behind(self, **members):
        """A request of its own thread; .answer is (status, body) or an exception, once joined."""
        def ask():
            try:
                thread.answer = self.steps(**members)
            except Exception as error:  # judged by the test
                thread.answer = error
        thread = threading.Thread(target=ask)
        thread.answer = None
        thread.start()
        return thread

    def state(self):
        return json.loads(self.ask("GET", "/health/live")[2])["state"]

    def end(self, number=None):
        """(exit code, stdout, stderr) after a signal, or after the end that it finds by itself."""
        if number is not None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=WAIT_S)
        for pid in self.ranks:
            check(not is_alive(pid), "rank process", pid, "was left behind")
        return self.process.returncode, "".join(self.block) + out, err


def main(tests):
    """Runs the functions in order; prints each; exits 1 at the first that fails."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for test in tests:
        begin = time.monotonic()
        test()
        print(f"ok {test.__name__} ({time.monotonic() - begin:.1f} s)", flush=True)
