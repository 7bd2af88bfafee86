# SPDX-License-Identifier: Apache-2.0
# A rename would take the place of a FIFO, of /dev/null or of /dev/stdout, for every process.
mkfifo pipe
ln -s /dev/null null
ln -s /proc/self/fd/1 standard_output
ln -s kept.tfp link.tfp
echo kept > kept.tfp
for name in pipe null standard_output; do
	"$TFPREP" export --device host --capacity 1 -o "$name"
	echo "$? $(stat -c %F "$name")"
done
"$TFPREP" report --json -o pipe link.tfp
echo "$? $(stat -c %F pipe)"
"$TFPREP" export --device host --capacity 1 -o link.tfp > summary
echo "$? $(stat -c %F link.tfp) $(cat kept.tfp)"
