/* fuzz_member.c - the walker of gzip members.
 * SPDX-License-Identifier: MIT */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_read(".pfw.gz", data, size);
  return 0;
}
