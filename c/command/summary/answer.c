/* answer.c - the totals as ordered lists and labels.
 * SPDX-License-Identifier: MIT */
#include "answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Events --------------------------------------------------------------------------------------------------------- */

static int by_self(const void *a, const void *b) {
  const answer_group *one = a, *two = b;
  if (one->stats->self_ns != two->stats->self_ns) return one->stats->self_ns > two->stats->self_ns ? -1 : 1;
  if (one->stats->total_ns != two->stats->total_ns) return one->stats->total_ns > two->stats->total_ns ? -1 : 1;
  return (one->number > two->number) - (one->number < two->number);
}

answer_group *answer_groups(const trace_totals *totals, uint32_t *count) {
  const tally *counts = &totals->counts;
  answer_group *list = calloc(counts->group_numbers.count + 1, sizeof *list);
  *count = 0;
  for (uint32_t i = 1; list && i <= counts->group_numbers.count; i++) {
    uint32_t number = (uint32_t)counts->group_numbers.keys[i].a;
    if (counts->groups[i].durations.count) list[(*count)++] = (answer_group){number, &counts->groups[i]};
  }
  if (list) qsort(list, *count, sizeof *list, by_self);
  return list;
}

/* ---- I/O ------------------------------------------------------------------------------------------------------------ */

static int by_io_time(const void *a, const void *b) {
  const answer_io *one = a, *two = b;
  uint64_t one_ns = io_stats_ns(one->stats), two_ns = io_stats_ns(two->stats);
  if (one_ns != two_ns) return one_ns > two_ns ? -1 : 1;
  return (one->number > two->number) - (one->number < two->number);
}

answer_io *answer_files(const trace_totals *totals, uint32_t *count) {
  const tally *counts = &totals->counts;
  answer_io *list = calloc(counts->file_numbers.count + 1, sizeof *list);
  *count = 0;
  for (uint32_t i = 1; list && i <= counts->file_numbers.count; i++) {
    list[(*count)++] = (answer_io){(uint32_t)counts->file_numbers.keys[i].a, &counts->files[i]};
  }
  if (list) qsort(list, *count, sizeof *list, by_io_time);
  return list;
}

answer_io *answer_processes(const trace_totals *totals, uint32_t *count) {
  const analysis *shared = &totals->shared;
  answer_io *list = calloc(shared->process_numbers.count + 1, sizeof *list);
  *count = 0;
  for (uint32_t i = 1; list && i <= shared->process_numbers.count; i++) {
    const io_stats *stats = &analysis_process(shared, i)->io;
    if (io_stats_calls(stats)) list[(*count)++] = (answer_io){i, stats};
  }
  if (list) qsort(list, *count, sizeof *list, by_io_time);
  return list;
}

io_stats answer_all_io(const trace_totals *totals) {
  const analysis *shared = &totals->shared;
  io_stats all = {0};
  for (uint32_t i = 1; i <= shared->process_numbers.count; i++) io_stats_merge(&all, &analysis_process(shared, i)->io);
  return all;
}

/* ---- Training ------------------------------------------------------------------------------------------------------- */

static int by_epoch(const void *a, const void *b) {
  const answer_epoch *one = a, *two = b;
  return (one->epoch > two->epoch) - (one->epoch < two->epoch);
}

answer_epoch *answer_epochs(const trace_totals *totals, uint32_t *count) {
  const numbering *numbers = &totals->counts.epoch_numbers;
  answer_epoch *list = calloc(numbers->count + 1, sizeof *list);
  *count = list ? numbers->count : 0;
  for (uint32_t i = 0; i < *count; i++) {
    list[i] = (answer_epoch){(int64_t)numbers->keys[i + 1].a, &totals->counts.epochs[i + 1]};
  }
  if (list) qsort(list, *count, sizeof *list, by_epoch);
  return list;
}

/* ---- Processes and threads ------------------------------------------------------------------------------------------ */

uint32_t answer_process_count(const trace_totals *totals) {
  const analysis *shared = &totals->shared;
  uint32_t count = 0;
  for (uint32_t i = 1; i <= shared->process_numbers.count; i++) count += analysis_process(shared, i)->threads != 0;
  return count;
}

typedef struct lifetime {
  int64_t first, last;
} lifetime;

