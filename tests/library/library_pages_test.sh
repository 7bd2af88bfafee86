#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Man pages are clean roff and speak of every public call; completions complete.
#
#   library_pages_test.sh WRITTEN GENERATED
set -euo pipefail

written=$1 generated=$2
command -v groff >/dev/null || { echo "skipped: no groff"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

failed=0
complain() {
  echo "$*"
  failed=1
}

for page in "$written"/*.[1-8] "$generated"/man/*.[1-8]; do
  groff -Tutf8 -man -ww "$page" >"$work/text" 2>"$work/warnings" || complain "$page: groff failed"
  [[ ! -s "$work/warnings" ]] || complain "$page: $(head -5 "$work/warnings")"
  # Overstrikes and escapes mark bold letters.
  sed -E 's/\x1b\[[0-9;]*m//g; s/.\x08//g' "$work/text" >"$work/plain"
  grep -q '^NAME' "$work/plain" || complain "$page: no section NAME"
  [[ $(awk '{ if (length > w) w = length } END { print w + 0 }' "$work/plain") -le 90 ]] || complain "$page: lines wider than a terminal"
done

# Every public call and every status is on the page.
header=$written/../../runtime/include/tfrun/tfrun.h
for word in $(grep -v '^[ /]\*' "$header" | grep -oE '\btfrun_[a-z_]+\(|\bTFRUN_[A-Z_]+\b' | tr -d '(' |
  grep -vE '^TFRUN_(API.*|VERSION_.*|TFRUN_H)$' | sort -u); do
  grep -q "$word" "$written/tfrun.3" || complain "tfrun.3 does not speak of $word"
done

# So is every bound in seconds.
for bound in $(grep -oE '\b[0-9]+ s\b' "$header" | tr ' ' _ | sort -u); do
  grep -qw "${bound/_/ }" "$written/tfrun.3" || complain "tfrun.3 does not speak of ${bound/_/ }"
done

for script in "$generated"/completions/*; do
  bash -n "$script" || complain "$script: not a shell script"
done
completed=$(bash -c 'source "$1"; COMP_WORDS=(tfprep export --top); COMP_CWORD=2
  function_name=$(complete -p tfprep | sed "s/.*-F \([^ ]*\).*/\1/"); $function_name; echo "${COMPREPLY[@]}"' - "$generated/completions/tfprep")
[[ $completed == *--topology* ]] || complain "'tfprep export --top' is completed to '$completed'"

exit $failed
