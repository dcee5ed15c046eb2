/* guestevents.c - the events of other profilers, such as torch.profiler, in a timeline.
 * SPDX-License-Identifier: MIT */
#include "guestevents.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "command/cli/printable.h"
#include "command/trace/chromefile.h"
#include "command/trace/standin.h"

typedef struct guest_file {
  timeline *merged;
  uint32_t number; /* 1, 2 ... */
  int64_t base_ns; /* added to its times */
  int32_t rank;    /* -1: unknown */
} guest_file;

/* Names a new process or thread whose id is a text. */
static void put_name(timeline *merged, const char *kind, uint32_t pid, uint32_t tid, const chrome_span *text) {
  if (text->len <= 2) return; /* "" */
  timeline_begin_line(merged, "{\"ph\":\"M\",\"name\":\"");
  outfile_text(&merged->out, kind);
  outfile_text(&merged->out, "\",\"pid\":");
  outfile_int(&merged->out, pid);
  outfile_text(&merged->out, ",\"tid\":");
  outfile_int(&merged->out, tid);
  outfile_text(&merged->out, ",\"args\":{\"name\":");
  outfile_json(&merged->out, text->text, text->len);
  outfile_text(&merged->out, "}}");
}

static track_process *find_process(guest_file *guest, const chrome_span *pid) {
  track_process *process = chrome_is_number(pid)
                             ? tracks_host_of(&guest->merged->tracks, guest->rank, chrome_number(pid))
                             : NULL;
  size_t before = guest->merged->tracks.count;
  char key[320];
  int len;
  if (process) return process;
  len = snprintf(key, sizeof key, "guest %u/%.*s", guest->number, pid ? (int)(pid->len < 256 ? pid->len : 256) : 0,
                 pid ? pid->text : "");
  process = tracks_process(&guest->merged->tracks, key, (size_t)len,
                           chrome_is_number(pid) ? chrome_number(pid) : UINT64_MAX, 1);
  if (process && guest->merged->tracks.count > before && pid && !chrome_is_number(pid)) {
    put_name(guest->merged, "process_name", process->shown, 0, pid);
  }
  return process;
}

/* Makes ids of flows and asynchronous events unique across files. */
static void put_id(guest_file *guest, const chrome_span *id) {
  if (chrome_is_number(id)) {
    outfile_int(&guest->merged->out,
                (int64_t)(chrome_number(id) % (UINT64_C(1) << 40) + ((uint64_t)guest->number << 40)));
  } else {
    outfile_json(&guest->merged->out, id->text, id->len - 1);
    outfile_text(&guest->merged->out, ".");
    outfile_int(&guest->merged->out, guest->number);
    outfile_text(&guest->merged->out, "\"");
  }
}

static int is_key(const chrome_span *key, const char *text) {
  return key->len == strlen(text) && memcmp(key->text, text, key->len) == 0;
}

/* Nonzero, with the times, when the event has a duration, and its node's clock is moved by a drift: then both ends are. */
static int has_drifted(const guest_file *guest, const chrome_event *event, const node_clock *clock, int64_t *dur) {
  int64_t start;
  if (clock->drift == 0 || !chrome_moment(chrome_member(event, "ts"), guest->base_ns, &start) ||
      !chrome_time(chrome_member(event, "dur"), dur))
    return 0;
  *dur = node_clock_apply(clock, start + *dur) - node_clock_apply(clock, start);
  return 1;
}

static void put_member(guest_file *guest, const chrome_event *event, uint32_t member, const track_process *process,
                       uint32_t tid) {
  const chrome_span *key = &event->key[member], *value = &event->value[member];
  outfile *out = &guest->merged->out;
  int64_t ns;
  outfile_text(out, "\"");
  outfile_json(out, key->text, key->len);
  outfile_text(out, "\":");
  if (is_key(key, "pid")) outfile_int(out, process->shown);
  else if (is_key(key, "tid")) outfile_int(out, tid);
  else if (is_key(key, "ts") && chrome_moment(value, guest->base_ns, &ns))
    timeline_put_time(guest->merged, node_clock_apply(&process->clock, ns));
  else if (is_key(key, "dur") && has_drifted(guest, event, &process->clock, &ns)) outfile_us(out, ns);
  else if (is_key(key, "id") || is_key(key, "bind_id")) put_id(guest, value);
  else outfile_json(out, value->text, value->len);
}

static int add_event(guest_file *guest, const chrome_event *event) {
  const chrome_span *phase = chrome_member(event, "ph");
  const chrome_span *tid = chrome_member(event, "tid");
  int is_metadata = chrome_is_text(phase, "M");
  track_process *process = find_process(guest, chrome_member(event, "pid"));
  int is_new;
  uint32_t shown;
  if (!process) return ENOMEM;
  /* A process that dftracer recorded already has a name and a place among the ranks. */
  if (is_metadata && !process->is_guest && !chrome_is_text(chrome_member(event, "name"), "thread_name")) return 0;
  shown = tracks_thread(process, chrome_number(tid), guest->number, &is_new);
  if (is_new && tid && !chrome_is_number(tid)) put_name(guest->merged, "thread_name", process->shown, shown, tid);
  timeline_begin_line(guest->merged, "{");
  for (uint32_t i = 0; i < event->count; i++) {
    if (i) outfile_text(&guest->merged->out, ",");
    put_member(guest, event, i, process, shown);
  }
  outfile_text(&guest->merged->out, "}");
  guest->merged->events += (uint64_t)(chrome_is_text(phase, "X") || chrome_is_text(phase, "B"));
  return guest->merged->out.error;
}

/* Facts behind the events apply to all of them, so the file is read twice. */
static int find_facts(guest_file *guest, const char *path, chromefile *file) {
  chrome_event event;
  if (!chromefile_open(file, path)) return 0;
  while (chromefile_next(file, &event)) continue;
  guest->base_ns = file->base_ns;
  guest->rank = file->rank;
  chromefile_close(file);
  return chromefile_open(file, path);
}

int guestevents_add(timeline *merged, const char *command, const char *path, uint32_t number) {
  const char *name = printable(standin_name(path));
  guest_file guest = {.merged = merged, .number = number, .rank = -1};
  chromefile file;
  chrome_event event;
  int error = 0;
  if (!find_facts(&guest, path, &file)) {
    fprintf(stderr, "dftracer %s: %s: %s\n", command, name, strerror(errno));
    return 0;
  }
  while (!error && chromefile_next(&file, &event)) error = add_event(&guest, &event);
  if (file.problem[0])
    fprintf(stderr, "dftracer %s: %s: %s; only the events before this place are used\n", command, name,
            printable(file.problem));
  if (file.left_out) {
    fprintf(stderr, "dftracer %s: %s: skipped %llu event%s that cannot be parsed as JSON\n", command, name,
            (unsigned long long)file.left_out, file.left_out == 1 ? "" : "s");
  }
  chromefile_close(&file);
  return !file.problem[0] && !file.left_out;
}
