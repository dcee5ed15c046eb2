/* workline.h - what threads were in, moment by moment.
 *
 * A line holds what one thread was in: spans of time, each with a class, in the order of their ends. The lines of a process are
 * read backwards, all at once: then a span comes before all that it encloses, so one pass with a small stack for each thread tells
 * for every moment what there is, also where spans overlap without nesting. What does not fit in memory is spilled.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_WORKLINE_H
#define DFTRACER_WORKLINE_H

#include "command/trace/spanstack.h"
#include "eventclass.h"
#include "timesplit.h"

/* Of one thread. Zero: empty. */
typedef struct work_line {
  span_stack spans;
  uint32_t is_main; /* of the process */
  uint32_t classes; /* a bit for each class that it ever had */
} work_line;

/* A span on the stack: its start, then its length and its class in one word. */
#define WORK_CLASS_BITS 5
#define WORK_LENGTH_MOST (INT64_MAX >> WORK_CLASS_BITS)
_Static_assert(WORK_CLASSES <= 1 << WORK_CLASS_BITS, "each class has a number there, and a bit in a word");
static inline uint32_t work_class_of(const stacked_span *span) {
  return (uint32_t)(span->end & ((1 << WORK_CLASS_BITS) - 1));
}
extern const uint32_t work_hidden[WORK_CLASSES]; /* by class of a span: those that make no difference inside it */

int work_line_put(work_line *line, int64_t start, int64_t end, uint32_t class); /* whatever it hides */
/* Adds what ends last so far; its class is a work_class. 0: no memory, or no room for the spill. */
static inline int work_line_add(work_line *line, int64_t start, int64_t end, uint32_t class) {
  span_stack *spans = &line->spans;
  const int64_t length = end - start;
  const stacked_span *last;
  if (spans->count - 1 >= spans->capacity - 1 || length <= 0 || length > WORK_LENGTH_MOST) /* it is empty, or full */
    return work_line_put(line, start, end, class);
  last = &spans->spans[spans->count - 1];
  if (last->start >= start && work_hidden[class] >> work_class_of(last) & 1)
    return work_line_put(line, start, end, class);
  line->classes |= 1u << class;
  spans->spans[spans->count++] = (stacked_span){start, length << WORK_CLASS_BITS | class};
  return 1;
}
static inline void work_line_free(work_line *line) {
  span_stack_free(&line->spans);
  *line = (work_line){0};
}

/* Calls that any thread is in, whatever encloses them: by grain_kind, then transfers of bytes that are wanted. */
enum call_kind {
  CALLS_READ = GRAIN_READ,
  CALLS_WRITE = GRAIN_WRITE,
  CALLS_META = GRAIN_META,
  CALLS_MOVING = GRAIN_KINDS,
  CALLS_MOVING_READ = CALLS_MOVING + GRAIN_READ,
  CALLS_MOVING_WRITE = CALLS_MOVING + GRAIN_WRITE,
  CALL_KINDS
};

/* Who is told. The later times come first. */
typedef struct work_listener {
  /* A time in which the process does one thing. What is between two is outside. is_aside: other threads do I/O, save or communicate,
   * while the main one is in nothing that is known. */
  void (*state)(void *context, int64_t start, int64_t end, enum time_class class, int is_aside);
  /* A time in which at least one thread is in a call of a kind. 0: no memory, or no room for the spill. */
  int (*calls)(void *context, enum call_kind kind, int64_t start, int64_t end);
  void *context;
} work_listener;

/* Takes everything out of the lines of a process's threads. is_trainer: its compute is known. Then other regions do not count as
 * compute, and I/O and checkpoints of threads that neither compute nor fetch, such as those that load ahead, do not count at all.
 * 0: no memory, or the spill cannot be read. */
int work_lines_split(work_line *const *lines, uint32_t count, int is_trainer, const work_listener *listener);

#endif
