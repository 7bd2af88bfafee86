#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Selection over emulated links: links_accept.py TFPREP LINKS WORLD

Exports the workload three times in fresh processes, each with another seed of the links' jitter,
the last while another process loads a core. Of the three pairs of exports at least 98 % of the
groups must have the same pick; and a fourth seed, whose first stage measures every candidate, must
find none more than 5 % faster than the picks of the first for at least 95 % of the groups.
Prints one line: what was found, and the winners by writer.
"""
import collections
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

WORKLOAD = "startup-81"
REPEAT_MIN = 0.98
NEAR_MIN = 0.95
NEAR = 1.05


def export(tfprep, links, world, seed, folder):
    path = os.path.join(folder, "seed%d.tfp" % seed)
    subprocess.run(
        [tfprep, "export", "--links", links, "--links-seed", str(seed), "--tp", str(world),
         "--workload", WORKLOAD, "--timeout", "20000", "-o", path],
        check=True, stdout=subprocess.DEVNULL)
    catalog = os.path.join(folder, "seed%d.sqlite" % seed)
    with open(catalog, "wb") as to:
        subprocess.run(["tar", "--zstd", "-xOf", path, "catalog.sqlite"], check=True, stdout=to)
    return sqlite3.connect(catalog)


def picks_of(db):
    rows = db.execute(
        "SELECT group_name, capacity, candidate FROM candidates WHERE state = 'picked'")
    return {row[:2]: row[2] for row in rows}


def measured(db):
    """{group: {candidate: median of the first stage}} of all candidates."""
    rows = db.execute("SELECT group_name, capacity, candidate, stage1_median_ns FROM candidates"
                      " WHERE stage1_median_ns >= 0")
    groups = collections.defaultdict(dict)
    for name, capacity, candidate, median_ns in rows:
        groups[(name, capacity)][candidate] = median_ns
    return groups


def same(a, b):
    return sum(a[group] == b[group] for group in a) / len(a)


def load_core():
    return subprocess.Popen([sys.executable, "-c", "while True: pass"])


def main():
    tfprep, links, world = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder:
        runs = [export(tfprep, links, world, seed, folder) for seed in (1, 2)]
        busy = load_core()
        try:
            runs.append(export(tfprep, links, world, 3, folder))
        finally:
            busy.kill()
            busy.wait()
        truth = measured(export(tfprep, links, world, 4, folder))
        picks = [picks_of(db) for db in runs]
    repeats = [same(picks[a], picks[b]) for a, b in ((0, 1), (0, 2), (1, 2))]
    ratios = [truth[group][pick] / min(truth[group].values()) for group, pick in picks[0].items()]
    near = sum(ratio <= NEAR for ratio in ratios) / len(ratios)
    winners = collections.Counter("/".join(pick.split("/")[:2]) for pick in picks[0].values())
    print(json.dumps({
        "links": links, "world": world, "groups": len(ratios),
        "candidates": sum(len(row) for row in truth.values()),
        "within_5_percent": round(near, 4), "worst_ratio": round(max(ratios), 4),
        "repeat": [round(value, 4) for value in repeats],
        "winners": dict(winners.most_common())}))
    return 0 if near >= NEAR_MIN and min(repeats) >= REPEAT_MIN else 1


if __name__ == "__main__":
    sys.exit(main())
