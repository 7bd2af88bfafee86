# SPDX-License-Identifier: Apache-2.0
# A name of any bytes works; in JSON, which is UTF-8, each of the others becomes U+FFFD.
name=$(printf 'x\377\376.tfp')
path() { python3 -c 'import json, sys; print(ascii(eval(sys.argv[1], {"d": json.load(sys.stdin)})))' "$1"; }
"$TFPREP" export --device host --capacity 1 --json -o "$name" | path 'd["package"]["path"]'
"$TFPREP" inspect --json "$name" | path 'd["package"]["path"]'
"$TFPREP" diff --json "$name" "$name" | path '[d["a"], d["b"]]'
"$TFPREP" report --json -o - "$name" | path 'd["package"]["name"]'
"$TFRUN" "$name" --check --json | path 'd["package"]'
