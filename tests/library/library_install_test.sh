#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs into an empty prefix, builds the examples against it as a stranger would, and runs them.
#
#   library_install_test.sh SOURCE BUILD LIBDIR PACKAGE_TP2 PACKAGE_TP4 CMAKE CC CXX [SANITIZE]
set -euo pipefail

source=$1 build=$2 libdir=$3 tp2=$4 tp4=$5 cmake=$6 cc=$7 cxx=$8 sanitize=${9:-}
flags=(-Wall -Wextra -Werror)
[[ -z "$sanitize" ]] || flags+=("-fsanitize=$sanitize")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix="$work/a prefix"

"$cmake" --install "$build" --prefix "$prefix" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
for file in bin/tfprep "$libdir/libtfrun.so" include/tfrun/tfrun.h "$libdir/pkgconfig/tfrun.pc" \
  "$libdir/cmake/tfrun/tfrun-config.cmake" share/man/man1/tfprep.1 share/man/man3/tfrun.3 \
  share/man/man5/tfp.5 share/bash-completion/completions/tfprep; do
  [[ -e "$prefix/$file" ]] || { echo "not installed: $file"; exit 1; }
done
strays=$(find "$prefix/include" -type f ! -path "*/include/tfrun/*")
[[ -z "$strays" ]] || { echo "installed beside the public header: $strays"; exit 1; }
bash -n "$prefix/share/bash-completion/completions/tfprep"

# The header, alone, in every language it promises.
header=$(printf '#include <tfrun/tfrun.h>\nint main(void) { return tfrun_version() == 0; }\n')
for standard in c11 c17; do
  "$cc" -std=$standard -pedantic "${flags[@]}" -fsyntax-only -I"$prefix/include" -xc - <<<"$header"
done
"$cxx" -std=c++17 -pedantic "${flags[@]}" -fsyntax-only -I"$prefix/include" -xc++ - <<<"$header"

run_examples() { # folder of the examples
  local folder=$1 address
  "$folder/serve_threads" "$tp2" 2 50
  "$folder/serve_threads" "$tp4" 4 50
  address="unix:@tfrun-install-test-$$"
  "$folder/serve_processes" "$tp2" 1 2 "$address" 50 &
  "$folder/serve_processes" "$tp2" 0 2 "$address" 50
  wait $!
  "$folder/engine_step" "$tp4" 20 4
  RANK=1 WORLD_SIZE=2 MASTER_PORT=$$ "$folder/engine_step" "$tp2" 20 &
  RANK=0 WORLD_SIZE=2 MASTER_PORT=$$ "$folder/engine_step" "$tp2" 20
  wait $!
}

export LD_LIBRARY_PATH="$prefix/$libdir"

# pkg-config splits its answer at blanks, so the prefix it names must have none.
ln -s "$prefix" "$work/prefix"
export PKG_CONFIG_PATH="$work/prefix/$libdir/pkgconfig"
words=$(pkg-config --define-variable=prefix="$work/prefix" --cflags --libs 'tfrun >= 0.1')
mkdir "$work/by-pkg-config"
for example in serve_threads serve_processes engine_step; do
  # shellcheck disable=SC2086
  "$cc" -std=c11 -D_GNU_SOURCE "${flags[@]}" "$source/docs/examples/$example.c" $words -pthread -ldl -o "$work/by-pkg-config/$example"
done
run_examples "$work/by-pkg-config"

mkdir "$work/project"
cp "$source"/docs/examples/*.c "$work/project/"
cat >"$work/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.16)
project(stranger C)
find_package(tfrun 0.1 REQUIRED)
find_package(Threads REQUIRED)
foreach(example serve_threads serve_processes engine_step)
  add_executable(${example} ${example}.c)
  target_link_libraries(${example} PRIVATE tfrun::tfrun Threads::Threads ${CMAKE_DL_LIBS})
endforeach()
END
"$cmake" -G Ninja -S "$work/project" -B "$work/by-cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" \
  -DCMAKE_C_FLAGS="${flags[*]}" >"$work/cmake.log" 2>&1 || { cat "$work/cmake.log"; exit 1; }
"$cmake" --build "$work/by-cmake" >"$work/cmake.log" 2>&1 || { cat "$work/cmake.log"; exit 1; }
unset LD_LIBRARY_PATH
run_examples "$work/by-cmake"

# The examples' words for wrong use.
! "$work/by-cmake/serve_threads" "$tp2" 4 2>"$work/misfit" || { echo "tp2 served 4 ranks"; exit 1; }
grep -q "world: package '2', machine '4'" "$work/misfit" || { cat "$work/misfit"; exit 1; }
