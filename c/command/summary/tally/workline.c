/* workline.c - what threads were in, moment by moment.
 * SPDX-License-Identifier: MIT */
#include "workline.h"

#include <stdlib.h>

/* ---- Adding ---------------------------------------------------------------------------------------------------------- */

/* A span on the stack: its start, then its length and its class in one word. */
#define CLASS_BITS 5
#define LENGTH_MOST (INT64_MAX >> CLASS_BITS)

static int64_t length_of(const stacked_span *span) {
  return span->end >> CLASS_BITS;
}

static uint32_t class_of(const stacked_span *span) {
  return (uint32_t)(span->end & ((1 << CLASS_BITS) - 1));
}

/* By class of a span: the classes that make no difference inside it. Calls are reported whatever encloses them. */
#define FROM(class) (~0u << (class))
#define CALLS (FROM(WORK_WRITE) & ~FROM(WORK_COMPUTE))
static const uint32_t hidden[WORK_CLASSES] = {
  [WORK_CHECKPOINT] = FROM(WORK_CHECKPOINT) & ~CALLS,
  [WORK_COMM] = FROM(WORK_COMM) & ~CALLS,
  [WORK_FETCH] = 1u << WORK_FETCH | FROM(WORK_OTHER), /* what else there is counts where it computes as well */
  [WORK_DEVICE] = 1u << WORK_DEVICE | FROM(WORK_OTHER),
  [WORK_COMPUTE] = FROM(WORK_COMPUTE),
  [WORK_OTHER] = FROM(WORK_OTHER),
  [WORK_DATA] = FROM(WORK_DATA),
};

int work_line_add(work_line *line, int64_t start, int64_t end, uint32_t class) {
  const stacked_span *top;
  line->classes |= 1u << class;
  while (end - start > LENGTH_MOST) { /* of a time that nobody measured */
    if (!span_stack_push(&line->spans, start, LENGTH_MOST << CLASS_BITS | class)) return 0;
    start += LENGTH_MOST;
  }
  for (;;) {
    if (!span_stack_top(&line->spans, &top)) return 0;
    if (!top || top->start < start || !(hidden[class] >> class_of(top) & 1)) break;
    span_stack_pop(&line->spans);
  }
  return end == start || span_stack_push(&line->spans, start, (end - start) << CLASS_BITS | class);
}

/* ---- One thread ----------------------------------------------------------------------------------------------------- */

/* A span that covers the moment at hand. */
typedef struct open_span {
  int64_t start;
  uint32_t class;
} open_span;

/* A thread on the way back. */
typedef struct work_runner {
  int64_t next; /* the moment when something changes; INT64_MIN: nothing will */
  work_line *line;
  stacked_span span; /* the one that comes next */
  int64_t span_end;  /* INT64_MIN: there is none */
  open_span *open;   /* the one that starts last is on top */
  uint32_t count, capacity;
  uint32_t classes; /* a bit for each class that is open */
  uint32_t counted; /* a bit for each class that counts */
  uint32_t state;   /* the class that counts: a line_class; NO_STATE: none */
  uint32_t of_class[WORK_CLASSES];
} work_runner;

/* What a thread is in, as part of its process: a time_class, or loading, which comes after all others. */
#define LINE_DATA ((uint32_t)TIME_OUTSIDE)
#define NO_STATE (LINE_DATA + 1)
static const uint8_t line_class[WORK_CLASSES] = {
  [WORK_CHECKPOINT] = TIME_CHECKPOINT,
  [WORK_COMM] = TIME_COMM,
  [WORK_FETCH] = TIME_INPUT,
  [WORK_DEVICE] = TIME_TRANSFER,
  [WORK_REGION_WRITE] = TIME_WRITE,
  [WORK_REGION_READ] = TIME_READ,
  [WORK_REGION_META] = TIME_META,
  [WORK_WRITE] = TIME_WRITE,
  [WORK_COPY] = TIME_WRITE,
  [WORK_READ] = TIME_READ,
  [WORK_META] = TIME_META,
  [WORK_COMPUTE] = TIME_COMPUTE,
  [WORK_OTHER] = TIME_COMPUTE,
  [WORK_DATA] = LINE_DATA,
};

/* Which one counts, of those that a thread is in at one moment. */
static uint32_t state_of(uint32_t classes) {
  if (classes & 1u << WORK_COMPUTE) classes &= ~(1u << WORK_FETCH);
  return classes ? line_class[__builtin_ctz(classes)] : NO_STATE;
}

static void set_next(work_runner *runner) {
  const int64_t closes = runner->count ? runner->open[runner->count - 1].start : INT64_MIN;
  runner->next = runner->span_end > closes ? runner->span_end : closes;
}

/* Takes the next span out of the line. */
static int take_span(work_runner *runner) {
  const stacked_span *top;
  if (!span_stack_top(&runner->line->spans, &top)) return 0;
  runner->span_end = INT64_MIN;
  if (!top) return 1;
  runner->span = *top;
  runner->span_end = top->start + length_of(top);
  span_stack_pop(&runner->line->spans);
  return 1;
}

static int open_next(work_runner *runner) {
  const open_span span = {runner->span.start, class_of(&runner->span)};
  uint32_t at = runner->count;
  if (runner->count == runner->capacity) {
    uint32_t capacity = runner->capacity ? runner->capacity * 2 : 16;
    open_span *open = realloc(runner->open, capacity * sizeof *open);
    if (!open) return 0;
    runner->open = open;
    runner->capacity = capacity;
  }
  for (; at && runner->open[at - 1].start > span.start; at--) runner->open[at] = runner->open[at - 1];
  runner->open[at] = span;
  runner->count++;
  runner->of_class[span.class]++;
  runner->classes |= 1u << span.class;
  return take_span(runner);
}

