#!/usr/bin/env bash
# test_install.sh - an installed tree can be moved; the examples build against it with find_package alone, and the README's
# program with its own command and CMakeLists.txt, also installed itself; all leave a valid trace.
# SPDX-License-Identifier: MIT
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

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

quietly cmake --install "$DFT_TEST_BUILD" --prefix "$scratch/first"
mv "$scratch/first" "$scratch/prefix"
prefix=$scratch/prefix
[ "$("$prefix/bin/dftracer" --version)" = "dftracer $(sed -n 's/^#define DFT_VERSION "\(.*\)"/\1/p' "$prefix"/include/dftracer/dft.h)" ] ||
  fail "the command does not run after a move, or tells another version"
for page in man/man1/dftracer.1 bash-completion/completions/dftracer zsh/site-functions/_dftracer; do
  [ -s "$prefix/share/$page" ] || fail "share/$page is not installed"
done

# The examples, as a user would build them.
quietly cmake -S "$DFT_TEST_SOURCE/examples" -B "$scratch/examples" -DCMAKE_PREFIX_PATH="$prefix"
quietly cmake --build "$scratch/examples"
DFTRACER_ENABLE=1 DFTRACER_LOG_FILE=$scratch/examples_out/trace quietly "$scratch/examples/01_regions"
mkdir "$scratch/data"
DFTRACER_ENABLE=1 DFTRACER_LOG_FILE=$scratch/examples_out/trace quietly "$scratch/examples/02_pipeline" "$scratch/data"

if [ -n "$(find "$prefix" -name h5join)" ]; then
  DFTRACER_ENABLE=1 DFTRACER_SINK=hdf5 DFTRACER_LOG_FILE=$scratch/h5_out/trace quietly "$scratch/examples/01_regions"
  [ "$(head -c 4 "$scratch"/h5_out/trace-*.h5 | tail -c 3)" = HDF ] || fail "no HDF5 file"
  if [ -x "$scratch/examples/read_h5" ]; then
    "$scratch/examples/read_h5" "$scratch"/h5_out/trace-*.h5 | grep '^ *10 .* row$' >/dev/null || fail "read_h5 counts other rows"
  fi
fi

# The preload library finds the core beside it.
preload=$(find "$prefix" -name libdftracer_preload.so)
if [ -n "$preload" ]; then
  echo text >"$scratch/data/plain.txt"
  LD_PRELOAD=$preload DFTRACER_ENABLE=1 DFTRACER_LOG_FILE=$scratch/preload_out/trace quietly cat "$scratch/data/plain.txt"
  zcat "$scratch"/preload_out/trace-*-preload.pfw.gz | grep '"name":"read","cat":"POSIX"' >/dev/null || fail "cat was not recorded"
fi

# So does the library for NVTX.
nvtx=$(find "$prefix" -name libdftracer_nvtx.so)
ldd "$nvtx" | grep "libdftracer_core.so.5 => $(dirname "$nvtx")/" >/dev/null || fail "$nvtx does not find the core"

# The program in the README, to the letter: built by its command, and with its CMakeLists.txt.
block() { # LANGUAGE
  awk -v start="\`\`\`$1" '$0 == start {inside = 1; next} /^```$/ {inside = 0} inside' "$DFT_TEST_SOURCE/README.md"
}
mkdir "$scratch/readme"
block c >"$scratch/readme/solver.c"
block cmake >"$scratch/readme/CMakeLists.txt"
compile=$(grep '^cc solver.c ' "$DFT_TEST_SOURCE/README.md") || fail "the README does not compile its program"
pkgconfig=$(dirname "$(find "$prefix" -name dftracer.pc)")
(cd "$scratch/readme" && PKG_CONFIG_PATH=$pkgconfig quietly sh -c "$compile")
LD_LIBRARY_PATH=$(dirname "$pkgconfig") DFTRACER_ENABLE=1 DFTRACER_LOG_FILE=$scratch/solver_out/trace quietly "$scratch/readme/solver"
quietly cmake -S "$scratch/readme" -B "$scratch/readme/build" -DCMAKE_PREFIX_PATH="$prefix"
quietly cmake --build "$scratch/readme/build"
DFTRACER_ENABLE=1 DFTRACER_LOG_FILE=$scratch/cmake_out/trace quietly "$scratch/readme/build/solver"
quietly cmake --install "$scratch/readme/build" --prefix "$scratch/readme/installed"
DFTRACER_ENABLE=1 DFTRACER_LOG_FILE=$scratch/installed_out/trace quietly "$scratch/readme/installed/bin/solver"

PYTHONPATH=$DFT_TEST_SOURCE/tests "$DFT_TEST_PYTHON" - "$scratch" <<'END'
import sys
from pathlib import Path

import trace

scratch = Path(sys.argv[1])
expected = (("examples_out", "row", 10), ("solver_out", "step", 3), ("cmake_out", "step", 3), ("installed_out", "step", 3))
for folder, name, count in expected:
    found = sum(len(one.named(name)) for one in trace.read_folder(str(scratch / folder)))
    if found != count:
        sys.exit(f"FAILED: {found} events {name!r} in {folder}, not {count}")
END
