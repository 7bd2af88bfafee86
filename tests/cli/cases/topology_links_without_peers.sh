# SPDX-License-Identifier: Apache-2.0
"$TFPREP" topology --links nvlink-8 --peer-access off | grep ^peers
"$TFPREP" topology --links nvlink-8 --peer-access on | grep ^peers
"$TFPREP" topology --links nvlink-8 --peer-access off --json | grep peer_access
