# SPDX-License-Identifier: Apache-2.0
"""Names, lengths and licence lines of files. Usage: house_shape.py ROOT"""
import os
import re
import sys

import house_tree

FILE_LINES_MAX = 1000
COLUMNS_MAX = 100
TAB_COLUMNS = 4

# Tables may be longer than a file of code; none is today.
LONG_TABLES = set()

SPDX = "SPDX-License-Identifier: Apache-2.0"
SPDX_NAMES = re.compile(r"(\.(c|h|cu|cuh|py|sh|sql|cmake)|(^|/)CMakeLists\.txt)$")

# Names that say the same thing in every folder. In tests/ only sources must differ: expected
# outputs and corpora are named by what they are.
COMMON_NAMES = re.compile(r"^(CMakeLists\.txt|main\.c|.*\.md|\..*)$")
CODE_NAMES = re.compile(r"\.(c|h|cu|cuh|py|sh|sql)$")


def needs_unique_name(name):
    base = os.path.basename(name)
    if COMMON_NAMES.match(base) or name.startswith("."):
        return False
    return bool(CODE_NAMES.search(base)) or not name.startswith("tests/")


def check_names(names):
    seen, findings = {}, []
    for name in filter(needs_unique_name, names):
        first = seen.setdefault(os.path.basename(name), name)
        if first != name:
            findings.append(f"{name}: another file bears this name: {first}")
    return findings


def check_lines(name, lines):
    findings = []
    if len(lines) > FILE_LINES_MAX and not name.startswith("tests/") and name not in LONG_TABLES:
        findings.append(f"{name}: {len(lines)} lines, {FILE_LINES_MAX} is the ceiling")
    for number, line in enumerate(lines, 1):
        columns = len(line.expandtabs(TAB_COLUMNS))
        if columns > COLUMNS_MAX:
            findings.append(f"{name}:{number}: {columns} columns, {COLUMNS_MAX} is the ceiling")
    return findings


def main():
    root = sys.argv[1]
    names = house_tree.files(root)
    findings = check_names(names)
    for name in names:
        if name.endswith(house_tree.SOURCE_ENDINGS):
            findings += check_lines(name, house_tree.lines(root, name))
        if SPDX_NAMES.search(name):
            head = house_tree.lines(root, name)[:2]
            first = head[1:] if head and head[0].startswith("#!") else head[:1]
            if not any(SPDX in line for line in first):
                findings.append(f"{name}:1: the first line is not '{SPDX}'")
    house_tree.finish(len(names), findings)


main()
