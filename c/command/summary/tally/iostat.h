/* iostat.h - what I/O calls moved, and how. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_IOSTAT_H
#define DFTRACER_IOSTAT_H

#include "fileposition.h"
#include "histogram.h"

#define SMALL_BYTES (1 << 20) /* a transfer of fewer bytes, but of at least one, is small */

/* Transfers in one direction. */
typedef struct io_side {
  uint64_t count, bytes, ns;
  uint64_t unknown;                      /* transfers of which the trace does not tell the bytes */
  uint64_t random, random_ns;            /* they begin elsewhere than where the thread's last one on the file ended */
  uint64_t small, small_bytes, small_ns; /* of less than SMALL_BYTES */
  uint64_t placed;                       /* where they begin is known */
  uint64_t unaligned, unaligned_ns;      /* of these: not at a multiple of FILE_BLOCK */
  uint64_t again_bytes;                  /* that the same thread surely read (wrote) before; a lower bound */
  uint64_t stdio_bytes, stdio_ns;        /* of calls on streams */
} io_side;

#define IO_SIDE_NUMBERS(side)                                                                                         \
  &(side)->count, &(side)->bytes, &(side)->ns, &(side)->unknown, &(side)->random, &(side)->random_ns, &(side)->small, \
    &(side)->small_bytes, &(side)->small_ns, &(side)->placed, &(side)->unaligned, &(side)->unaligned_ns,              \
    &(side)->again_bytes, &(side)->stdio_bytes, &(side)->stdio_ns

/* Of a file, of what one process did with it, of a process, or of the job. */
typedef struct io_stats {
  io_side read, write;
  uint64_t others, other_ns;  /* calls that move no data */
  uint64_t mapped_bytes;      /* of files, into memory; what was read and written there is not known */
  uint64_t sequential;        /* transfers that begin where the last one of the same thread on the same file ended */
  uint64_t failed, failed_ns; /* of all calls */
  uint64_t opens, open_ns, closes, close_ns; /* among the others */
  /* Pairs of a file and a process that called on it, and that called to write to it: of a file, how many processes; of a
   * process, how many files. Calls without a file are none. */
  uint64_t uses, write_uses;
  int64_t first, last; /* the first start and the last end of a call; only if there are calls */
  histogram sizes;     /* of transfers, in bytes */
} io_stats;

/* All its numbers that add up, as a list of addresses. */
#define IO_STATS_NUMBERS(io)                                                                                          \
  IO_SIDE_NUMBERS(&(io)->read), IO_SIDE_NUMBERS(&(io)->write), &(io)->others, &(io)->other_ns, &(io)->mapped_bytes,   \
    &(io)->sequential, &(io)->failed, &(io)->failed_ns, &(io)->opens, &(io)->open_ns, &(io)->closes, &(io)->close_ns, \
    &(io)->uses, &(io)->write_uses
#define IO_STATS_COUNT 42u

/* A sum that stays at its maximum instead of overflowing. */
static inline void add_saturating(uint64_t *sum, uint64_t value) {
  if (__builtin_add_overflow(*sum, value, sum)) *sum = UINT64_MAX;
}

/* Whether the call failed. An errno says so even if the result is not negative, as that of posix_fallocate. */
static inline int is_failure(const moment *event) {
  return event->error || (event->result < 0 && event->result != NO_RESULT);
}

/* The result of a call, as a moment has it: of a transfer or a mapping, the bytes. */
int64_t io_result(const event_class *class, int64_t ret, int64_t error, int64_t length);

/* Counts a call as one of this kind: a copy is a read and a write. 0: no memory. */
int io_stats_count(io_stats *stats, enum io_kind kind, const event_class *class, const moment *event,
                   const io_place *place);
int io_stats_merge(io_stats *into, const io_stats *from); /* 0: no memory */
/* Adds `from`, which is empty then: there may be many. 0: no memory. */
int io_stats_move(io_stats *into, io_stats *from);
static inline uint64_t io_stats_calls(const io_stats *stats) {
  return stats->read.count + stats->write.count + stats->others;
}
static inline uint64_t io_stats_unknown(const io_stats *stats) {
  return stats->read.unknown + stats->write.unknown;
}
static inline uint64_t io_stats_random(const io_stats *stats) {
  return stats->read.random + stats->write.random;
}
static inline uint64_t io_stats_ns(const io_stats *stats) {
  return stats->read.ns + stats->write.ns + stats->other_ns;
}

#endif
