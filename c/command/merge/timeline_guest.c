/* timeline_guest.c - events of other profilers (torch.profiler) in the timeline.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "chromefile.h"
#include "timeline_parts.h"

typedef struct guest {
  timeline *to;
  uint32_t number; /* 1, 2 ... */
  int64_t base_ns;
  int32_t rank;
} guest;

static int is_number(const chrome_span *value) {
  return value && value->len && value->text[0] != '"';
}

/* A number, or for a text one made of it that no thread has. */
static uint64_t number_of(const chrome_span *value) {
  uint64_t number = 0;
  if (!value) return 0;
  for (size_t i = 0; i < value->len; i++) {
    if (is_number(value) && (value->text[i] < '0' || value->text[i] > '9')) return number;
    number = is_number(value) ? number * 10 + (uint64_t)(value->text[i] - '0')
                              : number * 31 + (unsigned char)value->text[i];
  }
  return is_number(value) ? number : UINT64_C(1) << 40 | number % (UINT64_C(1) << 40);
}

/* A fresh process or thread without a number is called by its text. */
static void put_name(timeline *to, const char *kind, uint32_t pid, uint32_t tid, const chrome_span *text) {
  if (text->len <= 2) return; /* "" */
  timeline_begin_line(to, "{\"ph\":\"M\",\"name\":\"");
  outfile_text(&to->out, kind);
  outfile_text(&to->out, "\",\"pid\":");
  outfile_int(&to->out, pid);
  outfile_text(&to->out, ",\"tid\":");
  outfile_int(&to->out, tid);
  outfile_text(&to->out, ",\"args\":{\"name\":");
  outfile_put(&to->out, text->text, text->len);
  outfile_text(&to->out, "}}");
}

static track_process *process_of(guest *of, const chrome_span *pid) {
  track_process *process = is_number(pid) ? tracks_host_of(&of->to->tracks, of->rank, number_of(pid)) : NULL;
  size_t before = of->to->tracks.count;
  char key[320];
  int len;
  if (process) return process;
  len = snprintf(key, sizeof key, "guest %u/%.*s", of->number, pid ? (int)(pid->len < 256 ? pid->len : 256) : 0,
                 pid ? pid->text : "");
  process = tracks_process(&of->to->tracks, key, (size_t)len, is_number(pid) ? number_of(pid) : UINT64_MAX, 1);
  if (process && of->to->tracks.count > before && pid && !is_number(pid)) {
    put_name(of->to, "process_name", process->shown, 0, pid);
  }
  return process;
}

/* Flows and asynchronous events of two files must not meet. */
static void put_id(guest *of, const chrome_span *id) {
  if (is_number(id)) {
    outfile_int(&of->to->out, (int64_t)(number_of(id) % (UINT64_C(1) << 40) + ((uint64_t)of->number << 40)));
  } else {
    outfile_put(&of->to->out, id->text, id->len - 1);
    outfile_text(&of->to->out, ".");
    outfile_int(&of->to->out, of->number);
    outfile_text(&of->to->out, "\"");
  }
}

static int is_key(const chrome_span *key, const char *text) {
  return key->len == strlen(text) && memcmp(key->text, text, key->len) == 0;
}

static void put_member(guest *of, const chrome_span *key, const chrome_span *value, const track_process *process,
                       uint32_t tid) {
  outfile *out = &of->to->out;
  int64_t ns;
  outfile_text(out, "\"");
  outfile_put(out, key->text, key->len);
  outfile_text(out, "\":");
  if (is_key(key, "pid")) outfile_int(out, process->shown);
  else if (is_key(key, "tid")) outfile_int(out, tid);
  else if (is_key(key, "ts") && chrome_time(value, &ns))
    timeline_put_time(of->to, ns + of->base_ns + process->shift_ns);
  else if (is_key(key, "id") || is_key(key, "bind_id")) put_id(of, value);
  else outfile_put(out, value->text, value->len);
}

static int add_event(guest *of, const chrome_event *event) {
  const chrome_span *phase = chrome_member(event, "ph");
  const chrome_span *tid = chrome_member(event, "tid");
  int is_metadata = chrome_is_text(phase, "M");
  track_process *process = process_of(of, chrome_member(event, "pid"));
  int is_new;
  uint32_t shown;
  if (!process) return ENOMEM;
  /* A process that dftracer knows has its name, and its place among the ranks. */
  if (is_metadata && !process->is_guest && !chrome_is_text(chrome_member(event, "name"), "thread_name")) return 0;
  shown = tracks_thread(process, number_of(tid), of->number, &is_new);
  if (is_new && tid && !is_number(tid)) put_name(of->to, "thread_name", process->shown, shown, tid);
  timeline_begin_line(of->to, "{");
  for (uint32_t i = 0; i < event->count; i++) {
    if (i) outfile_text(&of->to->out, ",");
    put_member(of, &event->key[i], &event->value[i], process, shown);
  }
  outfile_text(&of->to->out, "}");
  of->to->events += (uint64_t)(chrome_is_text(phase, "X") || chrome_is_text(phase, "B"));
  return of->to->out.error;
}

/* What stands behind the events counts for all of them, so the file is read twice. */
static int find_facts(guest *of, const char *path, chromefile *file) {
  chrome_event event;
  if (!chromefile_open(file, path)) return 0;
  while (chromefile_next(file, &event)) continue;
  of->base_ns = file->base_ns;
  of->rank = file->rank;
  chromefile_close(file);
  return chromefile_open(file, path);
}

int timeline_add_guest(timeline *to, const char *command, const char *path, uint32_t number) {
  guest of = {.to = to, .number = number, .rank = -1};
  chromefile file;
  chrome_event event;
  int error = 0;
  if (!find_facts(&of, path, &file)) {
    fprintf(stderr, "dftracer %s: %s: %s\n", command, path, strerror(errno));
    return 0;
  }
  while (!error && chromefile_next(&file, &event)) error = add_event(&of, &event);
  if (file.problem[0])
    fprintf(stderr, "dftracer %s: %s: %s; what stands before it is taken\n", command, path, file.problem);
  if (file.left_out) {
    fprintf(stderr, "dftracer %s: %s: %llu events are no JSON and were left out\n", command, path,
            (unsigned long long)file.left_out);
  }
  chromefile_close(&file);
  return !file.problem[0] && !file.left_out;
}
