#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# pack_engine_tests.sh BUILD DEST: what engine.sh needs, with the libraries below it, for a machine
# that has a driver and nothing else of ours. Build first: ninja tfprep tfrun_shared engine_step
# relocate_test. Carry DEST there and run DEST/engine.sh.
set -eu
[ $# -eq 2 ] || { echo "usage: pack_engine_tests.sh BUILD DEST" >&2; exit 2; }
here=$(dirname "$0")
mkdir -p "$2/lib"
for program in prepare/tfprep tests/library/engine_step tests/library/relocate_test; do
	strip -o "$2/$(basename "$program")" "$1/$program"
	# glibc's own libraries stay behind: the other machine's must match its loader.
	ldd "$1/$program" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' |
		grep -vE '/(libc|libm|libpthread|libdl|librt|ld-linux[^/]*)\.so' |
		while read -r library; do cp -L "$library" "$2/lib/"; done
done
cp "$here/engine.sh" "$here/../../docs/examples/torch_step.py" "$2/"
chmod +x "$2/engine.sh"
du -sh "$2"
