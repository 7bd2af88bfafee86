# SPDX-License-Identifier: Apache-2.0
"$TFPREP" tune --device host --capacity 1 > /dev/null
ls -A
