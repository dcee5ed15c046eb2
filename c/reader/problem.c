/* problem.c - what was wrong with the traces, counted and located.
 * SPDX-License-Identifier: MIT */
#include "problem.h"

#include <stdlib.h>

#define PROBLEMS_KEPT 1000u /* of a source */
#define DETAIL_BYTES 80u

const char *dft_problem_text(uint32_t kind) {
  switch (kind) {
#define TEXT(name, value, text) \
  case name: return text;
    DFT_PROBLEM_LIST(TEXT)
#undef TEXT
    default: return "an unknown problem";
  }
}

static char *copy_detail(const char *detail, size_t len) {
  char *copy;
  if (!detail) return NULL;
  copy = malloc(len + 1);
  if (!copy) return NULL;
  memcpy(copy, detail, len);
  copy[len] = '\0';
  return copy;
}

static void keep(dft__problem_entry **list, uint32_t *count, const dft__problem_entry *problem, const char *detail,
                 size_t len) {
  if (*count >= PROBLEMS_KEPT) return;
  if ((*count & (*count - 1)) == 0) { /* room for 1, 2, 4, 8 ... */
    dft__problem_entry *more = realloc(*list, (*count ? *count * 2 : 1) * sizeof *more);
    if (!more) return;
    *list = more;
  }
  (*list)[*count] = *problem;
  (*list)[*count].detail = copy_detail(detail, len);
  ++*count;
}

void dft__problem_add(dft_reader *reader, uint32_t source, const dft__problem_entry *problem, const char *detail,
                      size_t len) {
  reader->problem_counts[problem->kind]++;
  if (source == DFT_ALL) {
    keep(&reader->path_problems, &reader->path_problem_count, problem, detail, len);
    return;
  }
  if (len > DETAIL_BYTES) len = DETAIL_BYTES;
  reader->sources[source].problem_count++;
  keep(&reader->sources[source].problems, &reader->sources[source].problems_kept, problem, detail, len);
}

void dft__problem_drop(dft_reader *reader, uint32_t index, uint64_t from, uint64_t to) {
  dft__source_state *source = &reader->sources[index];
  uint32_t kept = 0;
  for (uint32_t i = 0; i < source->problems_kept; i++) {
    dft__problem_entry *problem = &source->problems[i];
    if (problem->byte > from && problem->byte < to && problem->kind != DFT_PROBLEM_LINE) {
      reader->problem_counts[problem->kind]--;
      source->problem_count--;
      free(problem->detail);
    } else {
      source->problems[kept++] = *problem;
    }
  }
  source->problems_kept = kept;
}

void dft__problem_note_lines(dft__source_state *source, uint64_t unit, uint64_t lines) {
  if (unit >= source->unit_lines_capacity) {
    uint64_t capacity = (unit + 1) * 2;
    uint64_t *more = realloc(source->unit_lines, capacity * sizeof *more);
    if (!more) return;
    memset(more + source->unit_lines_capacity, 0, (capacity - source->unit_lines_capacity) * sizeof *more);
    source->unit_lines = more;
    source->unit_lines_capacity = capacity;
  }
  source->unit_lines[unit] = lines;
}

/* ---- Questions ------------------------------------------------------------------------------------------------------ */

uint64_t dft_reader_problem_count(dft_reader *reader, uint32_t kind) {
  uint64_t count = 0;
  pthread_mutex_lock(&reader->lock);
  reader->problem_counts[DFT_PROBLEM_TEXT_BYTES] = atomic_load(&reader->arena.refused) != 0;
  for (uint32_t i = 1; i < DFT_PROBLEM_KINDS; i++) {
    if (!kind || kind == i) count += reader->problem_counts[i];
  }
  pthread_mutex_unlock(&reader->lock);
  return count;
}

static int by_place(const void *a, const void *b) {
  const dft__problem_entry *one = a, *two = b;
  if (one->byte != two->byte) return one->byte < two->byte ? -1 : 1;
  if (one->unit != two->unit) return one->unit < two->unit ? -1 : 1;
  return (one->line_in_unit > two->line_in_unit) - (one->line_in_unit < two->line_in_unit);
}

static uint64_t line_of(const dft__source_state *source, const dft__problem_entry *problem) {
  uint64_t line = problem->line_in_unit + 1;
  if (problem->line_in_unit == UINT64_MAX) return 0;
  for (uint64_t unit = 0; unit < problem->unit; unit++) {
    if (unit >= source->unit_lines_capacity) return 0;
    line += source->unit_lines[unit];
  }
  return line;
}

static void describe(const dft__source_state *source, uint32_t index, const dft__problem_entry *entry,
                     dft_problem *problem) {
  dft_problem all = {.struct_size = problem->struct_size,
                     .kind = entry->kind,
                     .source = index,
                     .byte = entry->byte,
                     .line = source ? line_of(source, entry) : 0,
                     .error = entry->error,
                     .message = dft_problem_text(entry->kind),
                     .detail = entry->detail ? entry->detail : ""};
  memcpy(problem, &all, problem->struct_size < sizeof all ? problem->struct_size : sizeof all);
}

dft_status dft_reader_problem(dft_reader *reader, uint32_t index, dft_problem *problem) {
  dft_status status = DFT_EINVAL;
  pthread_mutex_lock(&reader->lock);
  if (index < reader->path_problem_count) {
    describe(NULL, DFT_ALL, &reader->path_problems[index], problem);
    status = DFT_OK;
  } else {
    index -= reader->path_problem_count;
    for (uint32_t i = 0; status != DFT_OK && i < reader->source_count; i++) {
      dft__source_state *source = &reader->sources[i];
      if (index >= source->problems_kept) {
        index -= source->problems_kept;
        continue;
      }
      qsort(source->problems, source->problems_kept, sizeof *source->problems, by_place);
      describe(source, i, &source->problems[index], problem);
      status = DFT_OK;
    }
    if (status != DFT_OK && index == 0 && atomic_load(&reader->arena.refused)) {
      describe(NULL, DFT_ALL, &(dft__problem_entry){.kind = DFT_PROBLEM_TEXT_BYTES}, problem);
      status = DFT_OK;
    }
  }
  pthread_mutex_unlock(&reader->lock);
  return status;
}
