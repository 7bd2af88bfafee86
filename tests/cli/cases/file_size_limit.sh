# SPDX-License-Identifier: Apache-2.0
# A limit on the size of files is told with the file's name, and leaves nothing behind.
"$TFPREP" export --device host --capacity 1 -o x.tfp > summary
ulimit -f 4
"$TFPREP" export --device host --capacity 1 -o y.tfp
echo $?
"$TFPREP" report --json -o r.json x.tfp
echo $?
"$TFRUN" x.tfp --check
echo $?
ls
