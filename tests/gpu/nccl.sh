#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nccl.sh [FOLDER]: on a machine with two GPUs and NCCL, from a folder that holds rank_test (a build's
# tests/rank, or where it was copied): every mode of the rank program with NCCL's own, the race of
# the split against the polled parent, and NCCL_RUNTIME_CONNECT forced to the wrong value, which must
# be noticed. About a minute, at most 90 s; each part is bounded. Logs go to $OUT.
# NCCL=FILE takes that library. DEVICE=fake RATIO=0 tries the script itself without a GPU.
# MASTER=tcp:HOST:PORT RANK=R runs this host as one rank of two hosts instead, sum and exchange.
set -u
# All of it, whatever a part does.
if [ -z "${BOUNDED:-}" ]; then
	BOUNDED=1 exec timeout -k 2 88 bash "$0" "$@"
fi
here=${1:-$(cd "$(dirname "$0")" && pwd)}
out=${OUT:-$here/out}
mkdir -p "$out"
# The machine's rule about NVLink multicast, where it has one.
export NCCL_NVLS_ENABLE=${NCCL_NVLS_ENABLE:-0}
export CUDA_MODULE_LOADING=EAGER

nccl=${NCCL:-$(ldconfig -p 2>/dev/null | awk '/libnccl\.so\.2/ { print $NF; exit }')}
if [ -z "$nccl" ]; then
	nccl=$(timeout 20 find /opt /usr/lib /usr/local -name 'libnccl.so.2' -print -quit 2>/dev/null)
fi
[ -z "$nccl" ] && { echo "no libnccl.so.2 on this machine"; exit 77; }
echo "nccl: $nccl"
paths=$here/lib:$(dirname "$nccl")
export LD_LIBRARY_PATH=$paths${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# 16 MiB at 8,192 rows; the fake takes less.
elements=1024
[ "${DEVICE:-cuda}" = fake ] && elements=64
failed=0
summary=()
trap 'printf "%s\n" "${summary[@]}" "nccl.sh: not done within 88 s"; exit 124' TERM
# part NAME WANTED-EXIT SECONDS ARGUMENTS...
part()
{
	local name=$1 wanted=$2 seconds=$3 code began=$SECONDS verdict=ok
	shift 3
	timeout -k 3 "$seconds" "$here/rank_test" "$@" --device "${DEVICE:-cuda}" >"$out/$name.log" 2>&1
	code=$?
	[ $code -eq "$wanted" ] || { failed=1; verdict=FAILED; }
	summary+=("$name: $verdict, exit $code (wanted $wanted) after $((SECONDS - began)) s")
	sed "s/^/$name: /" "$out/$name.log" | tail -6
}

if [ -n "${MASTER:-}" ]; then
	for mode in sum exchange; do
		part "$mode" 0 40 "$mode" --master "$MASTER" --rank "$RANK" --across --timeout-ms 10000 \
			--elements 1024
	done
else
	# The first start-up reads the library, and may take long.
	part device 0 10 device
	part sum 0 25 sum --timeout-ms 12000
	part exchange 0 15 exchange --timeout-ms 10000 --elements "$elements"
	part disagree 0 12 disagree --timeout-ms 10000
	part eager 0 15 eager --timeout-ms 10000 --least-ratio "${RATIO:-2}"
	for mode in timeout timeout-scatter eof eof-scatter missing; do
		part "$mode" 0 15 "$mode"
	done
	# The negative control: connecting in the first call is noticed, as a call that waits.
	NCCL_RUNTIME_CONNECT=1 part sum_connecting_late 1 15 sum
	grep -q 'timed out' "$out/sum_connecting_late.log" ||
		{ failed=1; summary+=("sum_connecting_late: FAILED, no word of a timeout"); }
fi
printf '%s\n' "${summary[@]}"
exit $failed
