# SPDX-License-Identifier: Apache-2.0
# Where there is a driver this case says nothing.
if ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1'; then
	echo "tfprep export: device 'cuda': skipped: libcuda.so.1" >&2
	exit 4
fi
"$TFPREP" export --device cuda -o x.tfp
