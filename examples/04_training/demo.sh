#!/usr/bin/env bash
# demo.sh - runs the training example on a build and shows where its time went.
#
#   examples/04_training/demo.sh BUILD_DIR PYTHON
# SPDX-License-Identifier: MIT
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build_dir=$(cd "$1" && pwd)
python=$2
folder=$build_dir/demo/training
if [ ! -d "$build_dir/python/dftracer" ]; then
  printf '\n== %s\n' "04_training, the Python example, was left out: it needs Python's headers"
  exit 0
fi
printf '\n== %s\n' "running 04_training, Python with NumPy and worker processes; its I/O is recorded too"
rm -rf "$folder"
mkdir -p "$folder"
DFTRACER_ENABLE=1 PYTHONPATH=$here/../../python:$build_dir/python "$python" "$here/train.py" "$folder"
"$build_dir/bin/dftracer" summary "$folder/trace"
