# SPDX-License-Identifier: Apache-2.0
"""Lengths of functions, as ctags sees them. Usage: house_functions.py ROOT"""
import os
import shutil
import subprocess
import sys

import house_tree

LINES_MAX = 120
MAIN_LINES_MAX = 60


def functions(root, names):
    """(name of file, line, name of function, lines) of every function."""
    command = ["ctags", "-x", "--sort=no", "--kinds-C=f", "--kinds-C++=f", "--kinds-CUDA=f"]
    command += ["--fields=+e", "--_xformat=%F|%n|%N|%e", "-L", "-"]
    paths = "\n".join(os.path.join(root, name) for name in names)
    out = subprocess.run(command, input=paths, stdout=subprocess.PIPE, text=True, check=True).stdout
    for line in out.splitlines():
        path, start, name, end = line.split("|")
        yield os.path.relpath(path, root), int(start), name, int(end) - int(start) + 1


def main():
    root = sys.argv[1]
    if not shutil.which("ctags"):
        house_tree.skip("no ctags")
    version = subprocess.run(["ctags", "--version"], stdout=subprocess.PIPE, text=True, check=False)
    if "Universal Ctags" not in version.stdout:
        house_tree.skip("ctags is not Universal Ctags, which alone tells where a function ends")
    names = [n for n in house_tree.sources(root) if not n.startswith("tests/")]
    findings, count = [], 0
    for name, start, function, length in functions(root, names):
        count += 1
        ceiling = MAIN_LINES_MAX if function == "main" else LINES_MAX
        if length > ceiling:
            place = f"{name}:{start}"
            findings.append(f"{place}: '{function}' has {length} lines, {ceiling} is the ceiling")
    if names and not count:
        findings.append("ctags found no function in any file")
    house_tree.finish(len(names), findings)


main()
