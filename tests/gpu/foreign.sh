#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# foreign.sh TFPREP TFRUN EXAMPLE [WORLD]: the RMSNorm example on GPUs, from its cubin to the bytes that
# are served, and what a wrong workload is told. EXAMPLE is the folder that docs/examples/rmsnorm/build.sh
# filled (in a build: tests/foreign/rmsnorm). Needs a GPU of compute capability 9.0 a rank, and python3.
set -eu

tfprep=$1 tfrun=$2 example=$3 world=${4:-2}
here=$(cd "$(dirname "$0")" && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

"$tfprep" export --device cuda --tp "$world" --workload "$example/rmsnorm.yaml" -o "$out/rmsnorm.tfp"
"$tfprep" verify --run "$out/rmsnorm.tfp"
"$tfrun" "$out/rmsnorm.tfp" --check --strict
python3 "$here/../foreign/rmsnorm_served.py" "$tfrun" "$out/rmsnorm.tfp" "$world"

refused() {
	cp -r "$example" "$out/case"
	sed -i "$2" "$out/case/rmsnorm.yaml"
	if "$tfprep" export --device cuda --tp "$world" --workload "$out/case/rmsnorm.yaml" -o "$out/case.tfp" \
		> "$out/case.txt" 2>&1; then
		echo "$1: exported, should be refused"
		exit 1
	fi
	grep -q "$3" "$out/case.txt" || { echo "$1: $(cat "$out/case.txt")"; exit 1; }
	echo "refused   $1: $(tail -1 "$out/case.txt")"
	rm -rf "$out/case"
}
refused "offset outside" 's/{buffer: gain, access: read}/{buffer: gain, offset: 4096, access: read}/' "no declared buffer"
refused "fewer arguments" '/f32: 1e-5/d' "5 arguments, its function 'rmsnorm' takes 6"
refused "wider argument" 's/{u32: 1024}/{u64: 1024}/' "argument 4 has 8 bytes"
refused "another function" 's/function: rmsnorm/function: layernorm/' "kernel 'layernorm'"
refused "writes what it reads" 's/{buffer: normed}/{buffer: normed, access: read}/' "check of the package in fresh processes"
echo "foreign kernels on $world GPUs: passed"
