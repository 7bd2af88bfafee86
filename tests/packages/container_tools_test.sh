#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The stock tools read what the writer wrote: tar and zstd list, test and extract it.
# $1: package_sample, which writes a package of known members to the path it is given.
set -eu
for tool in tar zstd sha256sum; do
	command -v "$tool" >/dev/null || { echo "$tool is not there"; exit 77; }
done
sample=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$sample" 'a package.tfp' >wanted

tar --zstd -tf 'a package.tfp' >names
cut -d' ' -f3- wanted | cmp - names
test "$(head -n 1 names)" = catalog.sqlite
tail -n +2 names | LC_ALL=C sort -c

# Mode, owner and time.
tar --zstd --numeric-owner --full-time --utc -tvf 'a package.tfp' >long
if grep -v '^-rw-r--r-- 0/0 .* 1970-01-01 00:00:00 ' long; then
	exit 1
fi

mkdir out
tar --zstd -xf 'a package.tfp' -C out
(cd out && sha256sum --check --quiet ../wanted)

zstd -q -t <'a package.tfp'
cp 'a package.tfp' package.zst
zstd -q -t package.zst
zstd -l package.zst
# Frames decompress to a plain tar file, end of archive included.
zstd -q -d package.zst -o package.tar
tar -tf package.tar | cmp - names
