#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# engine.sh [FOLDER]: libtfrun in an engine's own processes on this machine's GPUs, from a folder made
# by pack_engine_tests.sh: packages made here, then the C example with processes and with threads,
# on two GPUs and on one, the PyTorch example where there is PyTorch, and the package where its
# window's base is taken. Each command is bounded; logs go to $OUT; one line a part at the end, and
# the exit code is 0 if all passed. TOPOLOGY names the class to export for (default switched).
set -u
here=${1:-$(cd "$(dirname "$0")" && pwd)}
out=${OUT:-$here/out}
topology=${TOPOLOGY:-switched}
mkdir -p "$out"
export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export CUDA_DEVICE_MAX_CONNECTIONS=32
# A kernel that is loaded at its first use waits for those that spin already.
export CUDA_MODULE_LOADING=EAGER
library=$(find "$here/lib" -name 'libtfrun.so*' | head -1)
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')

failed=0
summary=()
# part NAME SECONDS COMMAND...: exit 77 is a skip
part()
{
	local name=$1 seconds=$2 code began=$SECONDS
	shift 2
	timeout -k 5 "$seconds" "$@" >"$out/$name.log" 2>&1
	code=$?
	[ $code -eq 0 ] || [ $code -eq 77 ] || failed=1
	summary+=("$name: exit $code after $((SECONDS - began)) s")
	echo "${summary[-1]}"
}

# export NAME RANKS WORKLOAD: a package for the GPUs that are visible
export_package()
{
	part "export_$1" 120 "$here/tfprep" export --workload "$3" --tp "$2" --device cuda --topology "$topology" \
		--timeout 10000 -o "$out/$1.tfp"
}

# processes PACKAGE STEPS: two, told their ranks as torchrun tells them.
processes()
{
	RANK=1 LOCAL_RANK=1 WORLD_SIZE=2 MASTER_PORT=$$ "$here/engine_step" "$1" "$2" &
	RANK=0 LOCAL_RANK=0 WORLD_SIZE=2 MASTER_PORT=$$ "$here/engine_step" "$1" "$2" && wait $!
}

# Rank 1 is killed in its steps: rank 0 ends by its bound, with a status that names it.
lost_peer()
{
	RANK=1 LOCAL_RANK=1 WORLD_SIZE=2 MASTER_PORT=$$ "$here/engine_step" "$1" 100000000 &
	local victim=$! code
	(sleep 8; kill -9 $victim) &
	RANK=0 LOCAL_RANK=0 WORLD_SIZE=2 MASTER_PORT=$$ timeout 60 "$here/engine_step" "$1" 100000000 2>"$out/lost_peer.err"
	code=$?
	cat "$out/lost_peer.err"
	[ $code -eq 1 ] && grep -q 'rank 1' "$out/lost_peer.err"
}
export -f processes lost_peer
export here out

torch=no
python3 -c 'import torch; assert torch.cuda.is_available()' 2>"$out/torch_import.log" && torch=yes

if [ "$gpus" -ge 2 ]; then
	export_package gather 2 decode-window
	export_package sum 2 dense-8b
	export_package scatter 2 mixture
	part processes 60 bash -c 'processes "$1" 200' - "$out/gather.tfp"
	part processes_sum 60 bash -c 'processes "$1" 200' - "$out/sum.tfp"
	part threads_two_gpus 60 "$here/engine_step" "$out/gather.tfp" 200 2
	part relocate_two_gpus 120 "$here/relocate_test" "$out/gather.tfp" 2
	part relocate_sum 120 "$here/relocate_test" "$out/sum.tfp" 2
	part lost_peer 90 bash -c 'lost_peer "$1"' - "$out/gather.tfp"
	if [ $torch = yes ]; then
		for package in gather sum scatter; do
			part "torch_$package" 150 env TFRUN_LIBRARY="$library" python3 "$here/torch_step.py" "$out/$package.tfp"
		done
		part torchrun 150 env TFRUN_LIBRARY="$library" python3 -m torch.distributed.run --standalone \
			--nproc-per-node 2 "$here/torch_step.py" "$out/sum.tfp"
	fi
fi
[ $torch = yes ] || summary+=("torch: skipped: $(tail -1 "$out/torch_import.log")")

# All ranks on one GPU. The tools want a GPU for each rank, so the packages are made while all are
# visible; the library takes what is visible.
for ranks in 2 4 8; do
	[ "$ranks" -le "$gpus" ] && export_package "one$ranks" $ranks decode-window
done
export CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES_ONE:-0}
for ranks in 2 4 8; do
	[ -f "$out/one$ranks.tfp" ] && part "threads_one_gpu_$ranks" 90 "$here/engine_step" "$out/one$ranks.tfp" 100 $ranks
done
if [ -f "$out/one2.tfp" ]; then
	# Processes have a GPU by turns, and a step is 86 exchanges: 200 of them took over 30 s on an H200.
	part processes_one_gpu 60 bash -c 'processes "$1" 10' - "$out/one2.tfp"
	part relocate_one_gpu 120 "$here/relocate_test" "$out/one2.tfp" 1
fi

for log in "$out"/*.log; do
	[ -s "$log" ] && { echo "== $(basename "$log" .log)"; tail -15 "$log"; }
done
printf '%s\n' "${summary[@]}"
exit $failed
