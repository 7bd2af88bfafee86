# SPDX-License-Identifier: Apache-2.0
mkdir 'ein Ordner für π'
cd 'ein Ordner für π'
"$TFPREP" export --device host --capacity 1 -o 'Paket № 1.tfp' > /dev/null
tar --zstd -tf 'Paket № 1.tfp'
"$TFPREP" export --device host --capacity 1 > /dev/null
ls
