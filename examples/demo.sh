#!/usr/bin/env bash
# demo.sh - installs a build, builds the examples against it as a user would, runs them and shows what they recorded.
#
#   examples/demo.sh BUILD_DIR       everything made goes below BUILD_DIR: prefix, examples, demo
# SPDX-License-Identifier: MIT
set -euo pipefail

if [ $# != 1 ] || [ ! -f "$1/CMakeCache.txt" ]; then
  echo "usage: $0 BUILD_DIR   (a folder in which dftracer was built)" >&2
  exit 2
fi
source_dir=$(dirname "${BASH_SOURCE[0]}")
build_dir=${1%/}
prefix=$build_dir/prefix
demo=$build_dir/demo

say() { printf '\n== %s\n' "$*"; }
# Runs a command; prints its output only if it fails.
quietly() {
  local output
  output=$("$@" 2>&1) && return
  printf '%s\n' "$output" >&2
  exit 1
}

say "installing into $prefix, building the examples against it"
quietly cmake --install "$build_dir" --prefix "$prefix"
if [ ! -f "$build_dir/examples/CMakeCache.txt" ]; then
  quietly cmake -S "$source_dir" -B "$build_dir/examples" -DCMAKE_PREFIX_PATH="$(cd "$prefix" && pwd)"
fi
quietly cmake --build "$build_dir/examples"

say "dftracer run -- 02_pipeline"
rm -rf "$demo"
mkdir -p "$demo/pipeline/data"
for name in $(compgen -e DFTRACER_ || true); do unset "$name"; done
"$prefix/bin/dftracer" run --out "$demo/pipeline/trace" -- "$build_dir/examples/02_pipeline" "$demo/pipeline/data"

say "dftracer summary"
"$prefix/bin/dftracer" summary "$demo/pipeline/trace"
traces=("$demo"/pipeline/trace/*.pfw.gz)
trace=${traces[0]}
cat <<END

== how to open it
  picture  drag the file into https://ui.perfetto.dev (the file stays on this machine)
  text     zcat $trace | head
  jq       zcat $trace | jq -cR 'fromjson? | select(.cat == "compute") | [.name, .dur]'
  pandas   import gzip, json, pandas
           pandas.DataFrame(json.loads(line) for line in gzip.open("$trace") if line[:1] == b"{")
  again    $prefix/bin/dftracer summary $demo/pipeline/trace
END

# The Fortran example, where it was built.
heat=$build_dir/examples/03_heat
if [ ! -x "$heat" ]; then
  say "03_heat, the Fortran example, was left out: it needs a Fortran compiler with OpenMP, MPI and HDF5"
  exit 0
fi
say "running 03_heat, Fortran with MPI, OpenMP and HDF5, on 4 ranks; its I/O is recorded too (DFTRACER_DATA_DIR)"
mkdir -p "$demo/heat/checkpoints"
cp "$source_dir/03_heat/heat.nml" "$demo/heat"
heat=$(cd "$(dirname "$heat")" && pwd)/03_heat
demo=$(cd "$demo" && pwd)
if [ "$(id -u)" = 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive
(cd "$demo/heat" && DFTRACER_ENABLE=1 DFTRACER_LOG_FILE=$demo/heat/trace/heat DFTRACER_DATA_DIR=$demo/heat \
  mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 4 "$heat" heat.nml)

say "where its time went"
"$prefix/bin/dftracer" summary --top 6 "$demo/heat/trace"
cat <<END

== how to open it
  picture  $prefix/bin/dftracer merge $demo/heat/trace -o heat.json.gz
           and drag that file into https://ui.perfetto.dev: all ranks in one timeline
  again    $prefix/bin/dftracer summary $demo/heat/trace
END
