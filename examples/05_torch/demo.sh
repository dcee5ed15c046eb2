#!/usr/bin/env bash
# demo.sh - trains the example on two ranks and shows where the time went; then, as the demo's last part, what to do next.
#
#   examples/05_torch/demo.sh BUILD_DIR PYTHON       PYTHON: an interpreter that has torch
# SPDX-License-Identifier: MIT
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build_dir=$(cd "$1" && pwd)
python=$2
folder=$build_dir/demo/torch
if [ ! -d "$build_dir/python/dftracer" ]; then
  printf '\n== %s\n' "05_torch, the PyTorch example, was left out: it needs Python's headers"
else
  printf '\n== %s\n' "running 05_torch: a CNN on 2 ranks, each with 2 DataLoader workers that read files"
  rm -rf "$folder"
  mkdir -p "$folder"
  for name in $(compgen -e DFTRACER_ || true); do unset "$name"; done
  export OMP_NUM_THREADS=1 DFTRACER_ENABLE=1 PYTHONPATH=$here/../../python:$build_dir/python
  "$python" -m torch.distributed.run --standalone --nproc-per-node 2 "$here/train.py" "$folder"
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
