/* eventclass.c - what an event is, by its name and category.
 *
 * It knows the categories of sinks/FORMAT.md (compute, dataloader ...), and those of the DLIO benchmark, whose traces are
 * older. SPDX-License-Identifier: MIT */
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

/* Every call that dftracer records, and those on processes that only other tracers record. */
enum action {
  ACTION_READ,
  ACTION_WRITE,
  ACTION_GET,
  ACTION_PUT,
  ACTION_SCAN,
  ACTION_QUEUE,
  ACTION_COPY,
  ACTION_MAP,
  ACTION_SEEK,
  ACTION_MOVE,
  ACTION_OPEN,
  ACTION_CLOSE,
  ACTION_PROCESS,
  ACTION_OTHER
};
static const struct {
  const char *name;
  enum action action;
} calls[] = {
#define CALL(cat, action, type, name, params, args, subject, result, items) {#name, ACTION_##action},
#define SPECIAL(cat, action, name, items) {#name, ACTION_##action},
#include "intercept/calls.inc"
  {"vfork", ACTION_PROCESS},
  {"execveat", ACTION_PROCESS},
  {"waitid", ACTION_PROCESS},
};

/* What the actions mean here. */
static const struct {
  uint8_t io, returns;
} actions[] = {
  [ACTION_READ] = {IO_READ, RETURNS_RESULT},       [ACTION_WRITE] = {IO_WRITE, RETURNS_RESULT},
  [ACTION_GET] = {IO_READ, RETURNS_CHARACTER_END}, [ACTION_PUT] = {IO_WRITE, RETURNS_CHARACTER},
  [ACTION_SCAN] = {IO_READ, RETURNS_ITEMS},        [ACTION_QUEUE] = {IO_WRITE, RETURNS_ITEMS},
  [ACTION_COPY] = {IO_COPY, RETURNS_RESULT},       [ACTION_MAP] = {IO_MAP, RETURNS_RESULT},
  [ACTION_SEEK] = {IO_SEEK, RETURNS_RESULT},       [ACTION_MOVE] = {IO_MOVE, RETURNS_RESULT},
  [ACTION_OPEN] = {IO_OPEN, RETURNS_RESULT},       [ACTION_CLOSE] = {IO_CLOSE, RETURNS_RESULT},
  [ACTION_PROCESS] = {IO_NONE, RETURNS_RESULT},    [ACTION_OTHER] = {IO_OTHER, RETURNS_RESULT},
};

/* Other tracers record open64 in place of open. */
static enum action action_of(dft_text name) {
  if (name.len > 2 && ends(name, "64")) name.len -= 2;
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    if (is(name, calls[i].name)) return calls[i].action;
  }
  return ACTION_OTHER;
}

/* The item in hand of a loop that was left counts as the others do. */
static dft_text without_cut(dft_text name) {
  if (ends(name, ".iter.cut") || ends(name, ".block.cut")) name.len -= strlen(".cut");
  return name;
}

static uint8_t ai_of(dft_text name, dft_text cat) {
  if (is(cat, "pipeline") && (is(name, "step") || is(name, "step.iter"))) return AI_STEP;
  name = without_cut(name);
  if (is(cat, "dataloader") && (is(name, "fetch.init") || is(name, "fetch.end"))) return AI_START;
  if (is(cat, "pipeline") && (is(name, "epoch") || is(name, "epoch.block"))) return AI_EPOCH;
  if (is(cat, "dlio_benchmark") && ends(name, "._train")) return AI_EPOCH;
  if (ends(name, ".block") || ends(name, ".init")) return AI_NONE; /* the body of a loop, a constructor */
  if (is(cat, "compute") || (is(cat, "ai_framework") && ends(name, ".compute"))) return AI_COMPUTE;
  if ((is(cat, "dataloader") && begins(name, "fetch")) || (is(cat, "data_loader") && is(name, "loop.iter")))
    return AI_FETCH;
  if (is(cat, "data") || is(cat, "reader")) return AI_DATA;
  if (is(cat, "comm")) return AI_COMM;
  if (is(cat, "device")) return AI_DEVICE;
  if (is(cat, "checkpoint")) return AI_CHECKPOINT;
  return AI_NONE;
}

void event_classify(event_class *result, dft_text name, dft_text cat) {
  int is_stream_call = is(cat, "STDIO"), is_call = is_stream_call || is(cat, "POSIX");
  enum action action = is_call ? action_of(name) : ACTION_PROCESS;
  if (is_stream_call && action == ACTION_PROCESS) action = ACTION_OTHER; /* a stream's call is always I/O */
  result->is_call = (uint8_t)is_call;
  result->is_stream = (uint8_t)is_stream_call;
  result->is_process = is_call && action == ACTION_PROCESS;
  result->io = actions[action].io;
  result->returns = actions[action].returns;
  result->ai = result->io ? AI_NONE : ai_of(name, cat);
  result->is_update = is(cat, "compute") && is(name, "step");
  result->is_ours = is(cat, "dftracer") && (is(name, "start") || is(name, "end"));
}
