/* fuzz_line.c - the parser of lines: whatever stands in a plain trace.
 * SPDX-License-Identifier: MIT */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_read(".pfw", data, size);
  return 0;
}
