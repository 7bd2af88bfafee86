# SPDX-License-Identifier: Apache-2.0
"""Plants mistakes into the communicator and demands that a test fails for each.

Usage: plant_mistakes.py ROOT BUILD COMPILER

Each mistake is an exact piece of the source and what takes its place. The changed file is built
into the test that must notice, in front of the library that has the right one. A piece that is
not in the source exactly once is a failure too, so the list cannot rot. A mistake with which the
test still passes, or that does not compile, fails this test. So does a test that fails with the
source as it is, built in the same way.
"""
import os
import subprocess
import sys
import tempfile

ENDING = "runtime/comm/nccl/nccl_ending.c"
START = "runtime/comm/nccl/nccl_start.c"
COMMUNICATOR = "runtime/comm/nccl/nccl_communicator.c"
AGREEMENT = "runtime/comm/nccl/host_agreement.c"

UNIT = "nccl_communicator_test"
HOST = "host_agreement_test"
RANK = "rank_test"

# With nothing planted these pass.
CONTROLS = (
    ("nothing, in the end", ENDING, [], (UNIT, "test_split_carries")),
    ("nothing, in the start-up", START, [], (RANK, "sum")),
    ("nothing, in the agreement", AGREEMENT, [], (HOST, "test_one_host")),
)

MISTAKES = (
    (
        "the split is aborted before the parent",
        ENDING,
        [
            ("struct tf_nccl_comm *parent = take(&comm->parent), *split;",
             "struct tf_nccl_comm *parent, *split = take(&comm->split);\n"
             "\tif (split)\n\t\t(void)comm->api->ncclCommAbort(split);\n"
             "\tparent = take(&comm->parent);"),
        ],
        (UNIT, "test_failing_call"),
    ),
    (
        "the split is freed under a call",
        ENDING,
        [("if (!wait_until_outside(comm))", "if (0 && !wait_until_outside(comm))")],
        (UNIT, "test_slow_return"),
    ),
    (
        "the watcher minds no deadline",
        ENDING,
        [("if (tf_deadline_passed(__atomic_load_n(&comm->call_deadline_ns, __ATOMIC_ACQUIRE))) {",
          "if (0) {")],
        (UNIT, "test_hanging_call"),
    ),
    (
        "a call of the start-up has no deadline",
        ENDING,
        [("if (runs && status == TF_OK && tf_deadline_passed(deadline_ns))",
          "if (0 && tf_deadline_passed(deadline_ns))")],
        (UNIT, "test_hanging_start"),
    ),
    (
        "a wait has no deadline",
        COMMUNICATOR,
        [("late = tf_deadline_passed(deadline);", "late = 0;")],
        (RANK, "timeout"),
    ),
    (
        "a wait does not look at the link",
        COMMUNICATOR,
        [("(status != TF_OK && check_link(comm, deadline, &left_until, &local) != TF_OK)", "0")],
        (RANK, "eof"),
    ),
    (
        "a wait goes on for ever behind a departure",
        COMMUNICATOR,
        [("status == TF_E_DISCONNECTED && !tf_deadline_passed(*until)",
          "status == TF_E_DISCONNECTED")],
        (RANK, "eof"),
    ),
    (
        "a departure ends a wait at once",
        COMMUNICATOR,
        [("tf_deadline_after(TF_NCCL_LEFT_NS)", "tf_now_ns()")],
        (UNIT, "test_peer_leaves_first"),
    ),
    (
        "a late collective is not aborted",
        COMMUNICATOR,
        [("\t\t\tbound_ns / TF_NS_PER_MS);\n"
          "\treturn tf_nccl_ending_give_up(comm, &local, err);",
          "\t\t\tbound_ns / TF_NS_PER_MS);\n"
          "\tif (err)\n\t\t*err = local;\n\treturn local.status;")],
        (RANK, "timeout"),
    ),
    (
        "an ended communicator is used again",
        ENDING,
        [("if (!__atomic_load_n(&comm->has_ended, __ATOMIC_ACQUIRE))", "if (1)")],
        (UNIT, "test_abort"),
    ),
    (
        "NCCL_RUNTIME_CONNECT is overwritten",
        START,
        [("const char *found = getenv(name);", "const char *found = NULL;"),
         ("setenv(name, value, 0)", "setenv(name, value, 1)")],
        (UNIT, "test_environment_is_kept"),
    ),
    (
        "NCCL_RUNTIME_CONNECT is not set",
        START,
        [('settle_variable("NCCL_RUNTIME_CONNECT", "0", facts->one_host',
          'settle_variable("NCCL_RUNTIME_CONNECT", "0", 0')],
        (RANK, "sum"),
    ),
    (
        "NCCL_RUNTIME_CONNECT is set where the ranks are apart",
        START,
        [('settle_variable("NCCL_RUNTIME_CONNECT", "0", facts->one_host',
          'settle_variable("NCCL_RUNTIME_CONNECT", "0", 1')],
        (RANK, "disagree"),
    ),
    (
        "the parent blocks",
        START,
        [("config.blocking = 0;", "config.blocking = 1;")],
        (UNIT, "test_split_carries"),
    ),
    (
        "the split does not block",
        START,
        [("config.blocking = 1;", "config.blocking = 0;")],
        (UNIT, "test_split_carries"),
    ),
    (
        "the split shares nothing",
        START,
        [("config.split_share = 1;", "config.split_share = 0;")],
        (UNIT, "test_split_carries"),
    ),
    (
        "the split reverses the ranks",
        START,
        [("ncclCommSplit(parent, 0, rank, ", "ncclCommSplit(parent, 0, 1 - rank, ")],
        (UNIT, "test_split_carries"),
    ),
    (
        "the ranks do not agree after a step",
        START,
        [("\tTF_TRY(tf_link_agree_ok(comm->options.link, is_late ? NULL : local, deadline_ns, err));\n"
          "\treturn tf_link_agree_ok(comm->options.link, is_late ? local : NULL, deadline_ns, err);",
          "\t(void)deadline_ns, (void)comm, (void)is_late;\n"
          "\tif (err)\n\t\t*err = *local;\n\treturn local->status;")],
        (UNIT, "test_failing_start"),
    ),
    (
        "a consequence hides its cause",
        START,
        [("is_late ? NULL : local, deadline_ns, err", "local, deadline_ns, err")],
        (UNIT, "test_failing_start"),
    ),
    (
        "the split is not waited for",
        START,
        [("return poll_split(comm, parent, err);", "(void)poll_split;\n\treturn TF_OK;")],
        (UNIT, "test_slow_split"),
    ),
    (
        "the parent carries on one host",
        COMMUNICATOR,
        [("comm->facts.one_host ? &comm->split : &comm->parent", "&comm->parent")],
        (UNIT, "test_split_carries"),
    ),
    (
        "graphs alive at the end are not minded",
        COMMUNICATOR,
        [("\tif (comm->graphs)\n", "\tif (0)\n")],
        (UNIT, "test_graphs_go_first"),
    ),
    (
        "the parent is destroyed before the split",
        COMMUNICATOR,
        [("TF_TRY(destroy_one(comm, &comm->split, err));\n"
          "\treturn destroy_one(comm, &comm->parent, err);",
          "TF_TRY(destroy_one(comm, &comm->parent, err));\n"
          "\treturn destroy_one(comm, &comm->split, err);")],
        (UNIT, "test_split_carries"),
    ),
    (
        "a failure of NCCL's that comes later is not looked for",
        ENDING,
        [("comm->api, result, \"an operation of NCCL's\"",
          "comm->api, 0, \"an operation of NCCL's\"")],
        (UNIT, "test_failing_start"),
    ),
    (
        "a wrong byte counts as yes",
        AGREEMENT,
        [("if (all[r] != TF_HOST_ONE && all[r] != TF_HOST_APART)",
          "if (all[r] == 0xff && all[r] != TF_HOST_APART)")],
        (HOST, "test_malformed_bytes"),
    ),
    (
        "one rank's yes is enough",
        AGREEMENT,
        [("*out_all_one = 0;", "*out_all_one = all[0] == TF_HOST_ONE;")],
        (HOST, "test_one_says_apart"),
    ),
    (
        "no descriptor need come",
        AGREEMENT,
        [("if (!came[r])", "if (0)")],
        (HOST, "test_word_without_descriptor"),
    ),
    (
        "the boot id is not compared",
        AGREEMENT,
        [("if (memcmp(other->boot_id, mine->boot_id, sizeof(mine->boot_id)) != 0)", "if (0)")],
        (HOST, "test_another_boot_id"),
    ),
    (
        "the network namespace is not compared",
        AGREEMENT,
        [("other->network_inode != mine->network_inode)", "0)"),
         ("other->network_device != mine->network_device ||", "")],
        (HOST, "test_another_network"),
    ),
    (
        "any descriptor will do",
        AGREEMENT,
        [("memcmp(word, finder->records[rank].word, sizeof(word)) == 0", "1")],
        (HOST, "test_word_of_another"),
    ),
)


