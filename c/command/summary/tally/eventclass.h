/* eventclass.h - what an event is, by its name and category: an I/O call, a part of a training, or bookkeeping. This and the
 * vocabulary know names and categories; everything else in the summary asks the class.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_EVENTCLASS_H
#define DFTRACER_EVENTCLASS_H

#include "mpicall.h"
#include "vocabulary.h"

/* What an I/O call does. */
enum io_kind { IO_NONE, IO_READ, IO_WRITE, IO_COPY, IO_MAP, IO_SEEK, IO_MOVE, IO_OPEN, IO_CLOSE, IO_SYNC, IO_OTHER };

/* What an I/O call returns. */
enum io_returns {
  RETURNS_RESULT,        /* the bytes of a transfer, or another result; negative: it failed */
  RETURNS_CHARACTER,     /* one byte was written; negative: it failed */
  RETURNS_CHARACTER_END, /* one byte was read; negative without an errno: the end of the file */
  RETURNS_ITEMS          /* nothing tells the bytes; negative without an errno: the end of the file */
};

/* Which part of a training an event is. */
enum ai_kind {
  AI_NONE,
  AI_COMPUTE,
  AI_START, /* start or end of a loader and its workers */
  AI_FETCH,
  AI_DATA,
  AI_COMM,
  AI_DEVICE,
  AI_CHECKPOINT,
  AI_EPOCH,
  AI_STEP,
  AI_EMPTY, /* a worker finds no more data */
  AI_KINDS
};

/* What a thread is in, for the split of the time (workline.h). What comes first counts, if it is in several at one moment. */
enum work_class {
  WORK_CHECKPOINT,
  WORK_COMM,
  WORK_DEVICE,
  WORK_FETCH,        /* unless it computes as well */
  WORK_REGION_WRITE, /* regions of I/O, whatever calls they make */
  WORK_REGION_READ,
  WORK_REGION_META,
  WORK_WRITE, /* I/O calls; each of the three is followed by those of its kind that move nothing that is wanted */
  WORK_IDLE_WRITE,
  WORK_COPY, /* reads and writes */
  WORK_IDLE_COPY,
  WORK_SYNC, /* waits until data is written */
  WORK_READ,
  WORK_IDLE_READ,
  WORK_META,
  WORK_COMPILE,
  WORK_COMPUTE,
  WORK_OTHER, /* a region of another kind, which counts as compute */
  WORK_DATA,  /* loading, which counts as compute if no thread does anything else */
  WORK_CLASSES,
  WORK_NONE = WORK_CLASSES
};

/* Which phase an event tells of. */
enum event_stage { STAGE_NONE, STAGE_EVALUATION, STAGE_STARTUP, STAGE_FINAL };

typedef struct event_class {
  uint32_t name, cat; /* in the reader's dictionaries */
  uint8_t is_call;    /* a call of the system or of a stream; on processes, too, which is not I/O */
  uint8_t is_stream;  /* a call of a stream */
  uint8_t io;         /* io_kind */
  uint8_t returns;    /* io_returns */
  uint8_t ai;         /* ai_kind */
  uint8_t work;       /* work_class */
  uint8_t stage;      /* event_stage */
  uint8_t is_loop;    /* of a training: its first and last such event are the ends of its loop */
  uint8_t activity;   /* of regions: what the vocabulary says */
  uint8_t is_process; /* a call on processes, such as fork and wait: neither I/O nor a region */
  uint8_t is_update;  /* an optimizer's step, which is compute as well */
  uint8_t is_ours;    /* start and end of a trace: bookkeeping, which no table shows */
  uint8_t is_wanted;  /* it matches --name and --cat */
  uint32_t call;      /* of calls: 1, 2, 3 ...; others have 0 */
  mpi_call mpi;       /* what a function of MPI does */
} event_class;

/* A call of communication, where others may wait for this process. */
static inline int event_class_communicates(const event_class *class) {
  return class->ai == AI_COMM || (class->mpi.kind != MPI_NONE && class->mpi.kind != MPI_FILE);
}

/* Sets all but the numbers and is_wanted. `own`: the user's rows; may be NULL. */
void event_classify(event_class *result, const vocabulary *own, dft_text name, dft_text cat);

#endif
