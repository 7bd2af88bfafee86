# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium over its DevTools pipe (file descriptors 3 and 4), with the standard library.

Every wait is bounded. The browser runs in a profile of its own and ends with the object.
"""
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
BOUND_S = 60


def find():
    """The browser's path, or None."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Browser:
    """One browser with one page; `events` holds everything that the page reported."""

    def __init__(self, program):
        self.folder = tempfile.mkdtemp(prefix="tf-browser-")
        to_browser, self.writer = os.pipe()
        self.reader, from_browser = os.pipe()
        # The browser expects 3 for reading and 4 for writing; a shell moves them there.
        command = [
            "sh", "-c", f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}', program,
            "--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--disable-dev-shm-usage", "--hide-scrollbars", "--mute-audio",
            f"--user-data-dir={self.folder}",
        ]
        if os.geteuid() == 0:
            command.append("--no-sandbox")  # it refuses to be sandboxed as root
        with open(os.path.join(self.folder, "log"), "wb") as log:
            self.process = subprocess.Popen(
                command + ["about:blank"], pass_fds=(to_browser, from_browser), stdout=log,
                stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.count = 0
        self.events = []
        self.session = None
        self._attach()

    def _attach(self):
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(t["targetId"] for t in targets if t["type"] == "page")
        self.session = self.call(
            "Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.call(f"{domain}.enable")

    def _read(self, deadline):
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.reader], [], [], left)[0]:
                raise TimeoutError(f"the browser said nothing for {BOUND_S} s")
            piece = os.read(self.reader, 1 << 20)
            if not piece:
                raise EOFError("the browser closed its pipe")
            self.buffer += piece
        raw, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(raw)

    def call(self, method, **params):
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        raw = json.dumps(message).encode() + b"\0"
        while raw:
            raw = raw[os.write(self.writer, raw):]
        deadline = time.monotonic() + BOUND_S
        while True:
            answer = self._read(deadline)
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, event):
        deadline = time.monotonic() + BOUND_S
        while not any(each.get("method") == event for each in self.events):
            self.events.append(self._read(deadline))

    def open(self, path):
        self.events.clear()
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        self.wait("Page.loadEventFired")
        self.settle()

    def settle(self):
        """Two frames later: observers and charts have drawn."""
        self.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
                   ".then(() => true)")

    def value(self, expression):
        """The value of a JavaScript expression; promises are awaited."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:2000])
        return answer["result"].get("value")

    def size(self, width, height, phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=2 if phone else 1, mobile=phone)
        self.settle()

    def scheme(self, name, reduced=False):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": name},
            {"name": "prefers-reduced-motion", "value": "reduce" if reduced else "no-preference"}])
        self.settle()

    def key(self, name, code=0, text=None, shift=False):
        common = {"key": name, "code": name, "windowsVirtualKeyCode": code,
                  "modifiers": 8 if shift else 0}
        down = dict(common, type="keyDown" if text else "rawKeyDown")
        if text:
            down["text"] = text
        self.call("Input.dispatchKeyEvent", **down)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def picture(self, path, whole=True):
        # Whole pages are drawn by making the window as tall as they are.
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)  # its own session: nobody else is in it
        except ProcessLookupError:
            pass
        self.process.wait(timeout=BOUND_S)
        os.close(self.reader)
        os.close(self.writer)
        shutil.rmtree(self.folder, ignore_errors=True)
