/* sink_of_5_0.c - a sink from outside, built with the sink.h of 5.0: name and number of each event, one a line.
 * SPDX-License-Identifier: MIT */
#include "../data/5.0/sink.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SCRATCH_BYTES ((size_t)1 << 20)

typedef struct list {
  uint64_t length;
  char path[4608];
} list;

static dft_status list_open(const dft_sink_target *target, void **state) {
  list *own = calloc(1, sizeof *own);
  int fd = open(target->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  int is_fine = own && fd >= 0 && ftruncate(fd, (off_t)target->resume_bytes) == 0;
  if (fd >= 0) close(fd);
  if (!is_fine) return free(own), DFT_EIO;
  own->length = target->resume_bytes;
  snprintf(own->path, sizeof own->path, "%s", target->path);
  *state = own;
  return DFT_OK;
}

static dft_status list_encode(void *state, dft_batch *batch, dft_bytes *bytes) {
  char *text = bytes->scratch;
  dft_event event;
  (void)state;
  bytes->len = 0;
  while (bytes->len < SCRATCH_BYTES - 8192 && dft_batch_next(batch, &event, sizeof event)) {
    int64_t number = -1;
    for (uint32_t i = 0; i < event.value_count; i++) {
      if (event.values[i].key.len == 1 && event.values[i].key.text[0] == 'n') number = event.values[i].value.i;
    }
    bytes->len += (size_t)sprintf(text + bytes->len, "%.*s %" PRId64 "\n", (int)event.name.len, event.name.text,
                                  number);
  }
  bytes->data = text;
  return DFT_OK;
}

static dft_status list_append(void *state, dft_batch *batch, const dft_bytes *bytes, uint64_t *committed_bytes) {
  list *own = state;
  int fd = open(own->path, O_WRONLY | O_CLOEXEC);
  int is_fine = fd >= 0 && pwrite(fd, bytes->data, bytes->len, (off_t)own->length) == (ssize_t)bytes->len;
  (void)batch;
  if (fd >= 0) close(fd);
  if (!is_fine) return DFT_EIO;
  *committed_bytes = own->length += bytes->len;
  return DFT_OK;
}

static dft_status list_close(void *state, int complete) {
  (void)complete;
  free(state);
  return DFT_OK;
}

DFT_API extern const dft_sink dft_sink_plugin;
const dft_sink dft_sink_plugin = {
  .struct_size = sizeof(dft_sink),
  .name = "list",
  .summary = "names and numbers",
  .suffix = ".list",
  .scratch_bytes = SCRATCH_BYTES,
  .open = list_open,
  .encode = list_encode,
  .append = list_append,
  .close = list_close,
};