static uint32_t close_last(work_runner *runner) {
  const uint32_t class = runner->open[--runner->count].class;
  if (!--runner->of_class[class]) runner->classes &= ~(1u << class);
  return class;
}

/* ---- All threads ---------------------------------------------------------------------------------------------------- */

typedef struct work_crew {
  work_runner **heap; /* the first one has the latest moment */
  uint32_t count;
  uint32_t of_state[NO_STATE + 1], states; /* how many threads are in it; a bit for each that is not 0, but NO_STATE */
  int64_t since;                           /* the process is in the first of these states from here on, back */
  uint32_t calls[GRAIN_KINDS];             /* that are open */
  int64_t calls_end[GRAIN_KINDS];          /* when they ended, if there are any */
  const work_listener *listener;
} work_crew;

/* What calls are: a bit for each grain_kind. */
static const uint8_t call_kinds[WORK_CLASSES] = {[WORK_READ] = 1 << GRAIN_READ,
                                                 [WORK_WRITE] = 1 << GRAIN_WRITE,
                                                 [WORK_COPY] = 1 << GRAIN_READ | 1 << GRAIN_WRITE,
                                                 [WORK_META] = 1 << GRAIN_META};

static int change_calls(work_crew *crew, uint32_t kinds, int64_t now, int is_open) {
  for (int kind = 0; kind < GRAIN_KINDS; kind++) {
    if (!(kinds >> kind & 1)) continue;
    if (is_open && !crew->calls[kind]++) crew->calls_end[kind] = now;
    if (!is_open && !--crew->calls[kind] &&
        !crew->listener->calls(crew->listener->context, (enum grain_kind)kind, now, crew->calls_end[kind]))
      return 0;
  }
  return 1;
}

/* Closes or opens one span. 0: no memory, or the spill cannot be read. */
static int step_back(work_crew *crew, work_runner *runner) {
  const int64_t now = runner->next;
  const int is_open = runner->span_end == now;
  const uint32_t class = is_open ? class_of(&runner->span) : close_last(runner);
  if (is_open && !open_next(runner)) return 0;
  set_next(runner);
  return !call_kinds[class] || change_calls(crew, call_kinds[class], now, is_open);
}

static void sift_down(work_crew *crew, uint32_t at) {
  work_runner *moved = crew->heap[at];
  uint32_t child;
  while ((child = 2 * at + 1) < crew->count) {
    if (child + 1 < crew->count && crew->heap[child + 1]->next > crew->heap[child]->next) child++;
    if (crew->heap[child]->next <= moved->next) break;
    crew->heap[at] = crew->heap[child];
    at = child;
  }
  crew->heap[at] = moved;
}

/* A thread changes its state: the time since the process did is reported, if the process changes, too. */
static void change_state(work_crew *crew, work_runner *runner, int64_t now) {
  const uint32_t state = state_of(runner->classes & runner->counted), before = crew->states;
  if (state == runner->state) return;
  if (!--crew->of_state[runner->state]) crew->states &= ~(1u << runner->state);
  if (!crew->of_state[state]++ && state != NO_STATE) crew->states |= 1u << state;
  runner->state = state;
  if (before == crew->states || (before & -before) == (crew->states & -crew->states)) return;
  if (before && now < crew->since) {
    const uint32_t first = (uint32_t)__builtin_ctz(before);
    crew->listener->state(crew->listener->context, now, crew->since,
                          first == LINE_DATA ? TIME_COMPUTE : (enum time_class)first);
  }
  crew->since = now;
}

static int run_back(work_crew *crew) {
  for (uint32_t i = crew->count; i-- > 0;) sift_down(crew, i);
  while (crew->count && crew->heap[0]->next > INT64_MIN) {
    work_runner *runner = crew->heap[0];
    const int64_t now = runner->next;
    while (runner->next == now) {
      if (!step_back(crew, runner)) return 0;
    }
    change_state(crew, runner, now);
    sift_down(crew, 0);
  }
  return 1;
}

/* The classes that count. */
static uint32_t counted_of(const work_line *line, int is_trainer) {
  const uint32_t training = 1u << WORK_COMPUTE | 1u << WORK_FETCH;
  const uint32_t io = FROM(WORK_REGION_WRITE) & ~FROM(WORK_COMPUTE);
  if (!is_trainer) return ~0u;
  return ~FROM(WORK_OTHER) & (line->classes & training ? ~0u : ~io);
}

int work_lines_split(work_line *const *lines, uint32_t count, int is_trainer, const work_listener *listener) {
  work_runner *runners = calloc((size_t)count + 1, sizeof *runners);
  work_crew crew = {.heap = calloc((size_t)count + 1, sizeof(work_runner *)), .since = INT64_MAX, .listener = listener};
  int is_good = runners && crew.heap;
  for (uint32_t i = 0; is_good && i < count; i++) {
    if (work_line_is_empty(lines[i])) continue;
    runners[i].line = lines[i];
    runners[i].state = NO_STATE;
    runners[i].counted = counted_of(lines[i], is_trainer);
    is_good = take_span(&runners[i]);
    set_next(&runners[i]);
    crew.heap[crew.count++] = &runners[i];
  }
  crew.of_state[NO_STATE] = crew.count;
  is_good = is_good && run_back(&crew);
  for (uint32_t i = 0; runners && i < count; i++) free(runners[i].open);
  free(runners);
  free(crew.heap);
  return is_good;
}
