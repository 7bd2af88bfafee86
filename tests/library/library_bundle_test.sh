#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds a bundle, moves it, and runs it: beside this machine's libraries, then, as root, in a root that holds only glibc.
#
#   library_bundle_test.sh SOURCE BUILD
#
# BUILD is kept between runs, so that only the first one compiles everything.
set -euo pipefail

source=$1 build=$2
for tool in readelf ldd ninja; do
  command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset LD_LIBRARY_PATH

"$source/packages/bundle" -o "$work/made" --build "$build"
! "$source/packages/bundle" -o "$work/made" --build "$build" 2>"$work/again" ||
  { echo "an existing folder was written over"; exit 1; }
grep -q "exists" "$work/again"
mkdir "$work/moved here"
mv "$work/made" "$work/moved here/bundle"
bundle="$work/moved here/bundle"

# Each library comes from the bundle, but for glibc's.
foreign=0
for file in "$bundle"/bin/* "$bundle/lib/libtfrun.so"; do
  while read -r line; do
    path=$(sed -nE 's/.*=> (.*) \(0x[0-9a-f]+\)$/\1/p' <<<"$line")
    case $line in
      *"not found"*) echo "$(basename "$file"): $line"; foreign=1 ;;
      *"=> "*) ;;
      *) continue ;;
    esac
    case $(basename "$path") in
      libc.so.* | libm.so.* | libpthread.so.* | libdl.so.* | librt.so.* | libresolv.so.* | ld-linux*) continue ;;
    esac
    [[ "$(realpath "$path")" == "$(realpath "$bundle")"/lib/* ]] || { echo "$(basename "$file") takes $path"; foreign=1; }
  done < <(ldd "$file")
  if [[ $(readelf -dW "$file") != *"RPATH"*'[$ORIGIN/../lib]'* || $(readelf -dW "$file") == *RUNPATH* ]]; then
    echo "$(basename "$file") has no rpath of the old kind, which holds for libraries of libraries as well"
    foreign=1
  fi
done
[[ $foreign -eq 0 ]] || exit 1
[[ $(ls "$bundle/bin") == *tfprep* ]]

mkdir "$work/elsewhere"
cd "$work/elsewhere"
"$bundle/bin/tfprep" --version
"$bundle/bin/tfprep" export --tp 2 --device host --topology switched --capacity 1 --timeout 10000 -o "$work/moved.tfp" >"$work/out" ||
  { cat "$work/out"; exit 1; }
[[ $(PKG_CONFIG_PATH="$bundle/lib/pkgconfig" pkg-config --variable=includedir tfrun) == */include ]]

if [[ $(id -u) -ne 0 ]]; then
  echo "not root: without the proof in a root that holds only glibc"
  exit 0
fi

# A root with the loader, glibc and the bundle: no shell, no /proc, no /sys, no /dev.
root=$work/root
mkdir -p "$root/tmp"
cp -a "$bundle" "$root/bundle"
while read -r path; do
  mkdir -p "$root$(dirname "$path")"
  cp -L "$path" "$root$path"
done < <(ldd "$bundle/bin/tfprep" | grep -oE '/[^ ]*/(ld-linux[^ ]*|lib(c|m|pthread|dl|rt|resolv)\.so\.[0-9]+)' | sort -u)
# Without /proc the loader cannot learn where a program lies, so it is told.
inside() { env -i LD_ORIGIN_PATH=/bundle/bin "$(command -v chroot)" "$root" "$@"; }
inside /bundle/bin/tfprep --version
inside /bundle/bin/tfprep export --tp 2 --device host --topology switched --timeout 10000 -o /tmp/bare.tfp
if [[ -x "$bundle/bin/tfrun" ]]; then
  inside /bundle/bin/tfrun /tmp/bare.tfp --check
fi
echo "ran in a root with only: $(cd "$root" && find . -name '*.so*' ! -path './bundle/*' | sort | tr '\n' ' ')"
