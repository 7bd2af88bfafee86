# SPDX-License-Identifier: Apache-2.0
"$TFPREP" export --device host --capacity 1 -o ./
