#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# nccl_packages.sh TFPREP TFRUN: NCCL as candidates on two GPUs with NCCL itself: packages whose picks
# are all NCCL's, checked in fresh processes, served, and ended where a rank is killed or stopped in
# a call; then what the picks take of NCCL's time in the same startup graph. Needs python3 and libnccl.so.2.
# Some 60 s; each part is bounded.
set -eu
tfprep=$1 tfrun=$2
here=$(cd "$(dirname "$0")" && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
# The machine's rule about NVLink multicast, where it has one.
export NCCL_NVLS_ENABLE=${NCCL_NVLS_ENABLE:-0} CUDA_MODULE_LOADING=EAGER

nccl=$(ldconfig -p 2>/dev/null | awk '/libnccl\.so\.2/ { print $NF; exit }')
[ -n "$nccl" ] || nccl=$(timeout 20 find /opt /usr/lib /usr/local -name 'libnccl.so.2' -print -quit 2>/dev/null)
[ -n "$nccl" ] || { echo "no libnccl.so.2 on this machine"; exit 77; }
export LD_LIBRARY_PATH="$(dirname "$nccl")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

failed=0
PYTHONDONTWRITEBYTECODE=1 timeout -k 5 120 python3 "$here/../nccl/nccl_packages_test.py" "$tfrun" "$tfprep" \
	"$here/../verbs/small.yaml" "$LD_LIBRARY_PATH" "$out" nccl || failed=1
# Of startup-81 also with any sums, since NCCL's NaN is not that of the numerics class.
sed -E 's/op: (all_reduce|reduce_scatter),/& numerics: any,/' "$here/../../packages/workloads/startup-81.yaml" \
	>"$out/startup-81-any.yaml"
for workload in decode-window startup-81 "$out/startup-81-any.yaml"; do
	timeout -k 5 60 "$tfprep" tune --device cuda --tp 2 --nccl on --workload "$workload" --timeout 5000 ||
		failed=1
done
exit $failed
