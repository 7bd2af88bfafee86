#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# pack_device_tests.sh BUILD DEST: the device's tests with the libraries they need, for a machine
# that has a driver and nothing else of ours. Build first: ninja device_cts cuda_device_test
# device_report. Carry DEST there and run DEST/run_device_tests.sh.
set -eu
[ $# -eq 2 ] || { echo "usage: pack_device_tests.sh BUILD DEST" >&2; exit 2; }
here=$(dirname "$0")
mkdir -p "$2/lib"
for program in tests/device/device_cts tests/gpu/device_report; do
	strip -o "$2/$(basename "$program")" "$1/$program"
	# glibc's own libraries stay behind: the other machine's must match its loader.
	ldd "$1/$program" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' |
		grep -vE '/(libc|libm|libpthread|libdl|librt|ld-linux[^/]*)\.so' |
		while read -r library; do cp -L "$library" "$2/lib/"; done
done
cp "$here/run_device_tests.sh" "$2/"
chmod +x "$2/run_device_tests.sh"
du -sh "$2"
