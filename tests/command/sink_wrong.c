/* sink_wrong.c - a sink that encodes into memory it did not ask for. SPDX-License-Identifier: MIT */
#include <dftracer/sink.h>

static dft_status start(const dft_sink_target *target, void **state) {
  (void)target;
  *state = NULL;
  return DFT_OK;
}

static dft_status encode(void *state, dft_batch *batch, dft_bytes *bytes) {
  dft_event event;
  (void)state;
  while (dft_batch_next(batch, &event, sizeof event)) memset(bytes->scratch, 1, 4096);
  bytes->data = bytes->scratch;
  bytes->len = 0;
  return DFT_OK;
}

static dft_status append(void *state, dft_batch *batch, const dft_bytes *bytes, uint64_t *committed_bytes) {
  (void)state, (void)batch, (void)bytes;
  *committed_bytes = 0;
  return DFT_OK;
}

static dft_status finish(void *state, int complete) {
  (void)state, (void)complete;
  return DFT_OK;
}

DFT_API extern const dft_sink dft_sink_plugin;
const dft_sink dft_sink_plugin = {
  .struct_size = sizeof(dft_sink),
  .name = "wrong",
  .summary = "asks for no memory",
  .open = start,
  .encode = encode,
  .append = append,
  .close = finish,
};
