# SPDX-License-Identifier: Apache-2.0
# The class is the machine's, or the one that was named; the ladder only says what is tried.
cat > l.yaml <<'Y'
topology: local
summary: For a test.
rungs:
  - {algorithm: one_shot, writer: ll, threads: 32, ctas: 1, ops: [all_gather],
     world: [2, 8], bytes: [1, 64KiB], reason: "Small."}
Y
"$TFPREP" export --device host --topology switched --capacity 1 --ladder l.yaml -o x.tfp |
	grep -o 'topology [a-z]*'
"$TFPREP" inspect x.tfp --sql "SELECT * FROM identity WHERE key IN ('ladder', 'topology.class')"
