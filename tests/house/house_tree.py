# SPDX-License-Identifier: Apache-2.0
"""The files that the house tests read, and how a house test reports.

The list is what git tracks or would track; outside a work tree (a source archive, the planted
trees of the self-test) it is every file outside build folders. An empty list is an error, so a
checker that looks at the wrong place cannot pass.
"""
import os
import subprocess
import sys

SKIPPED = 77
SOURCE_ENDINGS = (".c", ".h", ".cu", ".cuh")


def _git_files(root):
    def git(*words):
        command = ["git", "-C", root, *words]
        run = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True
        )
        return run.stdout.decode()

    try:
        top = git("rev-parse", "--show-toplevel").rstrip("\n")
        if os.path.realpath(top) != os.path.realpath(root):
            return None
        listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    except (OSError, subprocess.CalledProcessError):
        return None
    return [name for name in listed.split("\0") if name]


def _walked_files(root):
    names = []
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if f not in (".git", "build") and f[:6] != "build-"]
        names += [os.path.relpath(os.path.join(folder, name), root) for name in files]
    return names


def files(root):
    """Paths relative to `root`, sorted, of files that exist."""
    names = _git_files(root)
    if names is None:
        names = _walked_files(root)
    return sorted({n for n in names if os.path.isfile(os.path.join(root, n))})


def sources(root):
    return [name for name in files(root) if name.endswith(SOURCE_ENDINGS)]


def lines(root, name):
    with open(os.path.join(root, name), encoding="utf-8", errors="replace") as text:
        return text.read().splitlines()


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def finish(checked, findings):
    """Prints the findings and leaves: 0 when there are none, 1 otherwise or if nothing was read."""
    for finding in findings:
        print(finding)
    print(f"{checked} files, {len(findings)} findings")
    if not checked:
        print("nothing was checked: is this the root of the tree?")
    sys.exit(1 if findings or not checked else 0)
