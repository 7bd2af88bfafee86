# SPDX-License-Identifier: Apache-2.0
echo > f
"$TFPREP" export --device host --capacity 1 -o f/x.tfp
