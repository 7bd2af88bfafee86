#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_device_tests.sh: the device's conformance suite on this machine's GPUs, beside which it
# lies with its libraries (pack_device_tests.sh). First what the device costs (device_report), then
# the suite on one device, then with the ranks spread over two. Prints one line a part at the end;
# the exit code is 0 if all passed. Bounded: about two minutes, at most eight. The whole output is
# worth keeping: set OUT to a folder for it.
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/out}
mkdir -p "$out"
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export CUDA_DEVICE_MAX_CONNECTIONS=32
# A kernel that is loaded at its first use waits for those that spin already.
export CUDA_MODULE_LOADING=EAGER
devices=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
[ "$devices" -gt 2 ] && devices=2
failed=0
summary=
part()
{
	name=$1
	seconds=$2
	shift 2
	timeout -k 5 "$seconds" "$@" >"$out/$name.log" 2>&1
	rc=$?
	[ $rc -eq 0 ] || failed=1
	summary="$summary
$name: exit $rc"
}
part report 120 "$here/device_report" "$([ "$devices" -ge 1 ] && echo "$devices" || echo 1)"
part suite_one_device 120 "$here/device_cts" cuda
[ "$devices" -ge 2 ] && part suite_two_devices 120 env SUITE_DEVICES=2 "$here/device_cts" cuda
cat "$out/report.log"
for log in "$out"/suite_*.log; do
	echo "== $log"
	# Passing tests are left out; what they print stays in the log.
	grep -vE '^\[ +(RUN|OK) +\]' "$log" | head -150
done
echo "$summary"
exit $failed
