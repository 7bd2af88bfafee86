#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What libtfrun and the tools link, and what libtfrun shows and holds.
#
#   library_links_test.sh LIBRARY MAP HEADER TFPREP TFRUN ARCHIVE...
#
# TFRUN may be empty. The ARCHIVEs are of code that must stay outside of libtfrun: tuning, capture, ladders, workloads, writing.
# Parts of glibc (libc, libm, libpthread, libdl, librt, the loader) count as one library: which of them a
# linker names depends on its version alone.
set -euo pipefail

library=$1 map=$2 header=$3 tfprep=$4 tfrun=$5
shift 5

for tool in readelf nm; do
  command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
# Here strings rather than pipes into 'grep -q', which would end the writer early and so fail the pipe.
if grep -Eq '__(asan|tsan|ubsan)_' <<<"$(nm -D "$library")"; then
  echo "skipped: a sanitizer links and shows what it needs"
  exit 77
fi

failed=0
complain() {
  echo "$*"
  failed=1
}

# Sonames without versions, without the parts of glibc, sorted.
needed() {
  readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sed -E 's/(-[0-9.]+)?\.so.*//' |
    grep -Ev '^(libc|libm|libpthread|libdl|librt|ld-linux.*)$' | sort -u
}

expect_needed() { # file, wanted...
  local file=$1 found
  shift
  found=$(needed "$file" | tr '\n' ' ')
  [[ "$found" == "$(printf '%s\n' "$@" | sort -u | tr '\n' ' ')" ]] ||
    complain "$(basename "$file") needs '$found', allowed is exactly '$*'"
}

expect_needed "$library" libsqlite3 libsodium libzstd
if [[ -n "$tfrun" ]]; then
  # shellcheck disable=SC2046
  expect_needed "$tfrun" libsqlite3 libsodium libzstd \
    $(needed "$tfrun" | grep -Ex 'lib(event|event_core|event_extra|event_pthreads|hwloc)' || true)
  grep -q '^libevent' <<<"$(needed "$tfrun")" || complain "tfrun does not need libevent: is this tfrun?"
fi
# The same reader sees what tfprep has beyond them, so an empty answer is no accident.
grep -qx libarchive <<<"$(needed "$tfprep")" || complain "tfprep does not need libarchive: is this tfprep?"

# Visible: the names of the map, which are the names of the header.
visible=$(nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)
mapped=$(sed -n 's/^[[:space:]]*\(tfrun_[a-z_]*\);.*/\1/p' "$map" | sort)
declared=$(grep -v '^[ /]\*' "$header" | grep -o '\btfrun_[a-z_]*(' | tr -d '(' | sort -u)
[[ -n "$mapped" ]] || complain "no name in '$map'"
[[ "$visible" == "$mapped" ]] || complain "visible and mapped names differ:" "$(diff <(echo "$mapped") <(echo "$visible"))"
[[ "$declared" == "$mapped" ]] || complain "declared and mapped names differ:" "$(diff <(echo "$mapped") <(echo "$declared"))"

# Inside: nothing that an archive of preparing code defines, whatever it is called.
inside=$(nm --defined-only "$library" | awk '{ print $3 }' | sort -u)
grep -q '^tf_session_open' <<<"$inside" || complain "'$library' is stripped: its inside cannot be seen"
for archive in "$@"; do
  outside=$(nm -g --defined-only "$archive" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u)
  [[ -n "$outside" ]] || complain "'$archive' defines nothing"
  both=$(comm -12 <(echo "$inside") <(echo "$outside"))
  [[ -z "$both" ]] || complain "libtfrun holds code of $(basename "$archive"):" $both
done
found=$(grep -E '^tf_(tune|capture|verify|plan|export|ladder|workload|catalog_write|package_writer)' <<<"$inside" || true)
[[ -z "$found" ]] || complain "libtfrun holds names of preparing code:" $found

# What it calls: it decompresses and reads, and creates no file.
called=$(nm -D --undefined-only "$library" | awk '{ sub(/@.*/, "", $2); print $2 }' | sort -u)
grep -qx ZSTD_decompressStream <<<"$called" || complain "no call of zstd is seen"
found=$(grep -Ex 'ZSTD_(compress|createC|CCtx).*|sqlite3_(serialize|backup).*|fopen(64)?|creat(64)?|mk(o)?stemp(64)?|rename(at|at2)?|fork|exec.*|posix_spawn.*|system|popen' \
  <<<"$called" || true)
[[ -z "$found" ]] || complain "libtfrun calls what only preparing needs:" $found

exit $failed
