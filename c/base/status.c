/* status.c - version and status messages.
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>

const char *dft_version(void) {
  return DFT_VERSION;
}

const char *dft_status_text(dft_status status) {
  switch (status) {
#define STATUS_CASE(name, value, text) \
  case name: return text;
    DFT_STATUS_LIST(STATUS_CASE)
#undef STATUS_CASE
  }
  return "unknown status";
}
