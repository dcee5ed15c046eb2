/* eventclass.c - what an event is, by its name and category.
 *
 * The categories are those of TRACE_FORMAT (compute, dataloader ...) and those of the DLIO benchmark, whose traces are
 * older than these conventions. SPDX-License-Identifier: MIT */
#include "eventclass.h"

#include <string.h>

static int is(dft_text text, const char *word) {
  return text.len == strlen(word) && memcmp(text.text, word, text.len) == 0;
}

static int begins(dft_text text, const char *word) {
  return text.len >= strlen(word) && memcmp(text.text, word, strlen(word)) == 0;
}

static int ends(dft_text text, const char *word) {
  size_t len = strlen(word);
  return text.len >= len && memcmp(text.text + text.len - len, word, len) == 0;
}

/* The plain name of a call: other tracers record open64, preadv64v2 or __xstat64. */
static const struct {
  const char *name;
  uint8_t kind;
} calls[] = {
  {"read", IO_READ},    {"pread", IO_READ},    {"readv", IO_READ},           {"preadv", IO_READ},
  {"preadv2", IO_READ}, {"fread", IO_READ},    {"write", IO_WRITE},          {"pwrite", IO_WRITE},
  {"writev", IO_WRITE}, {"pwritev", IO_WRITE}, {"pwritev2", IO_WRITE},       {"fwrite", IO_WRITE},
  {"lseek", IO_SEEK},   {"fseek", IO_SEEK},    {"fseeko", IO_SEEK},          {"rewind", IO_SEEK},
  {"open", IO_OPEN},    {"openat", IO_OPEN},   {"creat", IO_OPEN},           {"fopen", IO_OPEN},
  {"freopen", IO_OPEN}, {"fdopen", IO_OPEN},   {"copy_file_range", IO_COPY}, {"sendfile", IO_COPY},
  {"splice", IO_COPY},
};

static uint8_t io_of(dft_text name) {
  if (name.len > 2 && ends(name, "64")) name.len -= 2;
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    if (is(name, calls[i].name)) return calls[i].kind;
  }
  return IO_OTHER;
}

/* Calls that create processes or wait for them are not I/O. */
static int is_process_call(dft_text name) {
  return is(name, "fork") || is(name, "vfork") || is(name, "fexecve") || begins(name, "exec") ||
         begins(name, "posix_spawn") || begins(name, "wait");
}

static uint8_t ai_of(dft_text name, dft_text cat) {
  if (is(cat, "dataloader") && is(name, "fetch.init")) return AI_START;
  if (ends(name, ".block") || ends(name, ".init")) return AI_NONE; /* a whole loop, a constructor */
  if (is(cat, "compute") || (is(cat, "ai_framework") && ends(name, ".compute"))) return AI_COMPUTE;
  if ((is(cat, "dataloader") && begins(name, "fetch")) || (is(cat, "data_loader") && is(name, "loop.iter")))
    return AI_FETCH;
  if (is(cat, "data") || is(cat, "reader")) return AI_DATA;
  if (is(cat, "comm")) return AI_COMM;
  if (is(cat, "device")) return AI_DEVICE;
  if (is(cat, "checkpoint")) return AI_CHECKPOINT;
  if (is(cat, "pipeline") && begins(name, "epoch")) return AI_EPOCH;
  if (is(cat, "pipeline") && (is(name, "step") || is(name, "step.iter"))) return AI_STEP;
  return AI_NONE;
}

void event_classify(event_class *result, dft_text name, dft_text cat) {
  int is_io = (is(cat, "POSIX") && !is_process_call(name)) || is(cat, "STDIO");
  result->io = is_io ? io_of(name) : IO_NONE;
  result->ai = is_io ? AI_NONE : ai_of(name, cat);
  result->is_update = is(cat, "compute") && is(name, "step");
  result->is_ours = is(cat, "dftracer") && (is(name, "start") || is(name, "end"));
}
