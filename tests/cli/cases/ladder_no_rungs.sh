# SPDX-License-Identifier: Apache-2.0
cat > l.yaml <<'Y'
topology: local
summary: For a test.
Y
"$TFPREP" export --device host --capacity 1 --ladder l.yaml -o x.tfp
