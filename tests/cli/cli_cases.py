#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of a folder against the built tools.

A case is NAME.sh and what is expected of it:
  NAME.stdout or NAME.stdout.re   exact text, or a regular expression for all of it; absent = empty
  NAME.stderr or NAME.stderr.re   the same
  NAME.exit                       the exit code; absent = 0
The script runs in an empty folder of its own, with TFPREP and TFRUN in the environment; in its
output that folder's path reads @WORK@. No case may leave a process or a temporary file behind.

  cli_cases.py --tfprep FILE [--tfrun FILE] [--record] FOLDER [NAME...]

--record writes what was seen over exact expectations and exit codes; expressions stay as they are.
"""
import argparse
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import cli_world

BOUND_S = 60


def read(path, default=""):
    return path.read_text(encoding="utf-8") if path.exists() else default


def compare(stem, stream, seen, record):
    """The complaint about one stream, or None."""
    pattern = stem.with_name(f"{stem.name}.{stream}.re")
    exact = stem.with_name(f"{stem.name}.{stream}")
    if pattern.exists():
        if re.fullmatch(read(pattern).rstrip("\n"), seen.rstrip("\n"), re.DOTALL):
            return None
        return (f"{stream} does not match {pattern.name}:\n"
                f"  pattern: {read(pattern).rstrip()}\n  seen:    {seen.rstrip()}")
    wanted = read(exact)
    if seen == wanted:
        return None
    if record:
        if seen:
            exact.write_text(seen, encoding="utf-8")
        else:
            exact.unlink(missing_ok=True)
        return None
    lines = difflib.unified_diff(
        wanted.splitlines(), seen.splitlines(), f"expected {stream}", f"seen {stream}", lineterm="")
    return "\n".join(lines)


def compare_exit(stem, seen, record):
    path = stem.with_name(f"{stem.name}.exit")
    wanted = int(read(path, "0"))
    if seen == wanted:
        return None
    if record:
        if seen:
            path.write_text(f"{seen}\n", encoding="utf-8")
        else:
            path.unlink(missing_ok=True)
        return None
    return f"exit code {seen}, expected {wanted}"


def run_case(script, tools, record):
    stem = script.with_suffix("")
    work = tempfile.mkdtemp(prefix="tf-cli-")
    world = cli_world.World(work, tools)
    complaints = []
    try:
        try:
            done = subprocess.run(
                ["sh", str(script)], cwd=work, env=world.environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=BOUND_S, check=False)
        except subprocess.TimeoutExpired:
            return [f"still running after {BOUND_S} s"]
        for stream, raw in (("stdout", done.stdout), ("stderr", done.stderr)):
            text = raw.decode("utf-8", "backslashreplace").replace(work, "@WORK@")
            complaints.append(compare(stem, stream, text, record))
        complaints.append(compare_exit(stem, done.returncode, record))
        complaints.append(world.leftovers())
    finally:
        world.end_processes()
        subprocess.run(["chmod", "-R", "u+rwX", work], check=False)
        shutil.rmtree(work, ignore_errors=True)
    return [c for c in complaints if c]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tfprep", required=True)
    parser.add_argument("--tfrun", default="")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    tools = {"TFPREP": os.path.abspath(args.tfprep)}
    if args.tfrun:
        tools["TFRUN"] = os.path.abspath(args.tfrun)
    scripts = sorted(args.folder.resolve().glob("*.sh"))
    if args.names:
        scripts = [s for s in scripts if s.stem in args.names]
    if not scripts:
        sys.exit(f"no cases in {args.folder}")
    failed = 0
    for script in scripts:
        complaints = run_case(script, tools, args.record)
        if complaints:
            failed += 1
            print(f"FAILED {script.stem}\n" + "\n".join(complaints) + "\n")
    print(f"{len(scripts) - failed} of {len(scripts)} cases passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
