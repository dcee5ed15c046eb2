/* 01_regions.c - a first example: a region, a nested region, an argument.
 *
 *   DFTRACER_ENABLE=1 DFTRACER_LOG_FILE=first ./01_regions && zcat first-*.pfw.gz
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <stdio.h>

int main(void) {
  static dft_site whole = DFT_SITE("sum", "example"), part = DFT_SITE("row", "example");
  double sum = 0;
  dft_region_begin(&whole);
  for (int row = 0; row < 10; row++) {
    dft_region_begin(&part);
    dft_update_int("row", row);
    for (int i = 1; i < 100000; i++) sum += 1.0 / i;
    dft_region_end();
  }
  dft_region_end();
  printf("sum = %g\n", sum);
  return 0;
}
