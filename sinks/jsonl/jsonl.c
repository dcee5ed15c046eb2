/* jsonl.c - the default sink: JSON lines, compressed as a row of gzip members (.pfw.gz) or plain (.pfw).
 *
 *   encode   batch -> lines (line.c) -> one member (gzip.h)      append   bytes -> file (file.c)
 *
 * One batch becomes one member of about MEMBER_TEXT bytes of text. So readers can work on members in parallel, and no line
 * is split between two. Scratch of one encode:
 *
 *   | text: lines, TEXT_BYTES | output: the member, OUTPUT_BYTES | state of the compressor |
 *
 * SPDX-License-Identifier: MIT */
#include <sys/mman.h>

#include "../sinks.h"
#include "codec/file.h"
#include "codec/gzip.h"
#include "codec/line.h"
#include "jsonl_salvage.h"

/* Readers work best with members of 256 KiB to 1 MiB of text. A member below this size gets another line. */
#define MEMBER_TEXT ((size_t)768 << 10)
/* So the longest line can be TEXT_BYTES - MEMBER_TEXT. Pages that are never touched cost nothing. */
#define TEXT_BYTES ((size_t)4 << 20)
#define OUTPUT_BYTES (TEXT_BYTES + TEXT_BYTES / 4 + 4096)

typedef struct jsonl {
  uint64_t committed_bytes;
  int compress;
  int level;
  char path[];
} jsonl;

static dft_status jsonl_close(void *state, int complete) {
  const jsonl *own = state;
  (void)complete;
  munmap(state, sizeof *own + strlen(own->path) + 1);
  return DFT_OK;
}

static dft_status jsonl_open(const dft_sink_target *target, void **state) {
  size_t path_bytes = strlen(target->path) + 1;
  /* Not malloc: a signal handler that interrupted it may be draining. */
  jsonl *own = mmap(NULL, sizeof *own + path_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  dft_status status;
  *state = NULL;
  if (own == MAP_FAILED) return DFT_ENOMEM;
  own->committed_bytes = target->resume_bytes;
  own->compress = target->compress != 0;
  own->level = target->level;
  memcpy(own->path, target->path, path_bytes);
  /* A new file is made with the first append. */
  status = own->committed_bytes ? dft__file_begin(own->path, own->committed_bytes) : DFT_OK;
  if (status != DFT_OK) {
    jsonl_close(own, 0);
    return status;
  }
  *state = own;
  return DFT_OK;
}

/* The lines of the batch, and the bracket that opens the file before the first. Zero when there was no event. */
static size_t encode_lines(char *text, dft_batch *batch) {
  const char *host_hash = dft_batch_host_hash(batch);
  size_t start = 0;
  size_t len;
  dft_event event;
  if (dft_batch_is_first(batch)) {
    memcpy(text, "[\n", 2);
    start = 2;
  }
  len = start;
  /* A pulled event must be kept. Below MEMBER_TEXT there is always room for at least the short form. */
  while (len < MEMBER_TEXT && dft_batch_next(batch, &event, sizeof event)) {
    size_t line = dft__line_encode(text + len, TEXT_BYTES - len, &event, host_hash);
    if (!line) line = dft__line_encode_short(text + len, TEXT_BYTES - len, &event, host_hash);
    len += line;
  }
  return len > start ? len : 0;
}

static dft_status jsonl_encode(void *state, dft_batch *batch, dft_bytes *bytes) {
  const jsonl *own = state;
  char *text = bytes->scratch;
  char *output = text + TEXT_BYTES;
  char *gzip_state = output + OUTPUT_BYTES;
  size_t len = encode_lines(text, batch);
  bytes->data = text;
  bytes->len = len;
  if (!own->compress || !len) return DFT_OK; /* some readers refuse an empty member */
  bytes->data = output;
  bytes->len = dft__gzip_member(gzip_state, DFT__GZIP_STATE_MOST, own->level, text, len, output, OUTPUT_BYTES);
  return bytes->len ? DFT_OK : DFT_ENOMEM;
}

static dft_status jsonl_append(void *state, dft_batch *batch, const dft_bytes *bytes, uint64_t *committed_bytes) {
  jsonl *own = state;
  (void)batch;
  if (bytes->len) {
    dft_status status = own->committed_bytes
                          ? dft__file_append(own->path, own->committed_bytes, bytes->data, bytes->len)
                          : dft__file_first(own->path, bytes->data, bytes->len);
    if (status != DFT_OK) return status;
    own->committed_bytes += bytes->len;
  }
  *committed_bytes = own->committed_bytes;
  return DFT_OK;
}

const dft_sink dft__sink_jsonl = {
  .struct_size = sizeof(dft_sink),
  .name = "jsonl",
  .summary = "JSON lines, one file per process",
  .suffix = ".pfw.gz",
  .plain_suffix = ".pfw",
  .scratch_bytes = TEXT_BYTES + OUTPUT_BYTES + DFT__GZIP_STATE_MOST,
  .open = jsonl_open,
  .encode = jsonl_encode,
  .append = jsonl_append,
  .close = jsonl_close,
  .flags = DFT_SINK_SIZES_BATCH | DFT_SINK_LINES, /* members must not be small */
  .salvage = dft__jsonl_salvage,
};
