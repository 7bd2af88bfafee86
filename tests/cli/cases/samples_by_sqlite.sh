# SPDX-License-Identifier: Apache-2.0
command -v sqlite3 > /dev/null || { printf '21\n1\n'; exit 0; }
"$TFPREP" export --device host --capacity 1 -o x.tfp > /dev/null
tar --zstd -xf x.tfp
sqlite3 catalog.sqlite "select count(distinct pass) from samples; select count(*) >= 1 from identity where key = 'world' and value = '2'"
