/* iostat.h - what I/O calls moved, and in which order. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_IOSTAT_H
#define DFTRACER_IOSTAT_H

#include "command/trace/moment.h"
#include "eventclass.h"
#include "histogram.h"

typedef struct io_stats {
  uint64_t reads, writes, others; /* calls; others move no data */
  uint64_t read_bytes, write_bytes;
  uint64_t mapped_bytes; /* of files, into memory; what was read and written there is not known */
  uint64_t read_ns, write_ns, other_ns;
  uint64_t sequential; /* transfers that begin where the last one of the same thread on the same file ended */
  uint64_t random;     /* and those that begin elsewhere */
  uint64_t failed;
  uint64_t unknown_reads, unknown_writes; /* transfers of which the trace does not tell the bytes */
  histogram sizes;                        /* of transfers, in bytes */
} io_stats;

/* All its numbers, as a list of addresses. */
#define IO_STATS_NUMBERS(io)                                                                              \
  &(io)->reads, &(io)->writes, &(io)->others, &(io)->read_bytes, &(io)->write_bytes, &(io)->mapped_bytes, \
    &(io)->read_ns, &(io)->write_ns, &(io)->other_ns, &(io)->sequential, &(io)->random, &(io)->failed,    \
    &(io)->unknown_reads, &(io)->unknown_writes

/* Where the last transfer on a file ended, and where the next one without an offset begins. */
typedef struct file_position {
  uint32_t file; /* 0: the slot is free */
  int64_t last_end, next;
} file_position;

/* The positions of one thread: a hash table by file. */
typedef struct file_positions {
  file_position *slots;
  uint32_t slot_count; /* a power of two */
  uint32_t count;
} file_positions;

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

/* Counts a call of this kind; `sequence` is a result of file_positions_sequence. 0: no memory. */
int io_stats_count(io_stats *stats, enum io_kind kind, const moment *event, int sequence);
int io_stats_merge(io_stats *into, const io_stats *from); /* 0: no memory */
static inline uint64_t io_stats_calls(const io_stats *stats) {
  return stats->reads + stats->writes + stats->others;
}
static inline uint64_t io_stats_unknown(const io_stats *stats) {
  return stats->unknown_reads + stats->unknown_writes;
}
static inline uint64_t io_stats_ns(const io_stats *stats) {
  return stats->read_ns + stats->write_ns + stats->other_ns;
}

/* Whether the transfer begins where the last one ended: 1 yes, 0 no, -1 it is the first one, or not a transfer. */
int file_positions_sequence(file_positions *positions, enum io_kind kind, const moment *event);
void file_positions_free(file_positions *positions);

#endif
