/* answer.c - the results of a job as lists in a sensible order.
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

answer_group *answer_groups(const job *of, uint32_t *count) {
  answer_group *list = calloc(of->all.group_capacity + 1, sizeof *list);
  *count = 0;
  for (uint32_t i = 0; list && i < of->all.group_capacity; i++) {
    if (!of->all.groups_seen[i].durations.count) continue;
    list[(*count)++] = (answer_group){i, &of->all.groups_seen[i]};
  }
  if (list) qsort(list, *count, sizeof *list, by_self);
  return list;
}

/* ---- I/O ------------------------------------------------------------------------------------------------------------ */

static uint64_t io_time(const io_stats *of) {
  return of->read_ns + of->write_ns + of->other_ns;
}

static int by_io_time(const void *a, const void *b) {
  const answer_io *one = a, *two = b;
  if (io_time(one->stats) != io_time(two->stats)) return io_time(one->stats) > io_time(two->stats) ? -1 : 1;
  return (one->number > two->number) - (one->number < two->number);
}

answer_io *answer_files(const job *of, uint32_t *count) {
  answer_io *list = calloc(of->all.file_capacity + 1, sizeof *list);
  *count = 0;
  for (uint32_t i = 0; list && i < of->all.file_capacity; i++) {
    const io_stats *stats = &of->all.files[i];
    if (stats->reads || stats->writes || stats->others) list[(*count)++] = (answer_io){i, stats};
  }
  if (list) qsort(list, *count, sizeof *list, by_io_time);
  return list;
}

answer_io *answer_processes(job *of, uint32_t *count) {
  answer_io *list = calloc(of->process_numbers.count + 1, sizeof *list);
  *count = 0;
  for (uint32_t i = 1; list && i <= of->process_numbers.count; i++) {
    const io_stats *stats = &job_process(of, i)->io;
    if (stats->reads || stats->writes || stats->others) list[(*count)++] = (answer_io){i, stats};
  }
  if (list) qsort(list, *count, sizeof *list, by_io_time);
  return list;
}

uint32_t answer_process_count(job *of) {
  uint32_t count = 0;
  for (uint32_t i = 1; i <= of->process_numbers.count; i++) count += job_process(of, i)->threads != 0;
  return count;
}

io_stats answer_all_io(job *of) {
  io_stats all = {0};
  for (uint32_t i = 1; i <= of->process_numbers.count; i++) io_merge(&all, &job_process(of, i)->io);
  return all;
}

/* ---- Time ----------------------------------------------------------------------------------------------------------- */

typedef struct lifetime {
  int64_t first, last;
} lifetime;

static int by_first(const void *a, const void *b) {
  const lifetime *one = a, *two = b;
  return (one->first > two->first) - (one->first < two->first);
}

uint64_t answer_pause_ns(job *of) {
  lifetime *list = calloc(of->thread_numbers.count + 1, sizeof *list);
  uint32_t count = 0;
  int64_t end, longest = 0;
  for (uint32_t i = 1; list && i <= of->thread_numbers.count; i++) {
    const coverage *time = &job_thread(of, i)->time;
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

static void put(char out[LABEL_BYTES], dft_text text) {
  size_t len = text.len < LABEL_BYTES ? text.len : LABEL_BYTES - 1;
  while (len < text.len && len > 0 && ((unsigned char)text.text[len] & 0xc0) == 0x80) len--;
  memcpy(out, text.text, len);
  out[len] = '\0';
}

dft_text answer_file(job *of, uint32_t file) {
  if (!file) return (dft_text){"(no file)", 9};
  return dft_reader_text(of->reader, DFT_FILES, file);
}

void answer_process_label(job *of, uint32_t number, char label[LABEL_BYTES]) {
  const process *one = job_process(of, number);
  dft_text host = dft_reader_text(of->reader, DFT_HOSTS, one->host);
  int len = snprintf(label, LABEL_BYTES, "%.*s%s%" PRIu64, host.len > 200 ? 200 : (int)host.len, host.text,
                     host.len ? ":" : "", one->pid);
  if (one->rank != NO_NUMBER) snprintf(label + len, LABEL_BYTES - (size_t)len, " rank %" PRId64, one->rank);
}

static void put_number(char out[LABEL_BYTES], uint64_t number) {
  if ((int64_t)number == NO_NUMBER) out[0] = '\0';
  else snprintf(out, LABEL_BYTES, "%" PRId64, (int64_t)number);
}

void answer_label(job *of, uint32_t number, char one[LABEL_BYTES], char two[LABEL_BYTES]) {
  numbered key = {0, 0};
  int is_new;
  one[0] = two[0] = '\0';
  if (!number) {
    put(one, (dft_text){"(others)", 8});
    return;
  }
  if (of->question->by != BY_NAME) key = of->group_numbers.keys[number];
  switch (of->question->by) {
    case BY_FILE: put(one, answer_file(of, (uint32_t)key.a)); break;
    case BY_PROCESS: answer_process_label(of, numbering_of(&of->process_numbers, key.a, key.b, &is_new), one); break;
    case BY_THREAD:
      snprintf(one, LABEL_BYTES, "%" PRIu64, job_thread(of, (uint32_t)key.a)->tid);
      answer_process_label(of, job_thread(of, (uint32_t)key.a)->process, two);
      break;
    case BY_STEP:
      put_number(one, key.b);
      put_number(two, key.a);
      break;
    default:
      put(one, dft_reader_text(of->reader, DFT_NAMES, job_site(of, number)->name));
      put(two, dft_reader_text(of->reader, DFT_CATS, job_site(of, number)->cat));
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
