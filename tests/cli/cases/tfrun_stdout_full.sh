# SPDX-License-Identifier: Apache-2.0
# What nobody could read was not printed.
for words in --help --version --man --completion; do
	"$TFRUN" $words > /dev/full
	echo $?
	"$TFRUN" $words >&-
	echo $?
done
