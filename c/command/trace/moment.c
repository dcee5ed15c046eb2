/* moment.c - the order in which events are accounted.
 * SPDX-License-Identifier: MIT */
#include "moment.h"

#include "naturalsort.h"

int moment_compare(const void *one, const void *two) {
  const moment *a = one, *b = two;
  if (a->thread != b->thread) return a->thread < b->thread ? -1 : 1;
  if (a->end != b->end) return a->end < b->end ? -1 : 1;
  if (a->start != b->start) return a->start > b->start ? -1 : 1;
  return (int)b->level - (int)a->level;
}

int moments_sort(moment *moments, uint32_t count) {
  return natural_sort(moments, count, sizeof *moments, moment_compare);
}
