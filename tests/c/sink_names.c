/* sink_names.c - a sink from outside, of the kind without encode: writes the name of each event, one a line.
 * SPDX-License-Identifier: MIT */
#include <dftracer/sink.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct names {
  uint64_t length;
  char path[];
} names;

static dft_status names_open(const dft_sink_target *target, void **state) {
  size_t path_bytes = strlen(target->path) + 1;
  names *own = malloc(sizeof *own + path_bytes);
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

/* The file is open during a call only: the next one may come from a thread with other descriptors. */
static dft_status names_append(void *state, dft_batch *batch, const dft_bytes *bytes, uint64_t *committed_bytes) {
  names *own = state;
  FILE *file = fopen(own->path, "a");
  dft_event event;
  if (bytes || !file) return DFT_EIO; /* there is no encode */
  while (dft_batch_next(batch, &event, sizeof event)) {
    own->length += (uint64_t)fprintf(file, "%.*s\n", (int)event.name.len, event.name.text);
  }
  *committed_bytes = own->length;
  return fclose(file) == 0 ? DFT_OK : DFT_EIO;
}

static dft_status names_close(void *state, int complete) {
  (void)complete;
  free(state);
  return DFT_OK;
}

DFT_API extern const dft_sink dft_sink_plugin;
const dft_sink dft_sink_plugin = {
  .struct_size = sizeof(dft_sink),
  .name = "names",
  .summary = "names of events, one a line",
  .suffix = ".names",
  .open = names_open,
  .append = names_append,
  .close = names_close,
};
