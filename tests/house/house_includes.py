# SPDX-License-Identifier: Apache-2.0
"""The folder law: which folder may include which. Usage: house_includes.py ROOT"""
import os
import re
import sys

import house_tree

EVERYTHING = None
ALLOWED = {
    "base": {"base"},
    "catalog": {"base", "catalog"},
    "packages": {"base", "packages"},
    "ladders": {"base", "catalog", "ladders"},
    "runtime": {"base", "catalog", "packages", "runtime"},
    "prepare": {"base", "catalog", "packages", "ladders", "runtime", "prepare"},
    "tests": EVERYTHING,
    "docs": EVERYTHING,
}

# The runtime reads and never writes: writers end in _write.h or are listed here.
WRITER = re.compile(r"^(catalog|packages)/([^/]+/)*[^/]+_write\.h$")
OTHER_WRITERS = {"packages/temporary_file.h"}

# Installed headers are included as their users do.
INSTALLED = "tfrun/"
INSTALLED_FOLDER = "runtime/include/"

# What base may take from the system: ISO C and the C library.
LIBC = set(
    """assert.h byteswap.h complex.h ctype.h dirent.h dlfcn.h endian.h errno.h fcntl.h fenv.h
    float.h getopt.h inttypes.h langinfo.h limits.h locale.h math.h poll.h pthread.h sched.h
    semaphore.h setjmp.h signal.h spawn.h stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h
    stdint.h stdio.h stdlib.h stdnoreturn.h string.h strings.h threads.h time.h uchar.h unistd.h
    wchar.h wctype.h""".split()
)

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def is_writer(path):
    return path in OTHER_WRITERS or bool(WRITER.match(path))


def target_of(quote, word):
    """The path from the root of a project header, None for a system header."""
    if word.startswith(INSTALLED):
        return INSTALLED_FOLDER + word
    if quote == '"' or word.split("/")[0] in ALLOWED:
        return word
    return None


def check_project(root, name, quote, target):
    """What is wrong with one include of a project header, or None."""
    folder, wanted = name.split("/")[0], target.split("/")[0]
    if not os.path.isfile(os.path.join(root, target)) and wanted not in ALLOWED:
        return f"'{target}' is no path from the root"
    if quote == "<" and not target.startswith(INSTALLED_FOLDER + INSTALLED):
        return f"'{target}' is a project header: include it in quotes"
    if ALLOWED[folder] is not EVERYTHING and wanted not in ALLOWED[folder]:
        allowed = ", ".join(sorted(ALLOWED[folder]))
        return f"{folder}/ may not include '{target}'; it may include {allowed}"
    if folder == "runtime" and is_writer(target):
        return f"runtime/ reads and never writes: it may not include '{target}'"
    if folder in ("catalog", "packages") and name.endswith(".h") and is_writer(target):
        if not is_writer(name):
            return f"a reader's header may not include the writer '{target}'"
    return None


def check_file(root, name):
    folder = name.split("/")[0]
    if "/" not in name or folder not in ALLOWED:
        return [f"{name}: a source outside the folders {', '.join(ALLOWED)}"]
    findings = []
    for number, line in enumerate(house_tree.lines(root, name), 1):
        found = INCLUDE.match(line)
        if not found:
            continue
        quote, word = found.groups()
        target = target_of(quote, word)
        if target is not None:
            wrong = check_project(root, name, quote, target)
        elif folder == "base" and word not in LIBC and not word.startswith("sys/"):
            wrong = f"base/ may include libc alone, not <{word}>"
        else:
            wrong = None
        if wrong:
            findings.append(f"{name}:{number}: {wrong}")
    return findings


def main():
    root = sys.argv[1]
    names = house_tree.sources(root)
    house_tree.finish(len(names), [f for name in names for f in check_file(root, name)])


main()
