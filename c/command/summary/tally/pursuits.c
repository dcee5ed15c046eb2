/* pursuits.c - what a thread that communicates was in, moment by moment.
 * SPDX-License-Identifier: MIT */
#include "pursuits.h"

#include <stdlib.h>

/* ---- Adding ---------------------------------------------------------------------------------------------------------- */

/* A span on the stack: its start, then its length, the class, and whether it communicates, in one word. A long one is rounded
 * down, by less than 4,096 ns. */
#define LENGTH_BITS 41
#define LONG_SHIFT 12
#define QUIET_MOST 4096u

static int push(pursuit_line *line, int64_t start, int64_t end, uint32_t class_number, int is_comm) {
  uint64_t length = (uint64_t)end - (uint64_t)start;
  const uint64_t is_long = length >> LENGTH_BITS != 0;
  if (is_long) length >>= LONG_SHIFT;
  if (length >> LENGTH_BITS) return 1; /* months: nobody measured that */
  length = ((length << 1 | is_long) << 1 | (uint64_t)(is_comm != 0)) << PURSUIT_CLASS_BITS;
  return span_stack_push(&line->spans, start, (int64_t)(length | class_number));
}

int pursuit_line_add(pursuit_line *line, int64_t start, int64_t end, uint32_t class_number, int is_comm) {
  if (is_comm && !line->has_comm) {
    line->has_comm = 1;
    line->since = line->is_cut ? start : INT64_MIN;
  }
  if (!line->has_comm && (line->is_cut || ++line->quiet > QUIET_MOST)) {
    if (!line->is_cut) span_stack_free(&line->spans);
    line->is_cut = 1;
    return 1;
  }
  return push(line, start, end, class_number, is_comm);
}

void pursuit_line_free(pursuit_line *line) {
  span_stack_free(&line->spans);
  *line = (pursuit_line){0};
}

/* ---- Names ----------------------------------------------------------------------------------------------------------- */

int pursuits_add_name(pursuits *all, pursuit_name name) {
  if (!(all->count & (all->count - 1))) { /* it is full */
    pursuit_name *names = realloc(all->names, (all->count ? 2 * (size_t)all->count : 1) * sizeof *names);
    if (!names) return 0;
    all->names = names;
  }
  all->names[all->count++] = name;
  return 1;
}

/* The number of a class; 0: there are too many, or no memory. */
static uint32_t number_of(pursuits *all, uint32_t class_number, int *is_good) {
  for (uint32_t i = 0; i < all->count; i++) {
    if (all->names[i].name == class_number) return i + 1;
  }
  if (all->count == PURSUIT_NAMES_MOST) return 0;
  if (pursuits_add_name(all, (pursuit_name){class_number, 0})) return all->count;
  *is_good = 0;
  return 0;
}

void pursuits_rename(pursuits *all, const uint32_t *numbers) {
  for (uint32_t i = 0; i < all->count; i++)
    all->names[i] = (pursuit_name){numbers[all->names[i].name], numbers[all->names[i].cat]};
}

static int later_first(const void *a, const void *b) {
  const pursuit *one = a, *two = b;
  if (one->end != two->end) return one->end > two->end ? -1 : 1;
  if (one->start != two->start) return one->start > two->start ? -1 : 1;
  if (one->what != two->what) return one->what < two->what ? -1 : 1;
  return (one->ns > two->ns) - (one->ns < two->ns);
}

int pursuits_add(pursuits *all, const pursuit *one) {
  all->times.record_bytes = sizeof *one;
  all->times.compare = later_first;
  return record_pile_add(&all->times, one);
}

void pursuits_free(pursuits *all) {
  record_pile_free(&all->times);
  free(all->names);
  *all = (pursuits){0};
}

/* ---- Taking ---------------------------------------------------------------------------------------------------------- */

#define NO_CLASS UINT32_MAX /* in no event */
#define GROUP_MOST 16

typedef struct open_event {
  int64_t start;
  uint32_t class_number;
  int is_comm;
} open_event;

