# SPDX-License-Identifier: Apache-2.0
"$TFPREP" export --device host --capacity 1 --json -o x.tfp > out.json
python3 -c 'import json; json.load(open("out.json")); print("json")'
