/* lint_depth.c - whether levels and parents fit together (A3).
 *
 * An event is mostly written before the one around it, so what its parent must be like waits until the parent comes; levels
 * of all events are kept for those that come later. Bounded: LEVELS_MAX pages and WAITING_MAX parents; what does not fit is
 * not judged. SPDX-License-Identifier: MIT */
#include <dftracer/reader.h>
#include <stdlib.h>

#include "command/trace/numbering.h"
#include "rules.h"

#define PAGE 32768u
#define LEVELS_MAX 4096u
#define WAITING_MAX 1048576u

/* What is known of the events that name one parent. */
typedef struct child {
  uint64_t parent; /* 0: it came, and all is well */
  uint64_t line;
  int64_t start, end;
  uint32_t level;
} child;

struct depth {
  findings *findings;
  numbering pages, parents;
  uint16_t *levels[LEVELS_MAX + 1]; /* by page; 0: not seen */
  child *waiting;                   /* by number of the parent */
  uint32_t capacity;
  uint32_t came; /* of those parents */
};

depth *depth_new(findings *all) {
  depth *of = calloc(1, sizeof *of);
  if (!of) return NULL;
  of->findings = all;
  of->pages.limit = LEVELS_MAX;
  of->parents.limit = WAITING_MAX;
  return of;
}

/* NULL: there is no room. */
static uint16_t *level_of(depth *of, uint64_t id) {
  int is_new;
  uint32_t page = numbering_of(&of->pages, id / PAGE, 0, &is_new);
  if (!page) return NULL;
  if (!of->levels[page]) of->levels[page] = calloc(PAGE, sizeof *of->levels[page]);
  return of->levels[page] ? &of->levels[page][id % PAGE] : NULL;
}

/* Those whose parent came make room. */
static void make_room(depth *of) {
  numbering left = {.limit = WAITING_MAX};
  uint32_t kept = 0;
  int is_new;
  for (uint32_t i = 1; i <= of->parents.count; i++) {
    if (!of->waiting[i].parent) continue;
    if (numbering_of(&left, of->waiting[i].parent, 0, &is_new)) of->waiting[++kept] = of->waiting[i];
  }
  numbering_free(&of->parents);
  of->parents = left;
  of->came = 0;
}

/* NULL: nobody waits for this one. */
static child *waiting_for(depth *of, uint64_t parent) {
  uint32_t number = numbering_find(&of->parents, parent, 0);
  return number && of->waiting[number].parent ? &of->waiting[number] : NULL;
}

static void wait_for(depth *of, const child *one) {
  uint32_t number;
  int is_new;
  if (of->parents.count == WAITING_MAX && of->came > WAITING_MAX / 2) make_room(of);
  if (of->parents.count + 1 >= of->capacity) {
    uint32_t capacity = of->capacity ? of->capacity * 2 : 1024;
    child *more = realloc(of->waiting, capacity * sizeof *more);
    if (!more) return;
    of->waiting = more;
    of->capacity = capacity;
  }
  number = numbering_of(&of->parents, one->parent, 0, &is_new);
  if (number) of->waiting[number] = *one;
}

static void name_parent(depth *of, const child *one) {
  const uint16_t *level = level_of(of, one->parent);
  child *known;
  if (level && *level) {
    if (one->level != *level + 1u) found(of->findings, RULE_DEPTH, one->line);
    return;
  }
  known = waiting_for(of, one->parent);
  if (!known) {
    wait_for(of, one);
  } else if (known->level != one->level) {
    found(of->findings, RULE_DEPTH, one->line);
  } else {
    if (one->start < known->start) known->start = one->start;
    if (one->end > known->end) known->end = one->end;
  }
}

static void come(depth *of, uint64_t id, const child *event) {
  uint16_t *level = level_of(of, id);
  child *known = waiting_for(of, id);
  if (level) *level = event->level > UINT16_MAX ? UINT16_MAX : (uint16_t)event->level;
  if (!known) return;
  if (known->level != event->level + 1) found(of->findings, RULE_DEPTH, known->line);
  else if (known->start < event->start || known->end > event->end) found(of->findings, RULE_OUTSIDE, known->line);
  known->parent = 0;
  of->came++;
}

void depth_add(depth *of, const dft_rows *rows, uint32_t row, uint64_t line) {
  const int64_t start = rows->start_ns[row], end = start + rows->dur_ns[row];
  const int is_lane = rows->tid[row] > LANE_FIRST; /* it may outlive what is around it */
  child event = {.line = line, .start = start, .end = end, .level = rows->level[row]};
  if (!event.level) return;
  come(of, rows->id[row], &event);
  if (rows->parent[row] <= 0) return;
  event.parent = (uint64_t)rows->parent[row];
  if (is_lane) event.start = INT64_MAX;
  if (is_lane) event.end = INT64_MIN;
  name_parent(of, &event);
}

void depth_end(depth *of) {
  if (!of) return;
  for (uint32_t i = 1; i <= of->parents.count; i++) {
    if (of->waiting[i].parent) found(of->findings, RULE_ORPHAN, of->waiting[i].line);
  }
  for (uint32_t i = 0; i <= LEVELS_MAX; i++) free(of->levels[i]);
  free(of->waiting);
  numbering_free(&of->pages);
  numbering_free(&of->parents);
  free(of);
}
