# SPDX-License-Identifier: Apache-2.0
env -u HOME "$TFPREP" export --device host --capacity 1 -o x.tfp > /dev/null
tar --zstd -tf x.tfp
ls -A
