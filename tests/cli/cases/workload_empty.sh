# SPDX-License-Identifier: Apache-2.0
cp /dev/null w.yaml
"$TFPREP" export --device host --workload ./w.yaml