/* A thread on the way back, and what it did since the call of communication that comes next. */
typedef struct line_runner {
  pursuits *all;
  int64_t now, since;
  open_event *open; /* the innermost one is on top */
  uint32_t count, capacity;
  pursuit group[GROUP_MOST]; /* the later ends first; `what` is a class */
  uint32_t group_count;
  int64_t group_end;
  int is_good;
} line_runner;

static void add_pursuit(line_runner *runner, const pursuit *one) {
  pursuit numbered = *one;
  if (one->what == NO_CLASS) numbered.what = 0;
  else numbered.what = number_of(runner->all, one->what, &runner->is_good);
  if (one->what == NO_CLASS || numbered.what) runner->is_good &= pursuits_add(runner->all, &numbered);
}

static void end_group(line_runner *runner) {
  for (uint32_t i = 0; i < runner->group_count; i++) add_pursuit(runner, &runner->group[i]);
  runner->group_count = 0;
}

/* What happens again and again is one pursuit, unless the time between is long against the distance from the end: the closer
 * to the end, the more exact. What has no room is not known. */
static void add_to_group(line_runner *runner, const pursuit *piece) {
  if (!runner->group_count) runner->group_end = piece->end;
  for (uint32_t i = runner->group_count; i--;) {
    pursuit *known = &runner->group[i];
    if (known->what != piece->what) continue;
    if (known->start - piece->end > (runner->group_end - known->start) / 4) break;
    known->start = piece->start;
    known->ns += piece->ns;
    return;
  }
  if (runner->group_count < GROUP_MOST) runner->group[runner->group_count++] = *piece;
}

/* From `start` on, the thread was in what is on top. */
static void go_back(line_runner *runner, int64_t start) {
  const open_event *top = runner->count ? &runner->open[runner->count - 1] : NULL;
  const int64_t from = start > runner->since ? start : runner->since;
  const pursuit piece = {from, runner->now, (uint64_t)runner->now - (uint64_t)from, top ? top->class_number : NO_CLASS};
  if (start >= runner->now) return;
  runner->now = start;
  if (from >= piece.end) return;
  if (top && top->is_comm) {
    end_group(runner);
    add_pursuit(runner, &piece);
  } else {
    add_to_group(runner, &piece);
  }
}

static void close_until(line_runner *runner, int64_t moment) {
  while (runner->count && runner->open[runner->count - 1].start >= moment) {
    go_back(runner, runner->open[runner->count - 1].start);
    runner->count--;
  }
}

static void open_event_of(line_runner *runner, const stacked_span *span) {
  uint64_t length = (uint64_t)span->end >> (PURSUIT_CLASS_BITS + 2);
  if ((uint64_t)span->end >> (PURSUIT_CLASS_BITS + 1) & 1) length <<= LONG_SHIFT;
  const int64_t end = (int64_t)((uint64_t)span->start + length);
  const open_event event = {span->start, (uint32_t)span->end & ((1u << PURSUIT_CLASS_BITS) - 1),
                            (int)((uint64_t)span->end >> PURSUIT_CLASS_BITS & 1)};
  if (runner->now == INT64_MAX) runner->now = end;
  close_until(runner, end);
  go_back(runner, end);
  if (event.is_comm) end_group(runner);
  if (runner->count == runner->capacity) {
    const uint32_t capacity = runner->capacity ? runner->capacity * 2 : 16;
    open_event *open = realloc(runner->open, capacity * sizeof *open);
    if (!open) {
      runner->is_good = 0;
      return;
    }
    runner->open = open;
    runner->capacity = capacity;
  }
  runner->open[runner->count++] = event;
}

int pursuits_take(pursuits *all, pursuit_line *line) {
  line_runner runner = {.all = all, .now = INT64_MAX, .since = line->since, .is_good = 1};
  const stacked_span *top;
  while (runner.is_good && (runner.is_good = span_stack_top(&line->spans, &top)) && top) {
    const stacked_span span = *top;
    span_stack_pop(&line->spans);
    open_event_of(&runner, &span);
  }
  if (runner.is_good) close_until(&runner, INT64_MIN);
  end_group(&runner);
  free(runner.open);
  pursuit_line_free(line);
  return runner.is_good;
}
