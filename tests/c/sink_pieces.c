/* sink_pieces.c - a sink from outside that takes few events at a time: "begin" or "piece", then their number, one line each.
 * SPDX-License-Identifier: MIT */
#include <dftracer/sink.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EVENTS_MOST 100

typedef struct pieces {
  uint64_t length;
  char path[];
} pieces;

static dft_status pieces_open(const dft_sink_target *target, void **state) {
  size_t path_bytes = strlen(target->path) + 1;
  pieces *own = malloc(sizeof *own + path_bytes);
  FILE *file = fopen(target->path, "a");
  if (!own || !file || fclose(file) != 0 || truncate(target->path, (off_t)target->resume_bytes) != 0) {
    free(own);
    return DFT_EIO;
  }
  own->length = target->resume_bytes;
  memcpy(own->path, target->path, path_bytes);
  *state = own;
  return DFT_OK;
}

static dft_status pieces_encode(void *state, dft_batch *batch, dft_bytes *bytes) {
  const char *kind = dft_batch_is_first(batch) ? "begin" : "piece";
  int count = 0;
  dft_event event;
  (void)state;
  while (count < EVENTS_MOST && dft_batch_next(batch, &event, sizeof event)) count++;
  bytes->data = bytes->scratch;
  bytes->len = count ? (size_t)sprintf(bytes->scratch, "%s %d\n", kind, count) : 0;
  return DFT_OK;
}

static dft_status pieces_append(void *state, dft_batch *batch, const dft_bytes *bytes, uint64_t *committed_bytes) {
  pieces *own = state;
  FILE *file = fopen(own->path, "a");
  if (batch || !file) return DFT_EIO; /* there is an encode */
  own->length += fwrite(bytes->data, 1, bytes->len, file);
  *committed_bytes = own->length;
  return fclose(file) == 0 ? DFT_OK : DFT_EIO;
}

static dft_status pieces_close(void *state, int complete) {
  (void)complete;
  free(state);
  return DFT_OK;
}

DFT_API extern const dft_sink dft_sink_plugin;
const dft_sink dft_sink_plugin = {
  .struct_size = sizeof(dft_sink),
  .name = "pieces",
  .summary = "counts events",
  .suffix = ".pieces",
  .scratch_bytes = 64,
  .open = pieces_open,
  .encode = pieces_encode,
  .append = pieces_append,
  .close = pieces_close,
};
