/* chromelines.c - a file in Chrome's trace format as lines that the reader can read.
 * SPDX-License-Identifier: MIT */
#include "chromelines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chromefile.h"
#include "command/cli/printable.h"
#include "numbering.h"
#include "outfile.h"

#define THREADS_MOST (1u << 20) /* with open events */

/* An event that began with B: its members, as they will be in the line. */
typedef struct begun_event {
  struct begun_event *outer;
  int64_t start_ns;
  int has_args;
  size_t len;
  char members[];
} begun_event;

typedef struct translation {
  outfile out, aside;
  int64_t base_ns;
  int32_t rank;
  int is_again; /* the facts are those of the whole file */
  int has_rank_line;
  numbering threads;
  begun_event **begun; /* by the thread's number; the innermost one */
  uint32_t begun_room;
  uint64_t unpaired; /* B without E, E without B */
  uint64_t timeless;
} translation;

/* ---- Lines ---------------------------------------------------------------------------------------------------------- */

/* Copies a value without its line ends, which are never inside of a string. */
static void put_flat(outfile *out, const chrome_span *value) {
  char *at = outfile_room(out, value->len);
  if (!at) return;
  for (size_t i = 0; i < value->len; i++)
    at[i] = value->text[i] == '\n' || value->text[i] == '\r' ? ' ' : value->text[i];
  outfile_advance(out, value->len);
}

/* What is written otherwise; and the id, which in a trace of ours is that of the event, not of a flow. */
static int is_own_member(const chrome_span *key) {
  static const char *const keys[] = {"ph", "pid", "tid", "ts", "dur", "id"};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    if (key->len == strlen(keys[i]) && memcmp(key->text, keys[i], key->len) == 0) return 1;
  }
  return 0;
}

static void put_members(outfile *out, const chrome_event *event) {
  for (uint32_t i = 0; i < event->count; i++) {
    if (is_own_member(&event->key[i])) continue;
    outfile_text(out, "\"");
    outfile_put(out, event->key[i].text, event->key[i].len);
    outfile_text(out, "\":");
    put_flat(out, &event->value[i]);
    outfile_text(out, ",");
  }
}

/* The rest of a line, after the members. */
static void put_end(outfile *out, const chrome_event *event, const char *phase, int64_t start_ns, int64_t dur_ns) {
  outfile_text(out, "\"pid\":");
  outfile_int(out, (int64_t)chrome_number(chrome_member(event, "pid")));
  outfile_text(out, ",\"tid\":");
  outfile_int(out, (int64_t)chrome_number(chrome_member(event, "tid")));
  outfile_text(out, ",\"ts\":");
  outfile_us(out, start_ns);
  if (phase[0] == 'X') {
    outfile_text(out, ",\"dur\":");
    outfile_us(out, dur_ns);
  }
  outfile_text(out, ",\"ph\":\"");
  outfile_text(out, phase);
  outfile_text(out, "\"}\n");
}

/* The rank belongs to the process of the first event. */
static void put_rank(translation *to, const chrome_event *event) {
  char text[160];
  if (to->has_rank_line || to->rank < 0 || !chrome_is_number(chrome_member(event, "pid"))) return;
  to->has_rank_line = 1;
  snprintf(text, sizeof text, "{\"name\":\"PR\",\"cat\":\"dftracer\",\"args\":{\"name\":\"rank\",\"value\":\"%d\"},",
           to->rank);
  outfile_text(&to->out, text);
  put_end(&to->out, event, "M", 0, 0);
}

/* ---- Pairs ---------------------------------------------------------------------------------------------------------- */

/* Where the thread's innermost open event is. NULL: no memory, or too many threads. */
static begun_event **begun_on(translation *to, const chrome_event *event) {
  int is_new;
  uint32_t number = numbering_of(&to->threads, chrome_number(chrome_member(event, "pid")),
                                 chrome_number(chrome_member(event, "tid")), &is_new);
  if (number >= to->begun_room) {
    uint32_t room = 2 * number + 64;
    begun_event **more = realloc(to->begun, room * sizeof(begun_event *));
    if (!more) return NULL;
    memset(more + to->begun_room, 0, (room - to->begun_room) * sizeof(begun_event *));
    to->begun = more;
    to->begun_room = room;
  }
  return number ? &to->begun[number] : NULL;
}

static void begin(translation *to, const chrome_event *event, int64_t start_ns) {
  begun_event **place = begun_on(to, event), *made;
  to->aside.len = 0;
  put_members(&to->aside, event);
  made = place ? malloc(sizeof *made + to->aside.len) : NULL;
  if (!made || to->aside.error) {
    to->out.error = ENOMEM;
    free(made);
    return;
  }
  made->outer = *place;
  made->start_ns = start_ns;
  made->has_args = chrome_member(event, "args") != NULL;
  made->len = to->aside.len;
  memcpy(made->members, to->aside.text, made->len);
  *place = made;
}

