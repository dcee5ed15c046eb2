/* sink_names.c - a sink from outside, of the kind without encode: writes the name of each event, one a line.
 * SPDX-License-Identifier: MIT */
#include <dftracer/sink.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct names {
  FILE *file;
  uint64_t length;
} names;

static dft_status names_open(const dft_sink_target *target, void **state) {
  names *own = calloc(1, sizeof *own);
  if (!own) return DFT_ENOMEM;
  own->file = fopen(target->path, target->resume_bytes ? "r+" : "w");
  if (!own->file || fseek(own->file, (long)target->resume_bytes, SEEK_SET) != 0) {
    free(own);
    return DFT_EIO;
  }
  own->length = target->resume_bytes;
  *state = own;
  return DFT_OK;
}

static dft_status names_append(void *state, dft_batch *batch, const dft_bytes *bytes, uint64_t *committed_bytes) {
  names *own = state;
  dft_event event;
  if (bytes) return DFT_EINVAL; /* there is no encode */
  while (dft_batch_next(batch, &event, sizeof event)) {
    own->length += (uint64_t)fprintf(own->file, "%.*s\n", (int)event.name.len, event.name.text);
  }
  *committed_bytes = own->length;
  return fflush(own->file) == 0 ? DFT_OK : DFT_EIO;
}

static dft_status names_close(void *state, int complete) {
  names *own = state;
  int result = fclose(own->file);
  (void)complete;
  free(own);
  return result == 0 ? DFT_OK : DFT_EIO;
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
