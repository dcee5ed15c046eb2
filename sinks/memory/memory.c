/* memory.c - the sink that keeps its lines in memory, for tests.
 *
 * It shows the other shape of a sink: without encode, append gets the batch itself. The text outlives close, so that a test can
 * read it after dft_stop. A new trace replaces it. There is one text a process, because tests have no handle on a sink's
 * state.
 * SPDX-License-Identifier: MIT */
#include "memory.h"

#include <stdlib.h>

#include "../sinks.h"
#include "codec/line.h"

static struct {
  char *text;
  size_t len;
  size_t room;
} kept;

static dft_status memory_open(const dft_sink_target *target, void **state) {
  *state = &kept;
  if (target->resume_bytes > kept.len) return DFT_EIO;
  kept.len = (size_t)target->resume_bytes;
  return DFT_OK;
}

/* Twice the room; 0 when memory ends. */
static int grow(void) {
  size_t room = kept.room ? 2 * kept.room : (size_t)1 << 16;
  char *text = realloc(kept.text, room);
  if (!text) return 0;
  kept.text = text;
  kept.room = room;
  return 1;
}

static dft_status memory_append(void *state, dft_batch *batch, const dft_bytes *bytes, uint64_t *committed_bytes) {
  const char *host_hash = dft_batch_host_hash(batch);
  size_t before = kept.len;
  dft_event event;
  (void)state;
  (void)bytes;
  while (dft_batch_next(batch, &event, sizeof event)) {
    size_t len = 0;
    while (!kept.text || !(len = dft__line_encode(kept.text + kept.len, kept.room - kept.len, &event, host_hash))) {
      if (!grow()) {
        kept.len = before;
        return DFT_ENOMEM;
      }
    }
    kept.len += len;
  }
  *committed_bytes = kept.len;
  return DFT_OK;
}

static dft_status memory_close(void *state, int complete) {
  (void)state;
  (void)complete;
  return DFT_OK;
}

char *dft__memory_take(size_t *len) {
  char *text = kept.len ? kept.text : NULL;
  if (len) *len = kept.len;
  /* There is always a byte left: a line is only written where there is more room than it needs. */
  if (text) text[kept.len] = '\0';
  else free(kept.text);
  memset(&kept, 0, sizeof kept);
  return text;
}

void dft__memory_reset(void) {
  free(dft__memory_take(NULL));
}

const dft_sink dft__sink_memory = {
  .struct_size = sizeof(dft_sink),
  .name = "memory",
  .summary = "keeps JSON lines in memory, for tests",
  .suffix = NULL,
  .plain_suffix = NULL,
  .scratch_bytes = 0,
  .open = memory_open,
  .encode = NULL,
  .append = memory_append,
  .close = memory_close,
};