static void end(translation *to, const chrome_event *event, int64_t end_ns) {
  begun_event **place = begun_on(to, event), *done = place ? *place : NULL;
  const chrome_span *args = chrome_member(event, "args");
  if (!done) {
    to->unpaired++;
    return;
  }
  outfile_text(&to->out, "{");
  outfile_put(&to->out, done->members, done->len);
  if (args && !done->has_args) {
    outfile_text(&to->out, "\"args\":");
    put_flat(&to->out, args);
    outfile_text(&to->out, ",");
  }
  put_end(&to->out, event, "X", done->start_ns, end_ns - done->start_ns);
  *place = done->outer;
  free(done);
}

static void drop_begun(translation *to) {
  for (uint32_t i = 0; i < to->begun_room; i++) {
    for (begun_event *at = to->begun[i], *outer; at; at = outer, to->unpaired++) {
      outer = at->outer;
      free(at);
    }
  }
  free(to->begun);
  numbering_free(&to->threads);
}

/* ---- Events --------------------------------------------------------------------------------------------------------- */

static int is_profiler_track(const chrome_span *pid) {
  return chrome_is_text(pid, "Spans") || chrome_is_text(pid, "Traces") || chrome_is_text(pid, "");
}

static void add_event(translation *to, const chrome_event *event) {
  const chrome_span *phase = chrome_member(event, "ph"), *time = chrome_member(event, "ts"),
                    *length = chrome_member(event, "dur");
  int64_t start_ns = 0, dur_ns = 0;
  char letter[2] = "";
  if (is_profiler_track(chrome_member(event, "pid"))) return;
  if (phase && phase->len == 3 && phase->text[0] == '"') letter[0] = phase->text[1];
  if (!chrome_moment(time, to->base_ns, &start_ns) && letter[0] != 'M') letter[0] = '\0';
  if (length && !chrome_time(length, &dur_ns)) letter[0] = '\0';
  if (!letter[0] || letter[0] == '\\') {
    to->timeless++;
    return;
  }
  if (letter[0] == 'X' || letter[0] == 'B') put_rank(to, event);
  if (letter[0] == 'B') {
    begin(to, event, start_ns);
  } else if (letter[0] == 'E') {
    end(to, event, start_ns);
  } else {
    outfile_text(&to->out, "{");
    put_members(&to->out, event);
    put_end(&to->out, event, letter, start_ns, dur_ns);
  }
}

static void complain(translation *to, const char *command, const char *name, const char *text) {
  fprintf(stderr, "dftracer %s: %s: %s\n", command, printable(name), printable(text));
  outfile_text(&to->out, "unreadable: ");
  outfile_text(&to->out, text);
  outfile_text(&to->out, "\n");
}

static void complain_count(translation *to, const char *command, const char *name, uint64_t count, const char *what) {
  char text[128];
  if (!count) return;
  snprintf(text, sizeof text, "skipped %llu event%s %s", (unsigned long long)count, count == 1 ? "" : "s", what);
  complain(to, command, name, text);
}

/* Reads the file once. Zero: facts behind the events differ from those that were used. */
static int translate(translation *to, chromefile *file, const char *command, const char *name) {
  chrome_event event;
  int has_more = chromefile_next(file, &event);
  if (!to->is_again) {
    to->base_ns = file->base_ns;
    to->rank = file->rank;
  }
  for (; has_more && !to->out.error; has_more = chromefile_next(file, &event)) add_event(to, &event);
  drop_begun(to);
  if (!to->is_again && (to->base_ns != file->base_ns || to->rank != file->rank)) return 0;
  if (file->problem[0]) complain(to, command, name, file->problem);
  complain_count(to, command, name, file->left_out, "that cannot be parsed as JSON");
  complain_count(to, command, name, to->timeless, "without a phase or a time");
  complain_count(to, command, name, to->unpaired, "whose B has no E, or whose E has no B");
  return 1;
}

int chromelines_write(const char *command, const char *path, const char *name, int fd) {
  translation to = {.rank = -1};
  chromefile file;
  int copy, error = 0, is_done = 0;
  while (!error && !is_done) {
    if (ftruncate(fd, 0) != 0 || lseek(fd, 0, SEEK_SET) != 0 || !chromefile_open(&file, path)) return errno;
    copy = dup(fd); /* the outfile closes it */
    error = copy < 0 ? errno : outfile_adopt(&to.out, copy);
    if (!error) error = outfile_adopt(&to.aside, -1);
    to.threads.limit = THREADS_MOST;
    is_done = error || translate(&to, &file, command, name);
    outfile_close(&to.aside, 0);
    if (!error) error = outfile_close(&to.out, is_done);
    to = (translation){.base_ns = file.base_ns, .rank = file.rank, .is_again = 1};
    chromefile_close(&file);
  }
  return error;
}
