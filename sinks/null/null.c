/* null.c - the sink that keeps nothing: a template for new sinks, and the baseline when overhead is measured.
 *
 * Copy this folder, rename, and fill in the functions. sink.h is the contract; what follows only says where things go.
 * SPDX-License-Identifier: MIT */
#include "../sinks.h"

/* What a sink must remember between calls goes into *state: usually the path, the options and the committed length.
 * Here malloc is allowed. A new file is made when target->resume_bytes is 0; else the file is there and is cut to that
 * length. A sink must not keep a descriptor open from here on: the application may close any number it finds. */
static dft_status null_open(const dft_sink_target *target, void **state) {
  (void)target;
  *state = NULL;
  return DFT_OK;
}

/* Turns events into bytes. It may run on several threads at once and inside a signal handler, so it reads *state but
 * never writes it, allocates nothing, locks nothing, and works in bytes->scratch only. An event that was pulled is
 * consumed: make sure that there is room for it before asking for the next. */
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

/* Writes bytes->data at the committed length and reports the new one. Bytes are in the file when this returns DFT_OK;
 * when it fails the file must be as long as before, or be cut to that length by the next open. */
static dft_status null_append(void *state, dft_batch *batch, const dft_bytes *bytes, uint64_t *committed_bytes) {
  (void)state;
  (void)batch;
  (void)bytes;
  *committed_bytes = 0;
  return DFT_OK;
}

/* Frees *state. With `complete` the file is final: the core renames it to its published name after this. */
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
