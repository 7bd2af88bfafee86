# SPDX-License-Identifier: Apache-2.0
"$TFPREP" export --links host-bridge-4 --tp 2 -o x.tfp > summary
tar --zstd -xOf x.tfp catalog.sqlite > c.sqlite
python3 - <<'P'
import sqlite3
db = sqlite3.connect("c.sqlite")
keys = ("links", "links.seed", "samples.clock", "topology.class")
for key in keys:
    print(key, db.execute("SELECT value FROM identity WHERE key = ?", (key,)).fetchone()[0])
print(db.execute("SELECT value FROM identity WHERE key = 'topology.signature'").fetchone()[0]
      .split(";")[1])
P
