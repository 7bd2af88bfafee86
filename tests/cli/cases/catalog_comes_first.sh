# SPDX-License-Identifier: Apache-2.0
"$TFPREP" export --device host --capacity 1 -o x.tfp > /dev/null
tar --zstd -tf x.tfp | head -n 1
tar --zstd -tvf x.tfp | grep -c ' 1970-01-01 '
