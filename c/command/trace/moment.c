/* moment.c - the order in which events are accounted.
 * SPDX-License-Identifier: MIT */
#include "moment.h"

#include <stdlib.h>
#include <string.h>

int moment_compare(const void *one, const void *two) {
  const moment *a = one, *b = two;
  if (a->thread != b->thread) return a->thread < b->thread ? -1 : 1;
  if (a->end != b->end) return a->end < b->end ? -1 : 1;
  if (a->start != b->start) return a->start > b->start ? -1 : 1;
  return (int)b->level - (int)a->level;
}

/* The end of the sorted run that begins at `start`. */
static uint32_t run_end(const moment *moments, uint32_t start, uint32_t count) {
  uint32_t end = start + (start < count);
  while (end < count && moment_compare(&moments[end - 1], &moments[end]) <= 0) end++;
  return end;
}

/* Merges each pair of neighbouring runs. Returns the number of runs that are left. */
static uint32_t merge_runs(const moment *from, moment *to, uint32_t count) {
  uint32_t runs = 0, out = 0;
  for (uint32_t left = 0, right_end; left < count; left = right_end, runs++) {
    uint32_t left_end = run_end(from, left, count), right = left_end;
    right_end = run_end(from, right, count);
    while (left < left_end && right < right_end)
      to[out++] = moment_compare(&from[left], &from[right]) <= 0 ? from[left++] : from[right++];
    while (left < left_end) to[out++] = from[left++];
    while (right < right_end) to[out++] = from[right++];
  }
  return runs;
}

/* Merge sort keeps the order of equal elements. The window is nearly sorted, so the runs are long. */
int moments_sort(moment *moments, uint32_t count) {
  moment *spare = malloc(count * sizeof *spare);
  moment *from = moments, *to = spare;
  uint32_t runs;
  if (!spare) return 0;
  do {
    moment *other = from;
    runs = merge_runs(from, to, count);
    from = to;
    to = other;
  } while (runs > 1);
  if (from != moments) memcpy(moments, from, count * sizeof *moments);
  free(spare);
  return 1;
}
