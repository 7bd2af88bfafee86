# SPDX-License-Identifier: Apache-2.0
"$TFPREP" export --device host --capacity 1 --topology local -o on.tfp > /dev/null
"$TFRUN" --check --peer-access off on.tfp
