#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# build.sh FOLDER [FLAGS...]: puts the workload and what it refers to into FOLDER: the host's module,
# the gain, and where nvcc is found the module for compute capability 9.0. FLAGS go to the C compiler,
# such as -IPREFIX/include where tfrun's headers are not in its path.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
out=$1
shift
mkdir -p "$out"
cp "$here/rmsnorm.yaml" "$out"
${CC:-cc} -shared -fPIC -O2 -ffp-contract=off "$@" "$here/rmsnorm.c" -lm -o "$out/rmsnorm.so"

# 1024 elements of bf16: 1.0, 0.5, 1.5, 2.0 in turn
i=0
while [ $i -lt 256 ]; do
	printf '\200\077\000\077\300\077\000\100'
	i=$((i + 1))
done > "$out/gain.bf16"

nvcc=${NVCC:-nvcc}
if command -v "$nvcc" > /dev/null; then
	"$nvcc" -cubin -arch=sm_90 "$here/rmsnorm.cu" -o "$out/rmsnorm-sm_90.cubin"
fi
