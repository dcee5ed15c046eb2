/* sink_words.c - a sink from outside, for test_salvage.py: one line an event, with a salvage and a reader of its own.
 * SPDX-License-Identifier: MIT */
#include <dftracer/sink.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LOST "spool lost\n"

typedef struct words {
  uint64_t length;
  char path[];
} words;

static dft_status words_open(const dft_sink_target *target, void **state) {
  size_t path_bytes = strlen(target->path) + 1;
  words *own = malloc(sizeof *own + path_bytes);
  FILE *file = fopen(target->path, "a");
  int is_made = file && fclose(file) == 0;
  if (!own || !is_made || truncate(target->path, (off_t)target->resume_bytes) != 0) {
    free(own);
    return DFT_EIO;
  }
  own->length = target->resume_bytes;
  memcpy(own->path, target->path, path_bytes);
  *state = own;
  return DFT_OK;
}

static dft_status words_append(void *state, dft_batch *batch, const dft_bytes *bytes, uint64_t *committed_bytes) {
  words *own = state;
  FILE *file = fopen(own->path, "a");
  dft_event event;
  long length;
  (void)bytes;
  if (!file) return DFT_EIO;
  while (dft_batch_next(batch, &event, sizeof event)) {
    fprintf(file, "%" PRIu64 " %" PRId64 " %u %.*s\n", event.id, event.start, event.pid, (int)event.name.len,
            event.name.text);
  }
  length = ftell(file);
  if (fclose(file) != 0 || length < 0) return DFT_EIO;
  *committed_bytes = own->length = (uint64_t)length;
  return DFT_OK;
}

static dft_status words_close(void *state, int complete) {
  (void)complete;
  free(state);
  return DFT_OK;
}

static int parse(const char *line, dft_event *event, char name[64]) {
  *event = (dft_event){.parent = -1, .phase = DFT_COMPLETE, .cat = {"words", 5}};
  if (sscanf(line, "%" SCNu64 " %" SCNd64 " %u %63[^\n]", &event->id, &event->start, &event->pid, name) != 4) return 0;
  event->tid = event->pid;
  event->name = (dft_text){name, strlen(name)};
  return 1;
}

/* The whole lines, and a last one that says what happened; once. */
static dft_status words_salvage(const dft_sink_target *target, dft_salvaged *salvaged, char *why, size_t size) {
  FILE *file = fopen(target->path, "r+");
  char line[256], name[64];
  dft_event event;
  long whole = 0;
  int is_done = 0;
  if (!file) return snprintf(why, size, "it cannot be opened"), DFT_EIO;
  while (fgets(line, sizeof line, file) && strchr(line, '\n')) {
    whole = ftell(file);
    is_done = strcmp(line, LOST) == 0;
    if (!parse(line, &event, name)) continue;
    salvaged->pid = event.pid;
    salvaged->events += strcmp(name, "step") == 0;
  }
  salvaged->is_annotated = 1;
  salvaged->is_empty = !salvaged->events;
  if (!is_done)
    is_done = ftruncate(fileno(file), whole) == 0 && fseek(file, whole, SEEK_SET) == 0 && fputs(LOST, file) >= 0;
  return fclose(file) == 0 && is_done ? DFT_OK : DFT_EIO;
}

typedef struct reading {
  FILE *file;
  uint64_t length;
  char name[64];
} reading;

static dft_status words_read_open(const dft_sink_target *target, void **state) {
  reading *own = calloc(1, sizeof *own);
  if (!own) return DFT_ENOMEM;
  own->file = fopen(target->path, "r");
  own->length = target->resume_bytes;
  *state = own;
  if (own->file) return DFT_OK;
  free(own);
  return DFT_EFORMAT;
}

static int words_read_next(void *state, dft_event *event, size_t event_size) {
  reading *own = state;
  char line[256];
  dft_event whole;
  if ((uint64_t)ftell(own->file) >= own->length || !fgets(line, sizeof line, own->file)) return 0;
  if (!parse(line, &whole, own->name)) return -1;
  memcpy(event, &whole, event_size < sizeof whole ? event_size : sizeof whole);
  return 1;
}

static void words_read_close(void *state) {
  reading *own = state;
  fclose(own->file);
  free(own);
}

DFT_API extern const dft_sink dft_sink_plugin;
const dft_sink dft_sink_plugin = {
  .struct_size = sizeof(dft_sink),
  .name = "words",
  .summary = "one line an event",
  .suffix = ".words",
  .open = words_open,
  .append = words_append,
  .close = words_close,
  .salvage = words_salvage,
  .read_open = words_read_open,
  .read_next = words_read_next,
  .read_close = words_read_close,
};
