# SPDX-License-Identifier: Apache-2.0
"$TFPREP" export --device host --capacity 1 -o x.tfp > summary
"$TFPREP" verify --timeout 2000 x.tfp
