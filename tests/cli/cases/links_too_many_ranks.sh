# SPDX-License-Identifier: Apache-2.0
"$TFPREP" tune --links ring-3 --tp 4
