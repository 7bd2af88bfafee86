# SPDX-License-Identifier: Apache-2.0
cat > w.yaml <<'Y'
name: small
summary: For a test.
capacities: [1]
groups:
  - {name: sum, op: all_to_all, dtype: bf16, row_elements: 64}
Y
"$TFPREP" export --device host --workload ./w.yaml -o x.tfp
