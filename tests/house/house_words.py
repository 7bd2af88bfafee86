# SPDX-License-Identifier: Apache-2.0
"""No file speaks of the machine it was written on. Usage: house_words.py ROOT"""
import os
import re
import sys

import house_tree

# Each pattern is written so that it does not match its own text here.
WORDS = (
    ("a folder of one machine", re.compile(rb"(?<![\w./-])/(work|root)[/]")),
    (
        "a host of a private network",
        re.compile(rb"https?://[\w.-]+\.(internal|intranet|corp|lan)\b"),
    ),
    (
        "an address of a private network",
        re.compile(rb"https?://(10|192\.168|172\.(1[6-9]|2\d|3[01]))(\.\d+)+"),
    ),
    ("a merge that was not finished", re.compile(rb"^(<{7}|>{7}) ", re.MULTILINE)),
)


def check(name, data):
    findings = []
    for what, pattern in WORDS:
        for found in pattern.finditer(data):
            number = data.count(b"\n", 0, found.start()) + 1
            shown = found.group().decode(errors="replace")
            findings.append(f"{name}:{number}: {what}: '{shown}'")
    return findings


def main():
    root = sys.argv[1]
    names = house_tree.files(root)
    findings = []
    for name in names:
        with open(os.path.join(root, name), "rb") as file:
            findings += check(name, file.read())
    house_tree.finish(len(names), findings)


main()
