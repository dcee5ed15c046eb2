/* meaning.h - what a pair of name and category means to the summary: the calls of intercept/calls.inc, and AI annotations.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SITE_H
#define DFTRACER_SITE_H

#include <dftracer/reader.h>

/* What an I/O call does. */
enum io_kind { IO_NONE, IO_READ, IO_WRITE, IO_COPY, IO_SEEK, IO_OPEN, IO_OTHER };

/* What an event is in the course of a training. */
enum ai_kind {
  AI_NONE,
  AI_COMPUTE,
  AI_START, /* of a loader and its workers */
  AI_FETCH,
  AI_DATA,
  AI_COMM,
  AI_DEVICE,
  AI_CHECKPOINT,
  AI_EPOCH,
  AI_STEP,
  AI_KINDS
};

typedef struct site {
  uint32_t name, cat; /* in the reader's dictionaries */
  uint8_t io;         /* io_kind */
  uint8_t ai;         /* ai_kind */
  uint8_t is_update;  /* an optimizer's step, which is compute, too */
  uint8_t is_ours;    /* start and end of a trace: bookkeeping, in no table */
  uint8_t is_wanted;  /* by --name and --cat */
} site;

void site_classify(site *of, dft_text name, dft_text cat);

#endif
