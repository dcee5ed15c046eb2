/* naturalsort.c - sorts records that consist of few sorted runs.
 * SPDX-License-Identifier: MIT */
#include "naturalsort.h"

#include <stdlib.h>
#include <string.h>

/* Where the sorted run ends that begins at `at`. */
static const char *run_end(const char *at, const char *end, size_t bytes, record_compare *compare) {
  if (at < end) at += bytes;
  while (at < end && compare(at - bytes, at) <= 0) at += bytes;
  return at;
}

/* Merges each pair of neighbouring runs. Returns the number of runs that are left. */
static uint32_t merge_pairs(const char *from, const char *end, char *to, size_t bytes, record_compare *compare) {
  uint32_t runs = 0;
  for (const char *left = from; left < end; runs++) {
    const char *left_end = run_end(left, end, bytes, compare), *right = left_end;
    const char *right_end = run_end(right, end, bytes, compare);
    while (left < left_end && right < right_end) {
      const char **first = compare(left, right) <= 0 ? &left : &right;
      memcpy(to, *first, bytes);
      *first += bytes;
      to += bytes;
    }
    if (left < left_end) memcpy(to, left, (size_t)(left_end - left));
    to += left_end - left;
    if (right < right_end) memcpy(to, right, (size_t)(right_end - right));
    to += right_end - right;
    left = right_end;
  }
  return runs;
}

int natural_sort(void *records, uint32_t count, size_t record_bytes, record_compare *compare) {
  const size_t bytes = count * record_bytes;
  char *from = records, *spare, *to;
  uint32_t runs;
  if (!count || run_end(from, from + bytes, record_bytes, compare) == from + bytes) return 1;
  spare = to = malloc(bytes);
  if (!spare) return 0;
  do {
    char *other = from;
    runs = merge_pairs(from, from + bytes, to, record_bytes, compare);
    from = to;
    to = other;
  } while (runs > 1);
  if (from != records) memcpy(records, from, bytes);
  free(spare);
  return 1;
}