def planted(root, name, changes):
    with open(os.path.join(root, name), encoding="utf-8") as file:
        text = file.read()
    for old, new in changes:
        if text.count(old) != 1:
            raise ValueError(f"'{old}' is in {name} {text.count(old)} times, not once")
        text = text.replace(old, new)
    return text


def link_words(build, test):
    """The words of a test's link command, as ninja runs it, without its output."""
    target = {UNIT: "tests/nccl/", HOST: "tests/nccl/", RANK: "tests/rank/"}[test] + test
    run = subprocess.run(["ninja", "-C", build, "-t", "commands", "-s", target],
                         stdout=subprocess.PIPE, text=True, check=True)
    words = run.stdout.strip().split("&&")[1].split()
    at = words.index("-o")
    first = next(i for i, word in enumerate(words) if word.startswith("-"))
    return words[first:at] + words[at + 2:]


def fails(build, root, compiler, name, text, test, words):
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, os.path.basename(name))
        program = os.path.join(folder, test)
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        # The changed file stands before the library, whose member is then not wanted.
        command = [compiler, "-std=gnu17", "-D_GNU_SOURCE", "-I" + root, source,
                   *link_words(build, test), "-o", program]
        made = subprocess.run(command, cwd=build, stderr=subprocess.PIPE, text=True, check=False)
        if made.returncode:
            raise ValueError("it does not build: " + made.stderr[-2000:])
        ran = subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             cwd=folder, timeout=120, check=False)
        return ran.returncode not in (0, 77)


def main():
    root, build, compiler = (os.path.abspath(p) if "/" in p or p == "." else p for p in sys.argv[1:4])
    if not os.path.exists(os.path.join(build, "build.ninja")):
        print("skipped: not built with ninja")
        sys.exit(77)
    only = sys.argv[4] if len(sys.argv) > 4 else ""
    bad = 0
    for what, name, changes, (test, *words) in CONTROLS + MISTAKES:
        if only not in what:
            continue
        if test == RANK:
            words += ["--timeout-ms", "1500", "--limit-ms", "12000"]
        if test == UNIT:
            words += ["15000"]
        try:
            failed = fails(build, root, compiler, name, planted(root, name, changes), test, words)
            noticed = failed == bool(changes)
            verdict = f"{test} {words[0]} {'fails' if failed else 'passes'}"
        except (ValueError, subprocess.TimeoutExpired) as error:
            noticed, verdict = False, f"CANNOT TELL: {error}"
        bad += not noticed
        print(f"{what}: {verdict}{'' if noticed else ', WRONG'}", flush=True)
    print(f"{len(MISTAKES)} mistakes, {bad} wrong")
    sys.exit(1 if bad else 0)


main()
