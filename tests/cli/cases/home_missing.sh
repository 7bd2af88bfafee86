# SPDX-License-Identifier: Apache-2.0
HOME=/nonexistent "$TFPREP" export --device host --capacity 1 -o x.tfp > /dev/null
ls -A
