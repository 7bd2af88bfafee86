# SPDX-License-Identifier: Apache-2.0
# Nothing that is meant for a reader may land in a socket or a file that got the free descriptor.
"$TFPREP" export --device host --capacity 1 -o x.tfp > summary
"$TFRUN" x.tfp --check >&-
echo $?
"$TFRUN" x.tfp --listen 127.0.0.1:0 >&-
echo $?
