/* eventclass.c - what an event is, by its name and category: of I/O calls by calls.inc, of regions by the vocabulary.
 * SPDX-License-Identifier: MIT */
#include "eventclass.h"

#include <string.h>

static int is(dft_text text, const char *word) {
  return text.len == strlen(word) && memcmp(text.text, word, text.len) == 0;
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
  ACTION_SYNC,
  ACTION_OTHER
};
static const struct {
  const char *name;
  enum action action;
} calls[] = {
  {"fsync", ACTION_SYNC}, /* first, because calls.inc has them among the rest */
  {"fdatasync", ACTION_SYNC}, {"sync_file_range", ACTION_SYNC}, {"msync", ACTION_SYNC},     {"fflush", ACTION_SYNC},
  {"sync", ACTION_SYNC}, /* that only other tracers record */
  {"syncfs", ACTION_SYNC},
#define CALL(cat, action, type, name, params, args, subject, result, items) {#name, ACTION_##action},
#define SPECIAL(cat, action, name, items) {#name, ACTION_##action},
#include "intercept/calls.inc"
  {"vfork", ACTION_PROCESS},  {"execveat", ACTION_PROCESS},     {"waitid", ACTION_PROCESS},
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
  [ACTION_PROCESS] = {IO_NONE, RETURNS_RESULT},    [ACTION_SYNC] = {IO_SYNC, RETURNS_RESULT},
  [ACTION_OTHER] = {IO_OTHER, RETURNS_RESULT},
};

/* Other tracers record open64 in place of open. */
static enum action action_of(dft_text name) {
  if (name.len > 2 && ends(name, "64")) name.len -= 2;
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    if (is(name, calls[i].name)) return calls[i].action;
  }
  return ACTION_OTHER;
}

/* What the activities of regions mean here. */
static const struct {
  uint8_t ai, work, stage;
} meanings[ACTIVITIES] = {
  [ACTIVITY_OTHER] = {AI_NONE, WORK_OTHER, STAGE_NONE},
  [ACTIVITY_COMPUTE] = {AI_COMPUTE, WORK_COMPUTE, STAGE_NONE},
  [ACTIVITY_UPDATE] = {AI_COMPUTE, WORK_COMPUTE, STAGE_NONE},
  [ACTIVITY_FETCH] = {AI_FETCH, WORK_FETCH, STAGE_NONE},
  [ACTIVITY_LOADER] = {AI_START, WORK_FETCH, STAGE_NONE},
  [ACTIVITY_DATA] = {AI_DATA, WORK_DATA, STAGE_NONE},
  [ACTIVITY_EMPTY] = {AI_EMPTY, WORK_DATA, STAGE_NONE},
  [ACTIVITY_COMMUNICATION] = {AI_COMM, WORK_COMM, STAGE_NONE},
  [ACTIVITY_MPI] = {AI_COMM, WORK_COMM, STAGE_NONE},
  [ACTIVITY_COMPILE] = {AI_NONE, WORK_COMPILE, STAGE_NONE},
  [ACTIVITY_DEVICE] = {AI_DEVICE, WORK_DEVICE, STAGE_NONE},
  [ACTIVITY_CHECKPOINT] = {AI_CHECKPOINT, WORK_CHECKPOINT, STAGE_NONE},
  [ACTIVITY_READ] = {AI_NONE, WORK_REGION_READ, STAGE_NONE},
  [ACTIVITY_WRITE] = {AI_NONE, WORK_REGION_WRITE, STAGE_NONE},
  [ACTIVITY_METADATA] = {AI_NONE, WORK_REGION_META, STAGE_NONE},
  [ACTIVITY_EPOCH] = {AI_EPOCH, WORK_NONE, STAGE_NONE},
  [ACTIVITY_STEP] = {AI_STEP, WORK_NONE, STAGE_NONE},
  [ACTIVITY_EVALUATION] = {AI_NONE, WORK_NONE, STAGE_EVALUATION},
  [ACTIVITY_STARTUP] = {AI_NONE, WORK_OTHER, STAGE_STARTUP},
  [ACTIVITY_FRAME] = {AI_NONE, WORK_NONE, STAGE_NONE},
  [ACTIVITY_FINAL] = {AI_NONE, WORK_NONE, STAGE_FINAL},
};

static uint8_t work_of_call(enum io_kind kind) {
  switch (kind) {
    case IO_NONE: return WORK_NONE;
    case IO_READ: return WORK_READ;
    case IO_WRITE: return WORK_WRITE;
    case IO_COPY: return WORK_COPY;
    case IO_SYNC: return WORK_SYNC;
    default: return WORK_META;
  }
}

/* The rest also happens before and after a training loop: collectives before the model is built, copies of its weights, a
 * checkpoint that is loaded. */
static int is_of_loop(uint8_t ai) {
  return ai == AI_FETCH || ai == AI_START || ai == AI_COMPUTE || ai == AI_EPOCH || ai == AI_STEP;
}

static void classify_region(event_class *result, const vocabulary *own, dft_text name, dft_text cat) {
  enum activity activity = vocabulary_find(own, name, cat);
  result->activity = (uint8_t)activity;
  result->ai = meanings[activity].ai;
  result->work = meanings[activity].work;
  result->stage = meanings[activity].stage;
  result->is_loop = is_of_loop(result->ai);
  result->is_update = activity == ACTIVITY_UPDATE;
}

void event_classify(event_class *result, const vocabulary *own, dft_text name, dft_text cat) {
  int is_stream_call = is(cat, "STDIO"), is_call = is_stream_call || is(cat, "POSIX");
  enum action action = is_call ? action_of(name) : ACTION_PROCESS;
  if (is_stream_call && action == ACTION_PROCESS) action = ACTION_OTHER; /* a stream's call is always I/O */
  result->is_call = (uint8_t)is_call;
  result->is_stream = (uint8_t)is_stream_call;
  result->is_process = is_call && action == ACTION_PROCESS;
  result->is_ours = is(cat, "dftracer") && (is(name, "start") || is(name, "end"));
  result->io = actions[action].io;
  result->returns = actions[action].returns;
  result->work = work_of_call(result->io);
  if (!is_call && !result->is_ours) classify_region(result, own, name, cat);
  result->mpi = mpi_call_classify(name, cat);
}
