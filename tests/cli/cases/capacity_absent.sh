# SPDX-License-Identifier: Apache-2.0
"$TFPREP" export --capacity 1,3
