# SPDX-License-Identifier: Apache-2.0
# The package is whole and in its place, but the summary was lost: that is said.
"$TFPREP" export --device host --capacity 1 -o x.tfp > /dev/full
code=$?
tar --zstd -tf x.tfp
exit $code