static int by_first(const void *a, const void *b) {
  const lifetime *one = a, *two = b;
  return (one->first > two->first) - (one->first < two->first);
}

uint64_t answer_pause_ns(const trace_totals *totals) {
  const analysis *shared = &totals->shared;
  lifetime *list = calloc(shared->thread_numbers.count + 1, sizeof *list);
  uint32_t count = 0;
  int64_t end, longest = 0;
  for (uint32_t i = 1; list && i <= shared->thread_numbers.count; i++) {
    const coverage *time = &analysis_thread(shared, i)->time;
    if (time->events) list[count++] = (lifetime){time->first, time->last};
  }
  if (count) {
    qsort(list, count, sizeof *list, by_first);
    end = list[0].last;
    for (uint32_t i = 1; i < count; i++) {
      if (list[i].first - end > longest) longest = list[i].first - end;
      if (list[i].last > end) end = list[i].last;
    }
  }
  free(list);
  return (uint64_t)longest;
}

/* ---- Labels --------------------------------------------------------------------------------------------------------- */

/* Cuts a text that is too long, but not inside a character. */
static void put(char out[LABEL_BYTES], dft_text text) {
  size_t len = text.len < LABEL_BYTES ? text.len : LABEL_BYTES - 1;
  while (len < text.len && len > 0 && ((unsigned char)text.text[len] & 0xc0) == 0x80) len--;
  memcpy(out, text.text, len);
  out[len] = '\0';
}

static void put_number(char out[LABEL_BYTES], int64_t number) {
  if (number == NO_NUMBER) out[0] = '\0';
  else snprintf(out, LABEL_BYTES, "%" PRId64, number);
}

dft_text answer_file(const trace_totals *totals, uint32_t file) {
  if (!file) return (dft_text){"(no file)", 9};
  return dft_reader_text(totals->shared.reader, DFT_FILES, file);
}

void answer_process_label(const trace_totals *totals, uint32_t number, char label[LABEL_BYTES]) {
  const traced_process *process = analysis_process(&totals->shared, number);
  dft_text host = dft_reader_text(totals->shared.reader, DFT_HOSTS, process->host);
  int len = snprintf(label, LABEL_BYTES, "%.*s%s%" PRIu64, host.len > 200 ? 200 : (int)host.len, host.text,
                     host.len ? ":" : "", process->pid);
  if (process->rank != NO_NUMBER) snprintf(label + len, LABEL_BYTES - (size_t)len, " rank %" PRId64, process->rank);
}

/* The other way round than group_of in worker.c. */
void answer_label(const trace_totals *totals, uint32_t group, char one[LABEL_BYTES], char two[LABEL_BYTES]) {
  const analysis *shared = &totals->shared;
  const int by = shared->question->by;
  numbered key = {0, 0};
  one[0] = two[0] = '\0';
  if (!group) {
    put(one, (dft_text){"(others)", 8});
    return;
  }
  if (by != BY_NAME) key = shared->group_numbers.keys[group];
  switch (by) {
    case BY_FILE: put(one, answer_file(totals, (uint32_t)key.a)); break;
    case BY_PROCESS: answer_process_label(totals, numbering_find(&shared->process_numbers, key.a, key.b), one); break;
    case BY_THREAD: {
      const traced_thread *thread = analysis_thread(shared, (uint32_t)key.a);
      snprintf(one, LABEL_BYTES, "%" PRIu64, thread->tid);
      answer_process_label(totals, thread->process, two);
      break;
    }
    case BY_STEP:
      put_number(one, (int64_t)key.b);
      put_number(two, (int64_t)key.a);
      break;
    default: {
      const event_class *class = analysis_class(shared, group);
      put(one, dft_reader_text(shared->reader, DFT_NAMES, class->name));
      put(two, dft_reader_text(shared->reader, DFT_CATS, class->cat));
    }
  }
}

void answer_titles(int by, const char **one, const char **two) {
  static const char *const titles[][2] = {
    [BY_NAME] = {"name", "cat"},         [BY_FILE] = {"file", NULL},    [BY_PROCESS] = {"process", NULL},
    [BY_THREAD] = {"thread", "process"}, [BY_STEP] = {"step", "epoch"},
  };
  *one = titles[by][0];
  *two = titles[by][1];
}
