# SPDX-License-Identifier: Apache-2.0
mkdir x.tfp
"$TFPREP" export --device host --capacity 1 -o x.tfp
code=$?
ls
exit $code
