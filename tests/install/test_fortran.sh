#!/usr/bin/env bash
# test_fortran.sh - a foreign project finds dftracer::fortran, with the compiler that dftracer was built with and with others.
# SPDX-License-Identifier: MIT
set -euo pipefail
[ -f "$DFT_TEST_BUILD/fortran/dftracer-fortran.pc" ] || { echo "SKIP: built without a Fortran compiler"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
project=$DFT_TEST_SOURCE/tests/install/fortran
prefix=$scratch/prefix

quietly() {
  local output
  output=$("$@" 2>&1) && return
  printf '%s\n' "$output" >&2
  exit 1
}
fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

# Runs a program traced, and checks how many events of each name there are: NAME=COUNT...
traced() { # PROGRAM NAME=COUNT...
  local out
  out=$(mktemp -d -p "$scratch")
  DFTRACER_ENABLE=1 DFTRACER_LOG_FILE=$out/trace quietly "$1"
  PYTHONPATH=$DFT_TEST_SOURCE/tests "$DFT_TEST_PYTHON" - "$out" "$@" <<'PYTHON'
import sys
import trace

(one,) = trace.read_folder(sys.argv[1])
for wanted in sys.argv[3:]:
    name, count = wanted.rsplit("=", 1)
    found = len(one.named(name))
    if found != int(count):
        sys.exit(f"FAILED: {sys.argv[2]}: {found} events {name!r}, not {count}")
PYTHON
}

# Configures and builds the project in a new folder, and runs it. From source or not: as expected, or it fails.
consume() { # NAME source|installed [cmake option...]
  local name=$1 way=$2 build=$scratch/$1
  shift 2
  cmake -S "$project" -B "$build" -DCMAKE_PREFIX_PATH="$prefix" "$@" >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
  quietly cmake --build "$build"
  if [ -d "$build/dftracer_fortran" ]; then built=source; else built=installed; fi
  [ "$built" = "$way" ] || fail "$name: the module came from '$built', not '$way'"
  traced "$build/modern" modern=1 step=3 done=1
  traced "$build/legacy" "main program=1" advance=3
  traced "$build/macros" macros=1 step=3 "by name=3" 'by name, with "a" comma=3' done=1 steps=1
  if nm "$build/vanished" | grep -i dft; then fail "$name: macros did not vanish"; fi
  echo "$name: $way, ok"
}

quietly cmake --install "$DFT_TEST_BUILD" --prefix "$scratch/first"
mv "$scratch/first" "$prefix"
own=$(sed -n 's/^CMAKE_Fortran_COMPILER:[A-Z]*=//p' "$DFT_TEST_BUILD/CMakeCache.txt")
consume own installed -DCMAKE_Fortran_COMPILER="$own"
consume asked source -DCMAKE_Fortran_COMPILER="$own" -DDFTRACER_FORTRAN_FROM_SOURCE=ON
consume kinds source -DCMAKE_Fortran_COMPILER="$own" -DCMAKE_Fortran_FLAGS=-fdefault-integer-8
consume checked installed -DCMAKE_Fortran_COMPILER="$own" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_Fortran_FLAGS_DEBUG="-g -fcheck=all"
for other in gfortran-{9,10,11,12,13,14,15} flang-new-{16,17,18,19} flang-new flang-{20,21,22}; do
  if [ -n "$(command -v "$other")" ] && [ "$("$other" -dumpversion 2>&1)" != "$("$own" -dumpversion)" ]; then
    consume "$other" source -DCMAKE_Fortran_COMPILER="$other"
  fi
done

# An installation by another version of the compiler.
for folder in "$prefix"/lib*/dftracer/fortran/*; do mv "$folder" "$folder.9"; done
consume another_version source -DCMAKE_Fortran_COMPILER="$own"

# A project that does not speak Fortran is told so; without the component it does not matter.
mkdir "$scratch/plain"
cat >"$scratch/plain/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.22)
project(plain LANGUAGES C)
find_package(dftracer REQUIRED COMPONENTS ${WANTED})
CMAKE
quietly cmake -S "$scratch/plain" -B "$scratch/plain/without" -DCMAKE_PREFIX_PATH="$prefix"
if cmake -S "$scratch/plain" -B "$scratch/plain/with" -DCMAKE_PREFIX_PATH="$prefix" -DWANTED=fortran >"$scratch/plain.log" 2>&1; then
  fail "the component fortran was found without the language"
fi
grep -q 'needs the language' "$scratch/plain.log" || { cat "$scratch/plain.log"; fail "no word on why"; }
