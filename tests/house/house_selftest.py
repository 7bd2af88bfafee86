# SPDX-License-Identifier: Apache-2.0
"""Proves that a house test can fail and can pass. Usage: house_selftest.py CHECKER

Each case plants a small tree, runs the checker on it and compares exit status and words.
"""
import os
import subprocess
import sys
import tempfile

import house_tree

HERE = os.path.dirname(os.path.abspath(__file__))
SPDX_C = "/* SPDX-License-Identifier: Apache-2.0 */\n"
SPDX_SCRIPT = "# SPDX-License-Identifier: Apache-2.0\n"
MACHINE_FOLDER = "/".join(("", "work", "main"))


def including(*words):
    return SPDX_C + "".join(f"#include {word}\n" for word in words)


def function(name, lines):
    """A function of exactly `lines` lines."""
    return f"int {name}(void)\n{{\n" + "\t;\n" * (lines - 4) + "\treturn 0;\n}\n"


# Each case: what it plants, the exit status, words that the output must hold.
INCLUDES = [
    ({}, 1, "nothing was checked"),
    (
        {
            "base/a.h": SPDX_C,
            "base/a.c": including('"base/a.h"', "<string.h>", "<sys/mman.h>"),
            "catalog/c.h": including('"base/a.h"'),
            "catalog/c_write.h": including('"catalog/c.h"'),
            "packages/p.h": including('"base/a.h"'),
            "ladders/l.h": including('"base/a.h"', "<yaml.h>"),
            "runtime/include/tfrun/tfrun.h": SPDX_C,
            "runtime/r.cu": including('"catalog/c.h"', '"packages/p.h"', '"tfrun/tfrun.h"'),
            "prepare/w.c": including('"catalog/c_write.h"', '"ladders/l.h"', "<tfrun/tfrun.h>"),
            "tests/t.c": including('"catalog/c_write.h"', '"prepare/w.h"'),
        },
        0,
        "10 files, 0 findings",
    ),
    ({"base/a.c": including("<sqlite3.h>")}, 1, "libc alone, not <sqlite3.h>"),
    ({"base/a.c": including('"catalog/c.h"')}, 1, "base/a.c:2: base/ may not include"),
    ({"catalog/c.c": including('"packages/p.h"')}, 1, "catalog/ may not include"),
    ({"packages/p.c": including('"catalog/c.h"')}, 1, "packages/ may not include"),
    ({"ladders/l.c": including('"runtime/r.h"')}, 1, "ladders/ may not include"),
    ({"runtime/r.c": including('"ladders/l.h"')}, 1, "runtime/ may not include"),
    ({"runtime/r.cu": including('"prepare/p.h"')}, 1, "runtime/ may not include"),
    ({"runtime/r.c": including('"catalog/catalog_write.h"')}, 1, "never writes"),
    ({"runtime/r.c": including('"packages/container_write.h"')}, 1, "never writes"),
    ({"runtime/r.c": including('"packages/temporary_file.h"')}, 1, "never writes"),
    ({"packages/p.h": including('"packages/container_write.h"')}, 1, "a reader's header"),
    ({"prepare/p.c": including('"tests/t.h"')}, 1, "prepare/ may not include"),
    ({"prepare/p.c": "  #  include \"tests/t.h\"\n"}, 1, "prepare/ may not include"),
    ({"base/a.c": including('"a.h"'), "base/a.h": SPDX_C}, 1, "no path from the root"),
    ({"base/a.c": including("<base/a.h>"), "base/a.h": SPDX_C}, 1, "include it in quotes"),
    ({"other/a.c": SPDX_C}, 1, "outside the folders"),
    ({"a.c": SPDX_C}, 1, "outside the folders"),
    ({"build/a.c": SPDX_C, "base/a.c": SPDX_C}, 0, "1 files"),
]

SHAPE = [
    ({}, 1, "nothing was checked"),
    (
        {
            "base/a.c": SPDX_C + "\n" * 999,
            "base/CMakeLists.txt": SPDX_SCRIPT,
            "base/README.md": "x",
            "runtime/main.c": SPDX_C,
            "runtime/CMakeLists.txt": SPDX_SCRIPT,
            "runtime/README.md": "x",
            "prepare/main.c": SPDX_C + "\t" + "x" * 96 + "\n",
            "tests/one/stdout": "x",
            "tests/two/stdout": "x",
            "tests/long_test.c": SPDX_C + "\n" * 2000,
            "tests/run.sh": "#!/bin/sh\n" + SPDX_SCRIPT,
        },
        0,
        "11 files, 0 findings",
    ),
    ({"base/a.c": SPDX_C, "runtime/a.c": SPDX_C}, 1, "another file bears this name: base/a.c"),
    ({"base/a.c": SPDX_C, "tests/a.c": SPDX_C}, 1, "another file bears this name"),
    ({"ladders/a.yaml": "x", "docs/a.yaml": "x"}, 1, "another file bears this name"),
    ({"base/a.c": SPDX_C + "\n" * 1000}, 1, "1001 lines"),
    ({"base/a.c": SPDX_C + "\t" + "x" * 97 + "\n"}, 1, "a.c:2: 101 columns"),
    ({"base/a.c": "\n" + SPDX_C}, 1, "the first line is not"),
    ({"base/a.h": ""}, 1, "the first line is not"),
    ({"runtime/k.cu": "\n"}, 1, "the first line is not"),
    ({"tests/t.py": "#!/usr/bin/python3\n\n" + SPDX_SCRIPT}, 1, "the first line is not"),
    ({"catalog/s.sql": "\n"}, 1, "the first line is not"),
    ({"base/CMakeLists.txt": "\n"}, 1, "the first line is not"),
]

