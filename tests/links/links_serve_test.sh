#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# links_serve_test.sh TFPREP TFRUN: a package tuned over emulated links runs without them, and its
# drift is refused: there is no machine whose samples could be held against the package's.
set -eu
tfprep=$1
tfrun=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$tfprep" export --links host-bridge-4 --tp 2 --capacity 1 -o "$folder/x.tfp" > /dev/null
"$tfrun" --check "$folder/x.tfp" | grep -q 'fits: 2 ranks on device host'
if "$tfrun" --drift "$folder/x.tfp" > "$folder/out" 2> "$folder/err"; then
	echo "drift of emulated samples was not refused"
	exit 1
fi
grep -q "samples are of emulated links 'host-bridge-4'" "$folder/err"
test ! -s "$folder/out"
