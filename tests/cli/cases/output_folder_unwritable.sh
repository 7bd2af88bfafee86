# SPDX-License-Identifier: Apache-2.0
# /proc takes no files, whoever asks.
"$TFPREP" export --device host --capacity 1 -o /proc/x.tfp
