# SPDX-License-Identifier: Apache-2.0
"""A folder and an environment for a run of the tools, and what it may not leave behind."""
import os
import pathlib
import secrets
import signal
import time

MARK = "TF_CLI_CASE"


class World:
    def __init__(self, work, tools):
        self.work = pathlib.Path(work)
        self.mark = secrets.token_hex(8)
        self.environment = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": str(work),
            "LC_ALL": "C.UTF-8",
            "NO_COLOR": "1",
            MARK: self.mark,
            **tools,
        }
        # a sanitized build keeps its options
        self.environment.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")})

    def processes(self):
        """Processes that carry this world's mark, but zombies."""
        wanted = f"{MARK}={self.mark}".encode()
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                if wanted in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                continue
        return found

    def wait_for_none(self, bound_s=10.0):
        """Whether all processes of this world are gone; killed ones need an instant to be."""
        until = time.monotonic() + bound_s
        while self.processes():
            if time.monotonic() > until:
                return False
            time.sleep(0.02)
        return True

    def end_processes(self):
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass

    def temporaries(self):
        return sorted(str(p.relative_to(self.work)) for p in self.work.rglob("tfprep-*.tmp"))

    def leftovers(self):
        """A complaint about processes or temporary files that are left, or None."""
        if not self.wait_for_none():
            return f"processes are left: {self.processes()}"
        if self.temporaries():
            return f"temporary files are left: {self.temporaries()}"
        return None
