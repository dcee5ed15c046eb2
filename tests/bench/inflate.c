/* inflate.c - inflates .pfw.gz files and does nothing else: what a reader cannot be faster than.
 *
 * Usage: inflate FILE... SPDX-License-Identifier: MIT */
#include "../../c/codec/inflate.h"

#include <stdlib.h>

#include "bench.h"

enum { INPUT = 128 << 10, OUTPUT = 2 << 20 };

int main(int argc, char **argv) {
  void *state = calloc(1, dft__inflater_fast.state_bytes);
  uint8_t *input = malloc(INPUT), *output = malloc(OUTPUT);
  uint64_t bytes = 0;
  bench_require(state && input && output, "no memory");
  for (int i = 1; i < argc; i++) {
    FILE *file = fopen(argv[i], "rb");
    dft__flow flow = {input, 0, output, OUTPUT};
    int is_inside = 0;
    bench_require(file != NULL, argv[i]);
    for (;;) {
      enum dft__inflated result;
      if (!flow.in_len) {
        flow.in = input;
        flow.in_len = fread(input, 1, INPUT, file);
        if (!flow.in_len) break;
      }
      if (!is_inside) dft__inflater_fast.begin(state);
      is_inside = 1;
      flow.out = output;
      flow.room = OUTPUT;
      result = dft__inflater_fast.run(state, &flow);
      bench_require(result != DFT__INFLATE_BAD, "a damaged member");
      bytes += OUTPUT - flow.room;
      if (result == DFT__INFLATE_END) is_inside = 0;
    }
    fclose(file);
  }
  printf("bytes %llu\n", (unsigned long long)bytes);
  return 0;
}
