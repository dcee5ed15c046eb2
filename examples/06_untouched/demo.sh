#!/usr/bin/env bash
# demo.sh - traces a training that knows nothing of tracing; then, as the demo's last part, what to do next.
#
#   examples/06_untouched/demo.sh BUILD_DIR PYTHON       PYTHON: an interpreter that has torch
# SPDX-License-Identifier: MIT
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build_dir=$(cd "$1" && pwd)
python=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
folder=$build_dir/demo/untouched
if [ ! -d "$build_dir/python/dftracer" ]; then
  printf '\n== %s\n' "06_untouched, trainings without a line of tracing, was left out: it needs Python's headers"
else
  printf '\n== %s\n' "running 06_untouched: dftracer run -- python train_torch.py, a training without a line of tracing"
  rm -rf "$folder"
  mkdir -p "$folder"
  for name in $(compgen -e DFTRACER_ || true); do unset "$name"; done
  export OMP_NUM_THREADS=1 PYTHONPATH=$here/../../python:$build_dir/python
  (cd "$folder" && "$build_dir/bin/dftracer" run -o trace -- "$python" "$here/train_torch.py")
  "$build_dir/bin/dftracer" summary --top 6 "$folder/trace"
fi

shopt -s nullglob
traces=("$build_dir"/demo/*/trace)
cat <<END

== next
  annotate your code   docs/annotating.md (C, C++), docs/fortran.md, docs/python.md, docs/torch.md
  trace it unchanged   $build_dir/bin/dftracer run --io -- ./program
  the demo's traces    $(printf '%s\n                       ' "${traces[@]}" | sed '$d')
  open one             drag a .pfw.gz into https://ui.perfetto.dev; for a folder, make one timeline first:
                       $build_dir/bin/dftracer merge ${traces[*]: -1} -o job.json.gz
END
