# SPDX-License-Identifier: Apache-2.0
for world in 2 3 5 8; do
	for class in switched host-bridge local; do
		"$TFPREP" export --device host --capacity 1 --tp $world --topology $class > /dev/null || echo $world $class failed
	done
done
ls
