# SPDX-License-Identifier: Apache-2.0
# The workload and the ladder that the pages begin with are taken as they stand there.
docs=$(dirname "$0")/../../../docs
first() { awk '/^```/ { if (inside) exit; inside = /yaml/; next } inside' "$docs/$1"; }
first WORKLOADS.md > workload.yaml
first LADDERS.md > ladder.yaml
"$TFPREP" tune --device host --workload ./workload.yaml | head -n 1
"$TFPREP" tune --device host --capacity 1 --topology switched --ladder ./ladder.yaml | head -n 1
