# SPDX-License-Identifier: Apache-2.0
"""Every header compiles alone as C17 and as C++17. Usage: house_headers.py ROOT [CC [CXX]]"""
import re
import shutil
import subprocess
import sys

import house_tree

FLAGS = ["-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wundef", "-Werror", "-fsyntax-only"]

# Headers of optional software: where it is absent, a header that needs it is left out by name.
OPTIONAL = re.compile(r"fatal error: '?((cuda|cuda_runtime_api|nccl|nvml|infiniband/\w+|hwloc|hwloc/\w+)\.h)'?[: ]")


def compile_alone(root, command, name):
    """None if the header compiles, else what the compiler says."""
    word = name[len("runtime/include/") :] if name.startswith("runtime/include/") else name
    text = f'#include "{word}"\n'
    run = subprocess.run(
        command + FLAGS + ["-I", root, "-I", f"{root}/runtime/include", "-"],
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return run.stdout or "the compiler failed without a word" if run.returncode else None


def main():
    root = sys.argv[1]
    cc = sys.argv[2] if len(sys.argv) > 2 else "gcc"
    cxx = sys.argv[3] if len(sys.argv) > 3 else "g++"
    for program in (cc, cxx):
        if not shutil.which(program):
            house_tree.skip(f"no {program}")
    headers = [n for n in house_tree.sources(root) if n.endswith(".h")]
    findings = []
    for name in headers:
        for program, language, standard in ((cc, "c", "c17"), (cxx, "c++", "c++17")):
            said = compile_alone(root, [program, f"-std={standard}", f"-x{language}"], name)
            absent = said and OPTIONAL.search(said)
            if absent:
                print(f"{name}: left out as {standard}, no <{absent.group(1)}> here")
            elif said:
                findings.append(f"{name}: does not compile alone as {standard}\n{said.rstrip()}")
    house_tree.finish(len(headers), findings)


main()
