/* mixed.c - a program with annotations of dftracer and of NVTX.
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <nvtx3/nvToolsExt.h>

int main(void) {
  nvtxRangePushA("nvtx outside");
  dft_region_begin_named("dft inside", "mixed");
  nvtxRangePushA("nvtx inside");
  nvtxRangePop();
  nvtxDomainRangePop(nvtxDomainCreateA("never pushed")); /* must not end the region */
  dft_update_int("still open", 1);
  dft_region_end();
  nvtxRangePop();
  nvtxRangePop();
  return 0;
}
