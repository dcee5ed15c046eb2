/* lint_depth.c - whether levels and parents fit together.
 *
 * Most events are written before the event around them, so what a parent must be like is kept until the parent comes. The
 * levels of all events are kept for children that come later. Memory is bounded by PAGES_MAX pages of levels and by
 * WAITING_MAX parents; what does not fit is not checked. SPDX-License-Identifier: MIT */
#include "lint_depth.h"

#include <stdlib.h>

#include "command/trace/numbering.h"

#define PAGE 32768u /* events */
#define PAGES_MAX 4096u
#define WAITING_MAX 1048576u

/* The children of one parent: the line of the first, the time of all, and their level. */
typedef struct child {
  uint64_t parent; /* 0: the parent came */
  uint64_t line;
  int64_t start, end;
  uint32_t level;
} child;

struct depth_check {
  findings *found;
  numbering pages, parents;
  uint16_t *levels[PAGES_MAX + 1]; /* by page; 0: not seen */
  child *waiting;                  /* by number of the parent */
  uint32_t capacity;
  uint32_t came; /* parents that are numbered and came */
};

depth_check *depth_check_new(findings *found) {
  depth_check *check = calloc(1, sizeof *check);
  if (!check) return NULL;
  check->found = found;
  check->pages.limit = PAGES_MAX;
  check->parents.limit = WAITING_MAX;
  return check;
}

/* NULL: there is no room for its page. */
static uint16_t *level_of(depth_check *check, uint64_t id) {
  int is_new;
  uint32_t page = numbering_of(&check->pages, id / PAGE, 0, &is_new);
  if (!page) return NULL;
  if (!check->levels[page]) check->levels[page] = calloc(PAGE, sizeof *check->levels[page]);
  return check->levels[page] ? &check->levels[page][id % PAGE] : NULL;
}

/* Forgets the parents that came. */
static void make_room(depth_check *check) {
  numbering left = {.limit = WAITING_MAX};
  uint32_t kept = 0;
  int is_new;
  for (uint32_t i = 1; i <= check->parents.count; i++) {
    if (!check->waiting[i].parent) continue;
    if (numbering_of(&left, check->waiting[i].parent, 0, &is_new)) check->waiting[++kept] = check->waiting[i];
  }
  numbering_free(&check->parents);
  check->parents = left;
  check->came = 0;
}

/* NULL: no child waits for this parent. */
static child *waiting_for(depth_check *check, uint64_t parent) {
  uint32_t number = numbering_find(&check->parents, parent, 0);
  return number && check->waiting[number].parent ? &check->waiting[number] : NULL;
}

static void wait_for(depth_check *check, const child *one) {
  uint32_t number;
  int is_new;
  if (check->parents.count == WAITING_MAX && check->came > WAITING_MAX / 2) make_room(check);
  if (check->parents.count + 1 >= check->capacity) {
    uint32_t capacity = check->capacity ? check->capacity * 2 : 1024;
    child *more = realloc(check->waiting, capacity * sizeof *more);
    if (!more) return;
    check->waiting = more;
    check->capacity = capacity;
  }
  number = numbering_of(&check->parents, one->parent, 0, &is_new);
  if (number) check->waiting[number] = *one;
}

static void check_parent(depth_check *check, const child *one) {
  const uint16_t *level = level_of(check, one->parent);
  child *known;
  if (level && *level) {
    if (one->level != *level + 1u) findings_add(check->found, RULE_DEPTH, one->line);
    return;
  }
  known = waiting_for(check, one->parent);
  if (!known) {
    wait_for(check, one);
  } else if (known->level != one->level) {
    findings_add(check->found, RULE_DEPTH, one->line);
  } else {
    if (one->start < known->start) known->start = one->start;
    if (one->end > known->end) known->end = one->end;
  }
}

static void check_children(depth_check *check, uint64_t id, const child *event) {
  uint16_t *level = level_of(check, id);
  child *known = waiting_for(check, id);
  if (level) *level = event->level > UINT16_MAX ? UINT16_MAX : (uint16_t)event->level;
  if (!known) return;
  if (known->level != event->level + 1) findings_add(check->found, RULE_DEPTH, known->line);
  else if (known->start < event->start || known->end > event->end)
    findings_add(check->found, RULE_OUTSIDE, known->line);
  known->parent = 0;
  check->came++;
}

void depth_check_add(depth_check *check, const dft_rows *rows, uint32_t row, uint64_t line) {
  const int64_t start = rows->start_ns[row], end = start + rows->dur_ns[row];
  const int is_lane = rows->tid[row] > LANE_FIRST; /* its events may outlive the event around them */
  child event = {.line = line, .start = start, .end = end, .level = rows->level[row]};
  if (!event.level) return;
  check_children(check, rows->id[row], &event);
  if (rows->parent[row] <= 0) return;
  event.parent = (uint64_t)rows->parent[row];
  if (is_lane) event.start = INT64_MAX;
  if (is_lane) event.end = INT64_MIN;
  check_parent(check, &event);
}

void depth_check_end(depth_check *check) {
  if (!check) return;
  for (uint32_t i = 1; i <= check->parents.count; i++) {
    if (check->waiting[i].parent) findings_add(check->found, RULE_ORPHAN, check->waiting[i].line);
  }
  for (uint32_t i = 0; i <= PAGES_MAX; i++) free(check->levels[i]);
  free(check->waiting);
  numbering_free(&check->pages);
  numbering_free(&check->parents);
  free(check);
}
