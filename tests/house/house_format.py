# SPDX-License-Identifier: Apache-2.0
"""clang-format has nothing to change. Usage: house_format.py ROOT

The same .clang-format gives other line breaks in other versions, so one version decides.
"""
import os
import re
import shutil
import subprocess
import sys

import house_tree

VERSION = "14"


def find_formatter():
    program = shutil.which(f"clang-format-{VERSION}") or shutil.which("clang-format")
    if not program:
        house_tree.skip("no clang-format")
    run = subprocess.run([program, "--version"], stdout=subprocess.PIPE, text=True, check=True)
    if not re.search(rf"version {VERSION}\.", run.stdout):
        house_tree.skip(f"clang-format {VERSION} decides, found: {run.stdout.strip()}")
    return program


def main():
    root = sys.argv[1]
    program = find_formatter()
    names = [n for n in house_tree.sources(root) if n.endswith((".c", ".h"))]
    findings = []
    for name in names:
        run = subprocess.run(
            [program, "--style=file", "--dry-run", "-Werror", os.path.join(root, name)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if run.returncode:
            places = re.findall(r":(\d+):\d+: error:", run.stdout)
            findings.append(f"{name}: not formatted, first at line {places[0] if places else '?'}")
    house_tree.finish(len(names), findings)


main()
