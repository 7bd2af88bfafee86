#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# pack_nccl.sh BUILD DEST: the rank program with the libraries it needs and nccl.sh, for a machine
# that has a driver, NCCL, and nothing else of ours. Build first: ninja rank_test. Run DEST/nccl.sh.
set -eu
[ $# -eq 2 ] || { echo "usage: pack_nccl.sh BUILD DEST" >&2; exit 2; }
here=$(dirname "$0")
mkdir -p "$2/lib"
strip -o "$2/rank_test" "$1/tests/rank/rank_test"
# glibc's own libraries stay behind: the other machine's must match its loader.
ldd "$1/tests/rank/rank_test" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' |
	grep -vE '/(libc|libm|libpthread|libdl|librt|ld-linux[^/]*)\.so' |
	while read -r library; do cp -L "$library" "$2/lib/"; done
cp "$here/nccl.sh" "$2/"
chmod +x "$2/nccl.sh"
du -sh "$2"
