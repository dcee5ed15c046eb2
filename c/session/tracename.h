/* tracename.h - what a trace is called, and where it goes.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_TRACENAME_H
#define DFT_TRACENAME_H

#include "base/identity.h"
#include "spool/spool.h"

typedef struct dft__tracename {
  char folder[4096];            /* absolute */
  char stem[256];               /* of the published name, without suffix */
  char inner[DFT__INNER_BYTES]; /* the hidden folder */
  char base[256];               /* of the names in .dftracer/ (spool/tracefolder.h) */
  int is_explicit;              /* 1: the program asked for this very name, or DFT__NAME_EXTENDED; 0: PREFIX-HOST-PID */
} dft__tracename;

/* Whether the name is that of a device, a FIFO or a socket, such as /dev/null. No trace can be there, and publishing one would
 * replace it. */
int dft__tracename_is_special(const char *log_file);

/* From the name the user gave, relative to the working directory. is_child: the explicit name belongs to the parent. Makes
 * the folder. DFT_EINVAL: the name is too long, or that of a device. */
dft_status dft__tracename_make(dft__tracename *trace, const char *log_file, const dft__identity *own, int is_child);

/* A program that runs again replaces the trace of its explicit name. A later session of one process does not: it gets a
 * number, unless the first trace is gone. Zero when the name becomes too long. */
int dft__tracename_avoid_used(dft__tracename *trace);
/* This process has published a trace of that name. With the session's lock. */
void dft__tracename_remember(const dft__header *header);

/* Another process has the name `wanted`: the next one to try. A prefix gets a number, an explicit name the process id. Zero when
 * the name becomes too long. */
int dft__tracename_next(dft__tracename *trace, const char *wanted, const dft__identity *own, int tries);

/* Whether the parent of this process traces to the same folder. Then the parent, or its own parent, publishes what dead
 * processes left. */
int dft__tracename_has_parent(const dft__header *header);

/* Notes the folder for dftracer run, when the program named another file than the environment does. */
void dft__tracename_note(const dft__tracename *trace, const char *log_file);

#endif
