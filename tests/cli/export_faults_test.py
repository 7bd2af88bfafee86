#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports that are killed, interrupted, starved of disk or run side by side.

What is left is the old file or none, never a part.

  export_faults_test.py --tfprep FILE
"""
import argparse
import contextlib
import ctypes
import hashlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import cli_world

TFPREP = ""
BOUND_S = 60
OLD = b"the old file\n"
SKIPPED = 77


class Export(unittest.TestCase):
    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="tf-cli-"))
        self.world = cli_world.World(self.work, {"TFPREP": TFPREP})
        self.target = self.work / "x.tfp"

    def tearDown(self):
        self.world.end_processes()
        shutil.rmtree(self.work, ignore_errors=True)

    def start(self, *more, target=None, **keywords):
        """Of the whole default workload, so that there is time to be killed in."""
        words = [TFPREP, "export", "--device", "host", "-o", str(target or self.target), *more]
        keywords = {"cwd": self.work, "env": self.world.environment, **keywords}
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **keywords)

    def finish(self, process):
        try:
            out, err = process.communicate(timeout=BOUND_S)
        except subprocess.TimeoutExpired:
            self.fail(f"still running after {BOUND_S} s")
        self.assertTrue(self.world.wait_for_none(), f"processes are left: {self.world.processes()}")
        return process.returncode, out, err

    def export(self, *more, **keywords):
        return self.finish(self.start(*more, **keywords))

    def duration(self):
        begin = time.monotonic()
        code, _, err = self.export(target=self.work / "first.tfp")
        self.assertEqual(code, 0, err)
        return time.monotonic() - begin

    def assert_whole(self, path):
        done = subprocess.run(["tar", "--zstd", "-tf", str(path)], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines()[0], "catalog.sqlite")

    def assert_old_or_whole(self, moment):
        if self.target.read_bytes() != OLD:
            with self.subTest(moment=moment):
                self.assert_whole(self.target)

    def moments(self, count):
        whole = self.duration()
        return [whole * (i + 0.5) / count for i in range(count)]


class Killed(Export):
    def test_kill_leaves_the_old_file_and_no_process(self):
        killed = 0
        for moment in self.moments(10):
            self.target.write_bytes(OLD)
            process = self.start()
            time.sleep(moment)
            process.kill()
            code, _, _ = self.finish(process)
            killed += code == -signal.SIGKILL
            self.assert_old_or_whole(moment)
        self.assertGreaterEqual(killed, 1)  # on a busy machine some moments come too late
        stale = self.world.temporaries()
        code, _, err = self.export()
        self.assertEqual(code, 0, err)
        self.assert_whole(self.target)
        # what a killed one left is named, and is all that is there
        for name in stale:
            self.assertIn(name, err)
        self.assertEqual(self.world.temporaries(), stale)

    def test_no_old_file_then_none(self):
        for moment in self.moments(4)[:3]:
            process = self.start()
            time.sleep(moment)
            process.kill()
            self.finish(process)
            if self.target.exists():
                self.assert_whole(self.target)
                self.target.unlink()

    def test_a_killed_rank_is_named(self):
        for _ in range(20):
            self.target.write_bytes(OLD)
            process = self.start()
            ranks = []
            while not ranks and process.poll() is None:
                ranks = [pid for pid in self.world.processes() if pid != process.pid]
            for pid in ranks[:1]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            code, _, err = self.finish(process)
            if code:
                break
        self.assertEqual(code, 1, err)
        self.assertRegex(err, r"rank \d was killed by signal 9")
        self.assertEqual(self.target.read_bytes(), OLD)
        self.assertIsNone(self.world.leftovers())

    def test_a_stopped_rank_is_named(self):
        for _ in range(20):
            self.target.write_bytes(OLD)
            process = self.start("--timeout", "300", "--tp", "3")
            ranks = []
            while not ranks and process.poll() is None:
                ranks = [pid for pid in self.world.processes() if pid != process.pid]
            for pid in ranks[:1]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSTOP)
            code, _, err = self.finish(process)
            if code:
                break
        self.assertEqual(code, 1, err)
        self.assertRegex(err, r"rank \d")
        self.assertEqual(self.target.read_bytes(), OLD)
        self.assertIsNone(self.world.leftovers())


class Interrupted(Export):
    def interrupt(self, number, whole_group):
        interrupted = 0
        for moment in self.moments(8):
            self.target.write_bytes(OLD)
            process = self.start(start_new_session=True)
            time.sleep(moment)
            if process.poll() is None:
                if whole_group:
                    os.killpg(process.pid, number)  # as a terminal does
                else:
                    process.send_signal(number)
            code, _, err = self.finish(process)
            # in the first instants the signal meets no handler yet
            self.assertIn(code, (130, 0, -number), err)
            interrupted += code == 130
            if code == 130:
                self.assertEqual(self.target.read_bytes(), OLD)
                self.assertRegex(err, r"(?m)^tfprep export: .*interrupted$")
            self.assert_old_or_whole(moment)
            self.assertEqual(self.world.temporaries(), [])
        self.assertGreaterEqual(interrupted, 1)  # on a busy machine some moments come too late

    def test_interrupt(self):
        self.interrupt(signal.SIGINT, False)

    def test_interrupt_from_a_terminal(self):
        self.interrupt(signal.SIGINT, True)

    def test_terminate(self):
        self.interrupt(signal.SIGTERM, False)

    def test_a_terminal_that_is_closed(self):
        self.interrupt(signal.SIGHUP, True)

    def test_a_closed_terminal_is_nothing_under_nohup(self):
        ignore = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            process = self.start(start_new_session=True)  # an ignored signal is inherited
        finally:
            signal.signal(signal.SIGHUP, ignore)
        while len(self.world.processes()) < 2 and process.poll() is None:
            time.sleep(0.001)
        os.killpg(process.pid, signal.SIGHUP)
        code, _, err = self.finish(process)
        self.assertEqual(code, 0, err)
        self.assert_whole(self.target)


class SideBySide(Export):
    def test_two_exports_to_one_name(self):
        for _ in range(3):
            pair = [self.start("--capacity", "1"), self.start("--capacity", "1,2")]
            digests = []
            for process in pair:
                out, err = process.communicate(timeout=BOUND_S)
                self.assertEqual(process.returncode, 0, err)
                digests.append(re.search(r"(?m)^sha256 +([0-9a-f]{64})$", out).group(1))
            self.assert_whole(self.target)
            self.assertIn(hashlib.sha256(self.target.read_bytes()).hexdigest(), digests)
            self.assertIsNone(self.world.leftovers())


class Disk(Export):
    @contextlib.contextmanager
    def small_disk(self, kibibytes):
        folder = self.work / "disk"
        folder.mkdir()
        libc = ctypes.CDLL(None, use_errno=True)
        where = str(folder).encode()
        if libc.mount(b"tmpfs", where, b"tmpfs", 0, f"size={kibibytes}k".encode()):
            self.skipTest(f"cannot mount a small disk: {os.strerror(ctypes.get_errno())}")
        try:
            yield folder
        finally:
            libc.umount2(where, 2)

    def test_a_full_disk_leaves_the_old_file(self):
        with self.small_disk(16) as disk:
            target = disk / "x.tfp"
            target.write_bytes(OLD)
            code, _, err = self.export(target=target)
            self.assertEqual(code, 1, err)
            self.assertIn("No space left on device", err)
            self.assertIn(str(target), err)
            self.assertEqual(target.read_bytes(), OLD)
            self.assertEqual([p.name for p in disk.iterdir()], ["x.tfp"])

    def test_a_folder_that_may_not_be_written(self):
        folder = self.work / "closed"
        folder.mkdir()
        (folder / "x.tfp").write_bytes(OLD)
        folder.chmod(0o555)
        self.work.chmod(0o755)
        user = {"user": 64321, "group": 64321, "extra_groups": []} if os.getuid() == 0 else {}
        try:
            code, _, err = self.export("--capacity", "1", target=folder / "x.tfp", **user)
        except PermissionError:
            self.skipTest("another user may not run the tool from where it is")
        finally:
            folder.chmod(0o755)
        self.assertEqual(code, 1, err)
        self.assertIn("Permission denied", err)
        self.assertEqual((folder / "x.tfp").read_bytes(), OLD)

    def test_a_user_that_no_one_knows(self):
        """A random uid, no HOME, and a current folder that may not be written."""
        if os.getuid() != 0:
            self.skipTest("only root may become another user")
        out = self.work / "out"
        out.mkdir()
        os.chown(out, 64321, 64321)
        self.work.chmod(0o755)
        environment = {k: v for k, v in self.world.environment.items() if k != "HOME"}
        try:
            code, _, err = self.export("--capacity", "1", target=out / "x.tfp", user=64321,
                                       group=64321, extra_groups=[], cwd="/", env=environment)
        except PermissionError:
            self.skipTest("another user may not run the tool from where it is")
        self.assertEqual(code, 0, err)
        self.assert_whole(out / "x.tfp")
        self.assertEqual([p.name for p in out.iterdir()], ["x.tfp"])


def main():
    global TFPREP
    parser = argparse.ArgumentParser()
    parser.add_argument("--tfprep", required=True)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    TFPREP = os.path.abspath(args.tfprep)
    unittest.main(argv=[sys.argv[0], *args.names], verbosity=2)


if __name__ == "__main__":
    main()
