/* iofolder.h - where in the tree of folders I/O costs its time. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_IOFOLDER_H
#define DFTRACER_IOFOLDER_H

#include "command/summary/state/summarystate.h"

#define FOLDER_SHARE 80u /* % of a cost that a folder must hold to be named */

/* Metadata is without what sync has. */
enum io_cost { IO_COST_METADATA, IO_COST_READ, IO_COST_WRITE, IO_COST_SYNC, IO_COSTS };

/* The deepest folder that holds enough of a cost. */
typedef struct io_folder {
  dft_text path;    /* ends with a slash; part of a text of the state. Empty: there is none but the root */
  uint64_t all_ns;  /* the cost of the job, */
  uint64_t cost_ns; /* and below the folder */
  uint64_t files;   /* below it that have a part of the cost */
  uint32_t file;    /* the number of the file, if it is only one; otherwise 0 */
  uint64_t calls;   /* on these files that make the cost */
  uint64_t read_bytes, write_bytes; /* of these files */
} io_folder;

/* One for each cost. Of a sorted state. 0: no memory. */
int io_folders_find(io_folder folders[IO_COSTS], const summary_state *state);

#endif
