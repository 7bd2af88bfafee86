# SPDX-License-Identifier: Apache-2.0
umask 077
"$TFPREP" export --device host --capacity 1 -o x.tfp > /dev/null
stat -c %a x.tfp
