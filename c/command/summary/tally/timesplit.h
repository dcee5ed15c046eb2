/* timesplit.h - the time of a process, split by phase and by what it was spent on. The cells of a process add up to the time from
 * its first event to its last. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TIMESPLIT_H
#define DFTRACER_TIMESPLIT_H

#include "command/trace/recordpile.h"
#include "histogram.h"

enum time_phase {
  PHASE_START, /* before the loop */
  PHASE_LOOP,  /* of the training; of another process, from the first recurring region to the last */
  PHASE_EVALUATION,
  PHASE_END, /* after the loop, and in its pauses */
  PHASES
};

/* What a moment was spent on. If threads of a process do different things at one moment, the first of these counts. */
enum time_class {
  TIME_COMPUTE,
  TIME_INPUT, /* waiting for data: in a fetch */
  TIME_COMM,
  TIME_CHECKPOINT,
  TIME_TRANSFER, /* to or from a device */
  TIME_WRITE,
  TIME_SYNC, /* waiting until data is written: fsync and its like, and closing a file that was written */
  TIME_READ,
  TIME_META,    /* other I/O calls that move no data */
  TIME_COMPILE, /* functions of the program are compiled while it runs */
  TIME_OUTSIDE, /* in no event, or only in bookkeeping, calls on processes, and what encloses others (frames) */
  TIME_CLASSES
};

/* What other threads may do while the main one is in nothing that is known, and computes or waits for them. */
enum time_aside { ASIDE_IO, ASIDE_CHECKPOINT, ASIDE_COMM, ASIDES };

static inline enum time_aside aside_of(enum time_class number) {
  return number == TIME_CHECKPOINT ? ASIDE_CHECKPOINT : number == TIME_COMM ? ASIDE_COMM : ASIDE_IO;
}

const char *time_class_word(enum time_class number);
const char *time_phase_word(enum time_phase number);

/* One of the slowest steps of a process. */
typedef struct slow_step {
  int64_t epoch, step; /* NO_NUMBER: not known */
  uint64_t index;      /* the n-th step of the process, from 1 on */
  int64_t start;       /* the end of the step before, or when the epoch or the loop began */
  uint64_t ns;         /* without evaluation */
  uint64_t class_ns[TIME_CLASSES];
} slow_step;

#define SLOW_STEPS 10u

/* The steps of a trainer: the events of kind step; without such, the steps of optimizers; without such, the fetches. */
typedef struct step_times {
  histogram durations; /* its count is that of the steps */
  uint64_t class_ns[TIME_CLASSES];
  uint32_t slow_count;
  slow_step slowest[SLOW_STEPS]; /* the slowest first; of equal ones, the earlier */
} step_times;

/* Keeps the step if it is one of the slowest. */
void step_times_add(step_times *steps, const slow_step *step);

/* Calls of one kind, raw: whatever encloses them. A grain is a time with calls; beyond GRAINS_EXACT of them, calls whose distance
 * is below a power of two are one grain. */
#define GRAINS_EXACT 16384u
typedef struct io_grain {
  int64_t start, end;
  uint64_t busy_ns; /* within it; end - start if it is exact */
} io_grain;

enum grain_kind { GRAIN_READ, GRAIN_WRITE, GRAIN_META, GRAIN_KINDS };

#endif
