# SPDX-License-Identifier: Apache-2.0
"$TFPREP" tune --device host --links-seed 5
