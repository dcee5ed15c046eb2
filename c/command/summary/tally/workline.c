/* workline.c - what threads were in, moment by moment.
 * SPDX-License-Identifier: MIT */
#include "workline.h"

#include <stdlib.h>

/* ---- Adding ---------------------------------------------------------------------------------------------------------- */

static int64_t length_of(const stacked_span *span) {
  return span->end >> WORK_CLASS_BITS;
}

/* By class of a span: the classes that make no difference inside it. Calls are reported whatever encloses them. */
#define FROM(class) (~0u << (class))
#define CALLS (FROM(WORK_WRITE) & ~FROM(WORK_COMPILE))
const uint32_t work_hidden[WORK_CLASSES] = {
  [WORK_CHECKPOINT] = FROM(WORK_CHECKPOINT) & ~CALLS,
  [WORK_COMM] = FROM(WORK_COMM) & ~CALLS,
  [WORK_DEVICE] = 1u << WORK_DEVICE | FROM(WORK_OTHER),
  [WORK_FETCH] = 1u << WORK_FETCH | FROM(WORK_OTHER), /* what else there is counts where it computes as well */
  [WORK_COMPILE] = FROM(WORK_COMPILE),
  [WORK_COMPUTE] = FROM(WORK_COMPUTE),
  [WORK_OTHER] = FROM(WORK_OTHER),
  [WORK_DATA] = FROM(WORK_DATA),
};

/* Forgets what makes no difference inside a span. */
static int hide(work_line *line, int64_t start, uint32_t classes) {
  const stacked_span *top;
  for (;;) {
    if (!span_stack_top(&line->spans, &top)) return 0;
    if (!top || top->start < start || !(classes >> work_class_of(top) & 1)) return 1;
    span_stack_pop(&line->spans);
  }
}

int work_line_put(work_line *line, int64_t start, int64_t end, uint32_t class) {
  line->classes |= 1u << class;
  if (work_hidden[class] && !hide(line, start, work_hidden[class])) return 0;
  for (; end - start > WORK_LENGTH_MOST; start += WORK_LENGTH_MOST) { /* a time that nobody measured */
    if (!span_stack_push(&line->spans, start, WORK_LENGTH_MOST << WORK_CLASS_BITS | class)) return 0;
  }
  return end == start || span_stack_push(&line->spans, start, (end - start) << WORK_CLASS_BITS | class);
}

/* ---- One thread ----------------------------------------------------------------------------------------------------- */

/* A span that covers the moment at hand. */
typedef struct open_span {
  int64_t start;
  uint32_t outer; /* a bit for each class of those below it */
} open_span;

/* A thread on the way back. */
typedef struct work_runner {
  work_line *line;
  int64_t span_start, span_end; /* of the span that comes next; span_end INT64_MIN: there is none */
  uint32_t span_class;
  open_span *open; /* the one that starts last is on top */
  uint32_t count, capacity;
  uint32_t classes; /* a bit for each class that is open */
  uint32_t counted; /* a bit for each class that counts */
  uint32_t matters; /* the same for each class that counts or is a call */
  uint32_t state;   /* the class that counts: a line_class; NO_STATE: none */
} work_runner;

/* What a thread is in, as part of its process: a time_class, or loading, which comes after all others. */
#define LINE_DATA ((uint32_t)TIME_OUTSIDE)
#define NO_STATE (LINE_DATA + 1)
static const uint8_t line_class[WORK_CLASSES] = {
  [WORK_CHECKPOINT] = TIME_CHECKPOINT,
  [WORK_COMM] = TIME_COMM,
  [WORK_DEVICE] = TIME_TRANSFER,
  [WORK_FETCH] = TIME_INPUT,
  [WORK_REGION_WRITE] = TIME_WRITE,
  [WORK_REGION_READ] = TIME_READ,
  [WORK_REGION_META] = TIME_META,
  [WORK_WRITE] = TIME_WRITE,
  [WORK_IDLE_WRITE] = TIME_WRITE,
  [WORK_COPY] = TIME_WRITE,
  [WORK_IDLE_COPY] = TIME_WRITE,
  [WORK_SYNC] = TIME_SYNC,
  [WORK_READ] = TIME_READ,
  [WORK_IDLE_READ] = TIME_READ,
  [WORK_META] = TIME_META,
  [WORK_COMPILE] = TIME_COMPILE,
  [WORK_COMPUTE] = TIME_COMPUTE,
  [WORK_OTHER] = TIME_COMPUTE,
  [WORK_DATA] = LINE_DATA,
};

