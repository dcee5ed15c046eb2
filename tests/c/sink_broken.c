/* sink_broken.c - a sink from outside that can be opened and never writes anything.
 * SPDX-License-Identifier: MIT */
#include <dftracer/sink.h>

static dft_status broken_open(const dft_sink_target *target, void **state) {
  (void)target;
  *state = NULL;
  return DFT_OK;
}

static dft_status broken_append(void *state, dft_batch *batch, const dft_bytes *bytes, uint64_t *committed_bytes) {
  (void)state;
  (void)batch;
  (void)bytes;
  (void)committed_bytes;
  return DFT_EIO;
}

static dft_status broken_close(void *state, int complete) {
  (void)state;
  (void)complete;
  return DFT_OK;
}

DFT_API extern const dft_sink dft_sink_plugin;
const dft_sink dft_sink_plugin = {
  .struct_size = sizeof(dft_sink),
  .name = "broken",
  .summary = "fails",
  .suffix = ".broken",
  .open = broken_open,
  .append = broken_append,
  .close = broken_close,
};
