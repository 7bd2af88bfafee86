# SPDX-License-Identifier: Apache-2.0
for class in switched host-bridge ring fabric local; do
	"$TFPREP" export --device host --capacity 1 --tp 3 --topology $class --peer-access off -o $class.tfp |
		grep -E "^(peers|picks)"
	"$TFRUN" --check $class.tfp | cut -d: -f1
	"$TFRUN" --check --peer-access off $class.tfp | cut -d: -f1
done
