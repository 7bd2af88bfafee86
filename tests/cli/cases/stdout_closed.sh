# SPDX-License-Identifier: Apache-2.0
# Nothing that is meant for a reader may land in a file that got the free descriptor.
"$TFPREP" export --device host --capacity 1 -o x.tfp >&-
code=$?
tar --zstd -tf x.tfp
exit $code
