# SPDX-License-Identifier: Apache-2.0
"$TFPREP" export --workload ./nope.yaml
