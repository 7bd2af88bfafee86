# SPDX-License-Identifier: Apache-2.0
# Who looks for help writes it in any of these ways.
"$TFPREP" --help > tool
"$TFPREP" -h | cmp - tool && echo -h
"$TFPREP" help | cmp - tool && echo help
"$TFPREP" diff --help > verb
"$TFPREP" help diff | cmp - verb && echo help diff
"$TFPREP" help difff