/* Which one counts, of those that a thread is in at one moment. */
static uint32_t state_of(uint32_t classes) {
  if (classes & 1u << WORK_COMPUTE) classes &= ~(1u << WORK_FETCH);
  return classes ? line_class[__builtin_ctz(classes)] : NO_STATE;
}

/* The moment when something changes; INT64_MIN: nothing will. */
static inline int64_t next_moment(const work_runner *runner) {
  const int64_t closes = runner->count ? runner->open[runner->count - 1].start : INT64_MIN;
  return runner->span_end > closes ? runner->span_end : closes;
}

/* Takes the next span that makes a difference out of the line. */
static inline int take_span(work_runner *runner) {
  span_stack *spans = &runner->line->spans;
  const stacked_span *top;
  do {
    if (!span_stack_top(spans, &top)) return 0;
    runner->span_end = INT64_MIN;
    if (!top) return 1;
    span_stack_pop(spans);
    runner->span_class = work_class_of(top);
  } while (!(runner->matters >> runner->span_class & 1));
  runner->span_start = top->start;
  runner->span_end = top->start + length_of(top);
  return 1;
}

static int make_room(work_runner *runner) {
  uint32_t capacity = runner->capacity ? runner->capacity * 2 : 16;
  open_span *open = realloc(runner->open, capacity * sizeof *open);
  if (!open) return 0;
  runner->open = open;
  runner->capacity = capacity;
  return 1;
}

/* From this moment on, back, the thread is in a span of the class that has this bit. */
static inline int open_span_at(work_runner *runner, int64_t start, uint32_t bit) {
  open_span span = {start, runner->classes};
  uint32_t at = runner->count;
  if (runner->count == runner->capacity && !make_room(runner)) return 0;
  for (; at && runner->open[at - 1].start > span.start; at--) { /* it does not nest */
    span.outer = runner->open[at - 1].outer;
    runner->open[at] = runner->open[at - 1];
    runner->open[at].outer |= bit;
  }
  runner->open[at] = span;
  runner->count++;
  runner->classes |= bit;
  return 1;
}

static inline void close_last(work_runner *runner) {
  runner->classes = runner->open[--runner->count].outer;
}

/* ---- All threads ---------------------------------------------------------------------------------------------------- */

/* A thread in a match: who has the later moment goes on to the next one. */
typedef struct work_player {
  int64_t moment; /* when it changes next */
  uint32_t thread;
} work_player;

/* A time in which there are calls of a kind, as far as it is known. */
typedef struct call_time {
  int64_t start, end;
} call_time;

typedef struct work_crew {
  work_runner *runners;
  uint32_t size;        /* how many: a power of two, the last ones may have no line */
  work_player *players; /* winners of matches: 1 is the final, 2 and 3 lead to it; from `size` on, the threads */
  uint32_t of_state[NO_STATE + 1], states; /* how many threads are in it; a bit for each that is not 0, but NO_STATE */
  int64_t since;                           /* the process is in the first of these states from here on, back, */
  int is_main_out;             /* and its main thread is in none of them; 0 also if there is no main thread */
  call_time calls[CALL_KINDS]; /* not reported yet; nothing, if it ends where it starts */
  const work_listener *listener;
} work_crew;

