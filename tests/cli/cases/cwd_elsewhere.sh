# SPDX-License-Identifier: Apache-2.0
# A folder where nothing can be written, whoever asks.
work=$PWD
cd /proc
"$TFPREP" export --device host --capacity 1 -o "$work/x.tfp" > /dev/null
cd "$work"
ls -A
