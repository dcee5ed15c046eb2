/* iostat.h - what I/O calls moved, and how. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_IOSTAT_H
#define DFTRACER_IOSTAT_H

#include <stddef.h>

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

/* Of a file, of what one process did with it, of a process, or of the job. */
typedef struct io_stats {
  io_side read, write;
  uint64_t others, other_ns;  /* calls that move no data */
  uint64_t mapped_bytes;      /* of files, into memory; what was read and written there is not known */
  uint64_t sequential;        /* transfers that begin where the last one of the same thread on the same file ended */
  uint64_t failed, failed_ns; /* of all calls */
  uint64_t opens, open_ns, closes, close_ns; /* among the others, and also: */
  uint64_t syncs, sync_ns;                   /* fsync and its like, and closes of files that were written */
  /* Pairs of a file and a process that called on it, and that called to write to it: of a file, how many processes; of a
   * process, how many files. Calls without a file are none. */
  uint64_t uses, write_uses;
  int64_t first, last; /* the first start and the last end of a call; only if there are calls */
  histogram sizes;     /* of transfers, in bytes */
} io_stats;

/* Its first members are numbers that add up. So many: */
#define IO_STATS_NUMBERS (offsetof(io_stats, first) / sizeof(uint64_t))
/* What a file without calls has. */
extern const io_stats io_stats_none;

/* A sum that stays at its maximum instead of overflowing. */
static inline void add_saturating(uint64_t *sum, uint64_t value) {
  if (__builtin_add_overflow(*sum, value, sum)) *sum = UINT64_MAX;
}
static inline void add_numbers(uint64_t *sums, const uint64_t *numbers, size_t count) {
  for (size_t i = 0; i < count; i++) add_saturating(&sums[i], numbers[i]);
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
/* Adds `from`, which is taken over or freed. There may be many: a list has pointers, NULL for none. 0: no memory. */
int io_stats_take(io_stats **into, io_stats *from);
void io_stats_free(io_stats *stats); /* may be NULL */
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