/* What calls are: a bit for each call_kind. */
#define READS (1 << CALLS_READ)
#define WRITES (1 << CALLS_WRITE)
#define MOVES(kinds) ((kinds) | (kinds) << CALLS_MOVING)
static const uint8_t call_kinds[WORK_CLASSES] = {
  [WORK_READ] = MOVES(READS),          [WORK_IDLE_READ] = READS,
  [WORK_WRITE] = MOVES(WRITES),        [WORK_IDLE_WRITE] = WRITES,
  [WORK_COPY] = MOVES(READS | WRITES), [WORK_IDLE_COPY] = READS | WRITES,
  [WORK_META] = 1 << CALLS_META,       [WORK_SYNC] = 1 << CALLS_META,
};

static int report_calls(work_crew *crew, uint32_t kind) {
  const call_time *time = &crew->calls[kind];
  return time->start == time->end ||
         crew->listener->calls(crew->listener->context, (enum call_kind)kind, time->start, time->end);
}

/* No call that comes ends later than this one. So what starts before all others of its kind is known to be apart from them when
 * the next one ends before that: no moment is needed at which it starts. */
static inline int add_call(work_crew *crew, const work_runner *runner) {
  for (uint32_t kinds = call_kinds[runner->span_class]; kinds; kinds &= kinds - 1) {
    const uint32_t kind = (uint32_t)__builtin_ctz(kinds);
    call_time *time = &crew->calls[kind];
    if (runner->span_end < time->start) {
      if (!report_calls(crew, kind)) return 0;
      *time = (call_time){runner->span_start, runner->span_end};
    } else if (runner->span_start < time->start) {
      time->start = runner->span_start;
    }
  }
  return 1;
}

/* Opens or closes one span. 0: no memory, or the spill cannot be read. */
static inline int step_back(work_crew *crew, work_runner *runner, int64_t now) {
  if (runner->span_end != now) {
    close_last(runner);
    return 1;
  }
  if (!add_call(crew, runner)) return 0;
  if (runner->counted >> runner->span_class & 1 && !open_span_at(runner, runner->span_start, 1u << runner->span_class))
    return 0;
  return take_span(runner);
}

/* Plays the matches of a thread again. */
static inline void play(work_crew *crew, uint32_t thread) {
  work_player *players = crew->players;
  for (uint32_t match = (crew->size + thread) / 2; match; match /= 2)
    players[match] = players[2 * match + (players[2 * match].moment < players[2 * match + 1].moment)];
}

/* What a thread may do while the main one computes in no region: then it costs nothing. */
static int can_be_aside(uint32_t state) {
  return state == TIME_COMM || state == TIME_CHECKPOINT || state == TIME_WRITE || state == TIME_SYNC ||
         state == TIME_READ || state == TIME_META;
}

/* The process was in this state since then, back to now. */
static void report_state(work_crew *crew, int64_t now, uint32_t state) {
  const enum time_class class = state == LINE_DATA ? TIME_COMPUTE : (enum time_class)state;
  if (now < crew->since)
    crew->listener->state(crew->listener->context, now, crew->since, class, crew->is_main_out && can_be_aside(state));
}

/* A thread changes its state: the time since the process did is reported, if the process changes, too. */
static void change_state(work_crew *crew, work_runner *runner, int64_t now) {
  const uint32_t state = state_of(runner->classes), before = crew->states;
  const int was_out = crew->is_main_out, is_out = runner->line && runner->line->is_main ? state == NO_STATE : was_out;
  if (state == runner->state) return;
  if (!--crew->of_state[runner->state]) crew->states &= ~(1u << runner->state);
  if (!crew->of_state[state]++ && state != NO_STATE) crew->states |= 1u << state;
  runner->state = state;
  if ((before & -before) == (crew->states & -crew->states) && is_out == was_out) return;
  if (before) report_state(crew, now, (uint32_t)__builtin_ctz(before));
  crew->is_main_out = is_out;
  crew->since = now;
}

/* The only thread was in this state until it changes now, as the process was. */
static inline void leave(work_crew *crew, int64_t now, uint32_t state) {
  if (state != NO_STATE) report_state(crew, now, state);
  crew->since = now;
}

/* The only thread of a process has to wait for no other one, and nothing is aside. What encloses nothing comes and goes in one
 * step. */
