# SPDX-License-Identifier: Apache-2.0
mkdir w.yaml
"$TFPREP" export --workload ./w.yaml
