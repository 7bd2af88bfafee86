# SPDX-License-Identifier: Apache-2.0
# A rank that cannot start its thread, whose stack would not fit the address space, says so. Where
# the hard limit allows no such stack there is nothing to see.
"$TFPREP" export --device host --capacity 1 -o x.tfp > summary
if ulimit -S -s 140000000000 2> /dev/null; then
	"$TFRUN" x.tfp --check
else
	echo "tfrun: cannot start a thread: Resource temporarily unavailable" >&2
	exit 1
fi