static int run_alone(work_crew *crew) {
  work_runner *runner = crew->runners;
  crew->is_main_out = 0;
  while (runner->count || runner->span_end != INT64_MIN) {
    const int64_t closes = runner->count ? runner->open[runner->count - 1].start : INT64_MIN;
    const int64_t start = runner->span_start, end = runner->span_end;
    const uint32_t bit = 1u << runner->span_class, before = runner->state;
    int is_leaf;
    if (end < closes) {
      close_last(runner);
      runner->state = state_of(runner->classes);
      if (runner->state != before) leave(crew, closes, before);
      continue;
    }
    if (!add_call(crew, runner) || !take_span(runner)) return 0;
    if (!(runner->counted & bit)) continue;
    runner->state = state_of(runner->classes | bit);
    if (runner->state != before) leave(crew, end, before);
    is_leaf = runner->span_end <= start && closes <= start;
    if (!is_leaf && !open_span_at(runner, start, bit)) return 0;
    if (is_leaf && runner->state != before) leave(crew, start, runner->state);
    if (is_leaf) runner->state = before;
  }
  return 1;
}

static int run_all(work_crew *crew) {
  for (;;) {
    const uint32_t latest = crew->players[1].thread;
    const int64_t now = crew->players[1].moment;
    work_runner *runner = &crew->runners[latest];
    int64_t next;
    if (now == INT64_MIN) return 1;
    do {
      if (!step_back(crew, runner, now)) return 0;
      next = next_moment(runner);
    } while (next == now);
    crew->players[crew->size + latest].moment = next;
    change_state(crew, runner, now);
    play(crew, latest);
  }
}

static int run_back(work_crew *crew) {
  if (!(crew->size == 1 ? run_alone(crew) : run_all(crew))) return 0;
  for (uint32_t kind = 0; kind < CALL_KINDS; kind++) {
    if (!report_calls(crew, kind)) return 0;
  }
  return 1;
}

/* The classes that count. */
static uint32_t counted_of(const work_line *line, int is_trainer) {
  const uint32_t training = 1u << WORK_COMPUTE | 1u << WORK_FETCH;
  const uint32_t background = 1u << WORK_CHECKPOINT | (FROM(WORK_REGION_WRITE) & ~FROM(WORK_COMPILE));
  if (!is_trainer) return ~0u;
  return ~FROM(WORK_OTHER) & (line->classes & training ? ~0u : ~background);
}

static int take_places(work_crew *crew, work_line *const *lines, uint32_t count, int is_trainer) {
  for (uint32_t i = 0; i < crew->size; i++) {
    work_runner *runner = &crew->runners[i];
    *runner = (work_runner){.line = i < count ? lines[i] : NULL, .state = NO_STATE, .span_end = INT64_MIN};
    if (runner->line) runner->counted = counted_of(runner->line, is_trainer);
    runner->matters = runner->counted | CALLS;
    if (runner->line && runner->line->is_main) crew->is_main_out = 1;
    if (runner->line && !take_span(runner)) return 0;
    crew->players[crew->size + i] = (work_player){next_moment(runner), i};
  }
  for (uint32_t kind = 0; kind < CALL_KINDS; kind++) crew->calls[kind] = (call_time){INT64_MAX, INT64_MAX};
  crew->of_state[NO_STATE] = crew->size;
  for (uint32_t i = 0; i < crew->size; i++) play(crew, i);
  return 1;
}

int work_lines_split(work_line *const *lines, uint32_t count, int is_trainer, const work_listener *listener) {
  work_crew crew = {.size = 1, .since = INT64_MAX, .listener = listener};
  int is_good;
  while (crew.size < count) crew.size *= 2;
  crew.runners = calloc(crew.size, sizeof *crew.runners);
  crew.players = calloc((size_t)crew.size * 2, sizeof *crew.players);
  is_good = crew.runners && crew.players && take_places(&crew, lines, count, is_trainer) && run_back(&crew);
  for (uint32_t i = 0; crew.runners && i < crew.size; i++) free(crew.runners[i].open);
  free(crew.runners);
  free(crew.players);
  return is_good;
}