FUNCTIONS = [
    ({}, 1, "nothing was checked"),
    (
        {
            "base/a.c": SPDX_C + function("longest", 120) + function("second", 5),
            "runtime/main.c": SPDX_C + function("main", 60),
            "tests/t.c": SPDX_C + function("tested", 500),
        },
        0,
        "2 files, 0 findings",
    ),
    ({"base/a.c": SPDX_C + function("f", 121)}, 1, "base/a.c:2: 'f' has 121 lines"),
    ({"base/a.h": SPDX_C + "static inline " + function("f", 121)}, 1, "'f' has 121 lines"),
    ({"runtime/k.cu": SPDX_C + "__global__ " + function("f", 121)}, 1, "'f' has 121 lines"),
    ({"prepare/main.c": SPDX_C + function("main", 61)}, 1, "'main' has 61 lines"),
    ({"base/a.c": SPDX_C}, 1, "found no function"),
]

HEADERS = [
    ({"base/a.c": SPDX_C}, 1, "nothing was checked"),
    (
        {
            "base/a.h": "#include <stddef.h>\nsize_t a(void);\n",
            "catalog/c.h": '#include "base/a.h"\nsize_t c(void);\n',
            "runtime/include/tfrun/x.h": "int x(void);\n",
            "runtime/include/tfrun/y.h": '#include "tfrun/x.h"\n',
        },
        0,
        "4 files, 0 findings",
    ),
    ({"base/a.h": "size_t a(void);\n"}, 1, "base/a.h: does not compile alone as c17"),
    ({"base/a.h": "int a(int class);\n"}, 1, "does not compile alone as c++17"),
    ({"base/a.h": "#ifdef __cplusplus\n#include <vector>\n#else\nint a(\n#endif\n"}, 1, "as c17"),
    ({"base/a.h": '#include "base/none.h"\n'}, 1, "does not compile alone"),
    ({"base/a.h": "#if UNDEFINED_WORD\n#endif\n"}, 1, "does not compile alone"),
]

STYLE = "BasedOnStyle: LLVM\nUseTab: Always\nIndentWidth: 4\nTabWidth: 4\n"
FORMAT = [
    ({".clang-format": STYLE}, 1, "nothing was checked"),
    ({".clang-format": STYLE, "base/a.c": "int a(int b);\n"}, 0, "1 files, 0 findings"),
    (
        {".clang-format": STYLE, "base/a.c": "int b;\nint a(void) {\n  return 0;\n}\n"},
        1,
        "base/a.c: not formatted, first at line 2",
    ),
    ({".clang-format": STYLE, "base/a.h": "int  a;\n"}, 1, "base/a.h: not formatted"),
]

WORDS = [
    ({}, 1, "nothing was checked"),
    (
        {
            "docs/a.md": "http://localhost:8470/, https://example.com/work/x, ./work/y, net/work/",
            "docs/b.md": "http://127.0.0.1:8470 and 10.0.0.1 and =======\n",
        },
        0,
        "2 files, 0 findings",
    ),
    ({"docs/a.md": f"x\ncd {MACHINE_FOLDER}/x\n"}, 1, "docs/a.md:2: a folder of one machine"),
    ({"a.bin": f"\0\0'{MACHINE_FOLDER}'\0"}, 1, "a.bin:1: a folder of one machine"),
    ({"docs/a.md": "/" + "root/x"}, 1, "a folder of one machine"),
    ({"docs/a.md": "https://mirror." + "internal/simple"}, 1, "a host of a private network"),
    ({"docs/a.md": "http://10." + "1.2.3:8080/"}, 1, "an address of a private network"),
    ({"docs/a.md": "x\n" + "<" * 7 + " ours\n"}, 1, "docs/a.md:2: a merge"),
]

CASES = {
    "house_includes": INCLUDES,
    "house_shape": SHAPE,
    "house_functions": FUNCTIONS,
    "house_headers": HEADERS,
    "house_format": FORMAT,
    "house_words": WORDS,
}


def plant(root, tree):
    for name, text in tree.items():
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def run_case(checker, tree):
    with tempfile.TemporaryDirectory(prefix="tf-house-") as root:
        plant(root, tree)
        run = subprocess.run(
            [sys.executable, os.path.join(HERE, f"{checker}.py"), root],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    return run.returncode, run.stdout


def main():
    checker = sys.argv[1]
    failed = 0
    for number, (tree, status, words) in enumerate(CASES[checker], 1):
        found, said = run_case(checker, tree)
        if found == house_tree.SKIPPED:
            house_tree.skip(f"{checker} cannot run here: {said.strip()}")
        if found != status or words not in said:
            failed += 1
            print(f"case {number} {sorted(tree)}: exit {found}, not {status}, or no '{words}' in:")
            print(said)
    print(f"{checker}: {len(CASES[checker])} cases, {failed} failed")
    sys.exit(1 if failed else 0)


main()
