/* fileposition.h - where the transfers of a thread begin in their files, as far as the trace tells.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_FILEPOSITION_H
#define DFTRACER_FILEPOSITION_H

#include "command/trace/moment.h"
#include "eventclass.h"

/* What is known of the place of a transfer. */
typedef struct io_place {
  int sequence;     /* it begins where the last one ended: 1 yes, 0 no, -1 it is the first one, or not a transfer */
  int is_placed;    /* where it begins is known */
  int is_unaligned; /* that is no multiple of FILE_BLOCK */
  int is_flush;     /* of a close: this thread wrote to the file since it opened it, so the call may wait for that */
  uint64_t again_bytes; /* that this thread surely read (wrote) before */
} io_place;

#define FILE_BLOCK 4096

/* Bytes of a file, one piece; empty: from == to. */
typedef struct file_piece {
  int64_t from, to;
} file_piece;

/* What a thread did with a file. A piece that was read (written) is the longest one that is known to be without gaps. */
typedef struct file_position {
  uint32_t file;
  uint16_t is_placed;  /* `next` is known: the thread opened the file, or set the position */
  uint16_t is_written; /* and not closed since */
  int64_t last_end,
    next; /* where the last transfer ended, -1: not known; where the next one without an offset begins */
  file_piece read, written;
} file_position;

/* The files of one thread: a hash table. */
typedef struct file_positions {
  file_position *list;
  uint32_t count, capacity;
  uint32_t *slots; /* place in the list, + 1; 0: the slot is free */
  uint32_t slot_count;
  uint32_t latest; /* place of the file that was looked up last */
} file_positions;

/* Takes a call in the order of ends. 0: no memory. */
int file_positions_add(file_positions *positions, enum io_kind kind, const moment *event, io_place *place);
void file_positions_free(file_positions *positions);

#endif
