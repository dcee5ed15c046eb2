/* null.c - the sink that keeps nothing: a template for new sinks, and the baseline when overhead is measured.
 *
 * To add a built-in sink, copy this folder, rename it, fill in the functions, and add a row to sinks/sinks.h. dftracer/sink.h is
 * the contract and numbers the duties; the comments here say where they are met.
 * SPDX-License-Identifier: MIT */
#include "../sinks.h"

/* Duties 1 and 2. What a sink must remember between calls goes into *state: usually the path, the options and the committed
 * length. */
static dft_status null_open(const dft_sink_target *target, void **state) {
  (void)target;
  *state = NULL;
  return DFT_OK;
}

/* Duties 3 and 4: turns events into bytes. */
static dft_status null_encode(void *state, dft_batch *batch, dft_bytes *bytes) {
  dft_event event;
  (void)state;
  while (dft_batch_next(batch, &event, sizeof event)) {
    /* event.name, event.values and so on are valid until the next call; here they would become bytes */
  }
  bytes->data = bytes->scratch;
  bytes->len = 0; /* nothing to write is a normal result: append still commits what was pulled */
  return DFT_OK;
}

/* Duty 5: writes bytes->data at the committed length and reports the new one. */
static dft_status null_append(void *state, dft_batch *batch, const dft_bytes *bytes, uint64_t *committed_bytes) {
  (void)state;
  (void)batch;
  (void)bytes;
  *committed_bytes = 0;
  return DFT_OK;
}

/* Duty 6: frees *state. With `complete` the file is final, and the core renames it after this. */
static dft_status null_close(void *state, int complete) {
  (void)state;
  (void)complete;
  return DFT_OK;
}

const dft_sink dft__sink_null = {
  .struct_size = sizeof(dft_sink),
  .name = "null",
  .summary = "decodes every event and keeps nothing",
  .suffix = NULL, /* no file */
  .plain_suffix = NULL,
  .scratch_bytes = 64,
  .open = null_open,
  .encode = null_encode,
  .append = null_append,
  .close = null_close,
};
