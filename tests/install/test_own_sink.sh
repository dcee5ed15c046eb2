#!/usr/bin/env bash
# test_own_sink.sh - examples/own_sink builds against an installed prefix and writes a trace, also beside JSON lines, also
# after a kill and the loss of the spool; what is wrong or missing gives one message, and the trace goes to jsonl.
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
expect_lines() { # FILE COUNT PATTERN
  local found
  found=$(grep -c "$3" "$1" || true)
  [ "$found" = "$2" ] || fail "$found lines in $1 match $3, not $2: $(head -c 2000 "$1")"
}

quietly cmake --install "$DFT_TEST_BUILD" --prefix "$scratch/prefix"
quietly cmake -S "$DFT_TEST_SOURCE/examples/own_sink" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$scratch/prefix"
quietly cmake --build "$scratch/build"
[ "$(cat "$DFT_TEST_SOURCE"/examples/own_sink/* | wc -l)" -lt 120 ] || fail "the example has grown"
plugin=$scratch/build/own_sink.so
lib=$(dirname "$(find "$scratch/prefix" -name libdftracer_core.so)")

cat >"$scratch/program.c" <<'END'
#include <dftracer/dft.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
  static dft_site step = DFT_SITE("a \"step\"", "solver");
  int count = argc > 1 ? atoi(argv[1]) : 3;
  for (int i = 0; i < count; i++) {
    dft_region_begin(&step);
    dft_region_end();
  }
  if (argc > 2 && argv[2][0] == 'w') pause();
  if (argc > 2) raise(SIGKILL);
  return 0;
}
END
quietly cc "$scratch/program.c" -o "$scratch/program" -I"$scratch/prefix/include" -L"$lib" -ldftracer_core -Wl,-rpath,"$lib"

traced() { # FOLDER SINK [ARGUMENT]...; messages go to FOLDER/messages
  local folder=$1 sink=$2
  shift 2
  mkdir -p "$folder"
  DFTRACER_ENABLE=1 DFTRACER_SINK=$sink DFTRACER_LOG_FILE=$folder/trace "$scratch/program" "$@" 2>"$folder/messages"
}

traced "$scratch/alone" "$plugin"
expect_lines "$scratch"/alone/trace-*.csv 1 '^ts,dur,pid,tid,phase,cat,name$'
expect_lines "$scratch"/alone/trace-*.csv 3 ',X,"solver","a ""step"""$'
expect_lines "$scratch"/alone/trace-*.csv 1 ',"dftracer","end"$'

traced "$scratch/beside" "jsonl,$plugin:separator=;" 50000
expect_lines "$scratch"/beside/trace-*.csv 50000 '"a ""step"""$'
expect_lines "$scratch"/beside/trace-*.csv 1 '^ts;dur'
[ "$(zcat "$scratch"/beside/trace-*.pfw.gz | grep -c solver)" = 50000 ] || fail "JSON lines beside it"

traced "$scratch/killed" "$plugin" 50000 kill || true
quietly "$scratch/prefix/bin/dftracer" recover "$scratch/killed"
expect_lines "$scratch"/killed/trace-*.csv 50000 '"a ""step"""$'

# The same, and its spool vanishes: what had been written becomes a trace.
mkdir "$scratch/spools"
DFTRACER_ENABLE=1 DFTRACER_SINK=$plugin DFTRACER_SPOOL_DIR=$scratch/spools DFTRACER_LOG_FILE=$scratch/lost/trace \
  "$scratch/program" 50000 wait &
until [ -s "$(echo "$scratch"/lost/.dftracer/*.0-csv)" ]; do sleep 0.05; done
kill -KILL $!
wait $! || true
rm "$scratch"/spools/*
quietly "$scratch/prefix/bin/dftracer" recover "$scratch/lost"
grep -q '"a ""step"""$' "$scratch"/lost/trace-*.csv || fail "nothing in $(ls -lA "$scratch/lost")"
[ ! -e "$scratch/lost/.dftracer" ] || fail "left over: $(ls -lA "$scratch/lost/.dftracer")"

# ---- What is wrong or missing ----

refused() { # FOLDER SINK PATTERN
  traced "$1" "$2"
  [ "$(wc -l <"$1/messages")" = 1 ] || fail "$2: $(cat "$1/messages")"
  grep -q "$3" "$1/messages" || fail "$2: $(cat "$1/messages")"
  [ "$(zcat "$1"/trace-*.pfw.gz | grep -c solver)" = 3 ] || fail "$2: jsonl was not used in its place"
}

echo 'int something;' >"$scratch/nothing.c"
printf '#include <dftracer/sink.h>\nDFT_API const dft_sink dft_sink_plugin = {.struct_size = 8};\n' >"$scratch/short.c"
for name in nothing short; do
  quietly cc -shared -fPIC -I"$scratch/prefix/include" "$scratch/$name.c" -o "$scratch/$name.so"
done
echo 'no object' >"$scratch/text.so"
refused "$scratch/r1" "$scratch/missing.so" 'missing.so.*No such file'
refused "$scratch/r2" "$scratch/text.so" 'text.so.*invalid ELF\|file too short'
refused "$scratch/r3" "$scratch/nothing.so" 'exports no dft_sink_plugin'
refused "$scratch/r4" "$scratch/short.so" 'incomplete'
refused "$scratch/r5" "$plugin:color=red" 'separator=C'
refused "$scratch/r6" no_such_sink 'there is no sink of that name'
refused "$scratch/r7" hdf5:layout=rows 'layout=columns, layout=table and segment=BYTES'
