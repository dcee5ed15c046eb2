/* jsonl.c - the default sink: JSON lines, compressed as a row of gzip members (.pfw.gz) or plain (.pfw).
 *
 *   encode   batch -> lines (line.c) -> members (gzip.h)         append   bytes -> file (file.c)
 *
 * One batch becomes one member, or several. Readers work on members in parallel, so no line is split between two, and all but
 * the last of a trace hold 256 KiB to 1 MiB of text. Scratch of one encode:
 *
 *   | text: lines, TEXT_BYTES | output: members, OUTPUT_BYTES | state of the compressor |
 *
 * SPDX-License-Identifier: MIT */
#include <sys/mman.h>

#include "../sinks.h"
#include "codec/file.h"
#include "codec/gzip.h"
#include "codec/line.h"
#include "jsonl_salvage.h"

/* A member ends before the line that would make it longer than this, and only if at least MEMBER_LEAST follow. So a batch of a
 * little more than this is one member, below 1 MiB. */
#define MEMBER_TEXT ((size_t)768 << 10)
#define MEMBER_LEAST ((size_t)256 << 10)
#define LINE_MOST ((size_t)3328 << 10)
/* Room for a member with the longest line, MEMBER_LEAST after it, and another such line. Pages that are never touched cost
 * nothing. */
#define TEXT_BYTES ((size_t)8 << 20)
#define OUTPUT_BYTES (2 * (TEXT_BYTES + TEXT_BYTES / 4 + 4096))

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

/* Lines that are not in a member yet. */
typedef struct pending_lines {
  char *text;
  size_t len;
  size_t cut; /* where a member can end; 0: there is too little for one */
} pending_lines;

/* Adds lines until there is a member, and enough for another one. Zero when the batch has no more. */
static int add_lines(pending_lines *lines, dft_batch *batch) {
  const char *host_hash = dft_batch_host_hash(batch);
  dft_event event;
  while (!lines->cut || lines->len < lines->cut + MEMBER_LEAST) {
    char *at = lines->text + lines->len;
    size_t line;
    if (!dft_batch_next(batch, &event, sizeof event)) return 0;
    line = dft__line_encode(at, LINE_MOST, &event, host_hash);
    if (!line) line = dft__line_encode_short(at, LINE_MOST, &event, host_hash); /* a pulled event must be kept */
    if (!lines->cut && lines->len + line > MEMBER_TEXT)
      lines->cut = lines->len < MEMBER_LEAST ? lines->len + line : lines->len;
    lines->len += line;
  }
  return 1;
}

/* The first `len` bytes of the lines become a member. Zero when there is no memory. */
static int add_member(const jsonl *own, pending_lines *lines, size_t len, dft_bytes *bytes) {
  char *output = (char *)bytes->scratch + TEXT_BYTES;
  size_t member = dft__gzip_member(output + OUTPUT_BYTES, DFT__GZIP_STATE_MOST, own->level, lines->text, len,
                                   output + bytes->len, OUTPUT_BYTES - bytes->len);
  lines->len -= len;
  lines->cut = 0;
  memmove(lines->text, lines->text + len, lines->len);
  bytes->data = output;
  bytes->len += member;
  return member != 0;
}

/* With all that a batch holds, unless that is extraordinarily much: the rest comes with another call. */
static dft_status jsonl_encode(void *state, dft_batch *batch, dft_bytes *bytes) {
  const jsonl *own = state;
  pending_lines lines = {.text = bytes->scratch};
  bytes->data = lines.text;
  bytes->len = 0;
  if (dft_batch_is_first(batch)) {
    memcpy(lines.text, "[\n", 2);
    lines.len = 2;
  }
  if (!own->compress) {
    while (add_lines(&lines, batch) && lines.len < TEXT_BYTES / 2) lines.cut = lines.len;
    bytes->len = lines.len;
    return DFT_OK;
  }
  while (bytes->len < OUTPUT_BYTES / 2 && add_lines(&lines, batch)) {
    if (!add_member(own, &lines, lines.cut, bytes)) return DFT_ENOMEM;
  }
  /* Some readers refuse an empty member. */
  return !lines.len || add_member(own, &lines, lines.len, bytes) ? DFT_OK : DFT_ENOMEM;
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
