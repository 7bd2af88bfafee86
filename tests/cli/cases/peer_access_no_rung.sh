# SPDX-License-Identifier: Apache-2.0
cat > l.yaml <<'Y'
topology: local
summary: For a test.
rungs:
  - {algorithm: one_shot, writer: ll, threads: 32, ctas: 1, ops: [all_gather],
     world: [2, 8], bytes: [1, 64KiB], reason: "Small."}
Y
"$TFPREP" tune --device host --capacity 1 --ladder l.yaml --peer-access off
