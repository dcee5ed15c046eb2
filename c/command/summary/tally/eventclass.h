/* eventclass.h - what an event is, by its name and category: an I/O call, a part of a training, or bookkeeping. This is the
 * one place that knows names and categories; everything else in the summary asks the class.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_EVENTCLASS_H
#define DFTRACER_EVENTCLASS_H

#include <dftracer/reader.h>

/* What an I/O call does. */
enum io_kind { IO_NONE, IO_READ, IO_WRITE, IO_COPY, IO_MAP, IO_SEEK, IO_MOVE, IO_OPEN, IO_CLOSE, IO_OTHER };

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
  AI_KINDS
};

typedef struct event_class {
  uint32_t name, cat; /* in the reader's dictionaries */
  uint8_t is_call;    /* a call of the system or of a stream; on processes, too, which is not I/O */
  uint8_t is_stream;  /* a call of a stream */
  uint8_t io;         /* io_kind */
  uint8_t returns;    /* io_returns */
  uint8_t ai;         /* ai_kind */
  uint8_t is_process; /* a call on processes, such as fork and wait: neither I/O nor a region */
  uint8_t is_update;  /* an optimizer's step, which is compute as well */
  uint8_t is_ours;    /* start and end of a trace: bookkeeping, which no table shows */
  uint8_t is_wanted;  /* it matches --name and --cat */
  uint32_t call;      /* of calls: 1, 2, 3 ...; others have 0 */
} event_class;

/* Sets is_call, is_stream, io, returns, ai, is_process, is_update and is_ours. */
void event_classify(event_class *result, dft_text name, dft_text cat);

#endif
