/* vocabulary.h - what names and categories of regions mean: one table of patterns, and the user's own rows before it.
 *
 * I/O calls (POSIX, STDIO) are not in it: calls.inc knows them. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_VOCABULARY_H
#define DFTRACER_VOCABULARY_H

#include <dftracer/reader.h>
#include <stddef.h>

/* What a region is for. Its word in the table of activities is what --classes and docs/summary.md call it. */
enum activity {
  ACTIVITY_OTHER, /* no row matches: work of some kind, which counts as compute */
  ACTIVITY_COMPUTE,
  ACTIVITY_UPDATE, /* compute: an optimizer's step */
  ACTIVITY_FETCH,
  ACTIVITY_LOADER, /* start or end of a loader and its workers */
  ACTIVITY_DATA,
  ACTIVITY_EMPTY, /* a worker finds no more data */
  ACTIVITY_COMMUNICATION,
  ACTIVITY_MPI, /* communication by calls of MPI */
  ACTIVITY_COMPILE,
  ACTIVITY_DEVICE,
  ACTIVITY_CHECKPOINT,
  ACTIVITY_READ, /* regions of I/O, such as calls of MPI-IO */
  ACTIVITY_WRITE,
  ACTIVITY_METADATA,
  ACTIVITY_EPOCH,
  ACTIVITY_STEP,
  ACTIVITY_EVALUATION,
  ACTIVITY_STARTUP,
  ACTIVITY_FRAME, /* encloses work of any kind, and says nothing of it */
  ACTIVITY_FINAL, /* the last call of a rank, in which it waits for the others */
  ACTIVITIES
};

/* A row of a table: patterns with * and ?. The first row that matches says what a region is. */
typedef struct vocabulary_row {
  enum activity activity;
  const char *cat, *name;
  const char *note; /* for docs/summary.md */
} vocabulary_row;

/* The user's rows. Zero: none. */
typedef struct vocabulary {
  vocabulary_row *rows; /* cat and name are owned */
  uint32_t count, capacity;
} vocabulary;

enum activity vocabulary_find(const vocabulary *own, dft_text name, dft_text cat);
const char *activity_word(enum activity activity);

/* A row as a text, by which states are compared. */
void vocabulary_row_text(const vocabulary_row *row, char *text, size_t bytes);

#endif
