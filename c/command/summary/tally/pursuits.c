/* pursuits.c - what a thread that communicates was in, moment by moment.
 * SPDX-License-Identifier: MIT */
#include "pursuits.h"

#include <stdlib.h>
#include <string.h>

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
  if (start < -ARRIVAL_TIME_MOST || end > ARRIVAL_TIME_MOST) return 1;
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

static void begin_times(pursuits *all) {
  all->times.record_bytes = sizeof(pursuit);
  all->times.compare = later_first;
}

int pursuits_add(pursuits *all, const pursuit *one) {
  begin_times(all);
  return record_pile_add(&all->times, one);
}

void pursuits_free(pursuits *all) {
  record_pile_free(&all->times);
  free(all->names);
  *all = (pursuits){0};
}

/* ---- Taking ---------------------------------------------------------------------------------------------------------- */

#define GROUP_MOST 16
#define IN_NO_EVENT 0u
#define UNNAMED UINT32_MAX /* there are too many names */

typedef struct open_event {
  int64_t start;
  uint32_t what; /* number of a name */
  int is_comm;
} open_event;

/* A thread on the way back, and what it did since the call of communication that comes next. */
typedef struct line_runner {
  pursuits *all;
  uint32_t *numbers, classes; /* of names, by class: 0: it has none yet */
  int64_t now, since;
  open_event *open; /* the innermost one is on top; the lowest is no event, and lasts forever */
  uint32_t count, capacity;
  pursuit group[GROUP_MOST]; /* the later ends first */
  uint32_t group_count;
  uint64_t grouped; /* how many were in the groups before */
  int64_t group_end;
  uint64_t latest[PURSUIT_NAMES_MOST + 1]; /* by number of a name: how many were in groups with it, when it was added */
  int is_good;
} line_runner;

/* The number of a class that has none yet. */
__attribute__((noinline)) static uint32_t new_number(line_runner *runner, uint32_t class_number) {
  if (runner->all->count == PURSUIT_NAMES_MOST) return UNNAMED;
  if (class_number >= runner->classes) {
    const uint32_t classes = 2 * class_number + 16;
    uint32_t *numbers = realloc(runner->numbers, classes * sizeof *numbers);
    if (!numbers) {
      runner->is_good = 0;
      return UNNAMED;
    }
    memset(numbers + runner->classes, 0, (classes - runner->classes) * sizeof *numbers);
    runner->numbers = numbers;
    runner->classes = classes;
  }
  runner->is_good &= pursuits_add_name(runner->all, (pursuit_name){class_number, 0});
  return runner->numbers[class_number] = runner->all->count;
}

static inline uint32_t number_of(line_runner *runner, uint32_t class_number) {
  const uint32_t number = class_number < runner->classes ? runner->numbers[class_number] : 0;
  return number ? number : new_number(runner, class_number);
}

/* Every one ends before all that were added. */
static inline void add_pursuit(line_runner *runner, const pursuit *one) {
  pursuit *last = record_pile_append(&runner->all->times, sizeof *last);
  if (last) *last = *one;
  runner->is_good &= last != NULL;
}

static void end_group(line_runner *runner) {
  for (uint32_t i = 0; i < runner->group_count; i++) add_pursuit(runner, &runner->group[i]);
  runner->grouped += runner->group_count;
  runner->group_count = 0;
}

/* What happens again and again is one pursuit, unless the time between is long against the distance from the end: the closer
 * to the end, the more exact. What has no room is not known. */
static inline void add_to_group(line_runner *runner, int64_t start, int64_t end, uint32_t what) {
  const uint64_t ns = (uint64_t)end - (uint64_t)start;
  uint64_t *latest;
  if (what == UNNAMED) return;
  if (!runner->group_count) runner->group_end = end;
  latest = &runner->latest[what];
  if (*latest > runner->grouped) {
    pursuit *known = &runner->group[*latest - runner->grouped - 1];
    if (known->start - end <= (runner->group_end - known->start) / 4) {
      known->start = start;
      known->ns += ns;
      return;
    }
  }
  if (runner->group_count == GROUP_MOST) return;
  runner->group[runner->group_count++] = (pursuit){start, end, ns, what};
  *latest = runner->grouped + runner->group_count;
}

/* From `start` on, the thread was in what is on top. */
static inline void go_back(line_runner *runner, int64_t start) {
  const open_event *top = &runner->open[runner->count - 1];
  const int64_t end = runner->now;
  if (start >= end) return;
  runner->now = start;
  if (start < runner->since) start = runner->since;
  if (start >= end) return;
  if (!top->is_comm) {
    add_to_group(runner, start, end, top->what);
    return;
  }
  end_group(runner);
  if (top->what == UNNAMED) return;
  add_pursuit(runner, &(pursuit){start, end, (uint64_t)end - (uint64_t)start, top->what});
}

static inline void close_until(line_runner *runner, int64_t moment) {
  while (runner->count > 1 && runner->open[runner->count - 1].start >= moment) {
    go_back(runner, runner->open[runner->count - 1].start);
    runner->count--;
  }
}

static int push_open(line_runner *runner, open_event event) {
  if (runner->count == runner->capacity) {
    const uint32_t capacity = runner->capacity ? runner->capacity * 2 : 16;
    open_event *open = realloc(runner->open, capacity * sizeof *open);
    if (!open) return runner->is_good = 0;
    runner->open = open;
    runner->capacity = capacity;
  }
  runner->open[runner->count++] = event;
  return 1;
}

static inline void open_span(line_runner *runner, const stacked_span *span) {
  const uint64_t packed = (uint64_t)span->end;
  const uint64_t length = packed >> (PURSUIT_CLASS_BITS + 2)
                                      << (packed >> (PURSUIT_CLASS_BITS + 1) & 1 ? LONG_SHIFT : 0);
  const int64_t end = (int64_t)((uint64_t)span->start + length);
  const open_event event = {span->start, number_of(runner, packed & ((1u << PURSUIT_CLASS_BITS) - 1)),
                            packed >> PURSUIT_CLASS_BITS & 1};
  if (runner->now == INT64_MAX) runner->now = end;
  close_until(runner, end);
  go_back(runner, end);
  if (event.is_comm) end_group(runner);
  push_open(runner, event);
}

int pursuits_take(pursuits *all, pursuit_line *line) {
  line_runner runner = {.all = all, .now = INT64_MAX, .since = line->since, .is_good = 1};
  const stacked_span *top;
  begin_times(all);
  push_open(&runner, (open_event){INT64_MIN, IN_NO_EVENT, 0});
  while (runner.is_good && (runner.is_good = span_stack_top(&line->spans, &top)) && top) {
    const stacked_span span = *top;
    span_stack_pop(&line->spans);
    open_span(&runner, &span);
  }
  if (runner.is_good) close_until(&runner, INT64_MIN);
  end_group(&runner);
  free(runner.open);
  free(runner.numbers);
  pursuit_line_free(line);
  return runner.is_good;
}
