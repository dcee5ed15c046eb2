#!/usr/bin/env bash
# demo.sh - trains the example on two ranks and shows where the time went.
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
