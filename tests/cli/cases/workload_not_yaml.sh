# SPDX-License-Identifier: Apache-2.0
cat > w.yaml <<'Y'
{{{{
Y
"$TFPREP" export --device host --workload ./w.yaml -o x.tfp
