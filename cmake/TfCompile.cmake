# SPDX-License-Identifier: Apache-2.0
# The compiler's settings for every target: C17, warnings as errors, sanitizers by option.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(TF_SANITIZE "" CACHE STRING "sanitizers to build with: empty, 'address,undefined' or 'thread'")
option(TF_COVERAGE "build with gcov counters" OFF)
option(TF_FUZZ "build the fuzzers (clang, libFuzzer)" OFF)
option(TF_WERROR "treat warnings as errors" ON)

# -ffp-contract=off: sums must have the same bits on every machine and at every optimisation level.
add_compile_options(-Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wformat=2
  -Wwrite-strings -Wundef -Wpointer-arith -Wvla -fno-common -ffp-contract=off)
add_compile_definitions(_GNU_SOURCE)
include_directories(${CMAKE_SOURCE_DIR})
if(TF_WERROR)
  add_compile_options(-Werror)
endif()
if(TF_SANITIZE)
  add_compile_options(-fsanitize=${TF_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TF_SANITIZE})
endif()
if(TF_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()
if(TF_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
