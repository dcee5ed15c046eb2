/* fuzz_spool.c - the reader of spools.
 * SPDX-License-Identifier: MIT */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_read(".spool", data, size);
  return 0;
}
