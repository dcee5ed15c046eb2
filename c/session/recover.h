/* recover.h - publishes what dead processes left.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_RECOVER_H
#define DFT_RECOVER_H

#include <dftracer/dft.h>

#include "base/identity.h"
#include "spool/spool.h"
#include "spool/tracefolder.h"

/* What a recovery is asked for, and spools whose process may be alive, for all that is known here. */
typedef struct dft__unjudged {
  int (*is_over)(void); /* stop between two batches when it says so: the next recovery goes on there. NULL: never */
  int is_taken;         /* the user says that the processes have ended: publish them */
  uint32_t count;       /* of those that were left alone */
  void (*tell)(const char *claim, uint32_t pid, const char *host, void *context); /* of each; may be NULL */
  void *context;
} dft__unjudged;

/* As dft_recover, for the folder of a trace. unjudged may be NULL: they are left alone, and it does not stop. */
dft_status dft__recover_folder(const char *folder, dft_recovery *report, dft__unjudged *unjudged);

/* Publishes the trace of one claim, whose hidden folder was entered, if its process is dead. give_new_name: adds the dead process id to an explicit name. DFT_OK:
 * the name is free now. DFT_EBUSY: the process lives, or nobody here can tell. */
dft_status dft__recover_claim(const dft__tracefolder *at, const char *claim, const dft__identity *own,
                              int give_new_name);

/* Puts a spool in order before its rest is read. Ends the claims of batches that died with their process, empties the lists
 * of free chunks, and queues again every path without a definition: a dead batch may have held it. */
void dft__recover_reset(dft__spool *spool);

/* The folder that a path means: the folder itself, .dftracer in it, or a trace in it. Zero when there is nothing. */
int dft__recover_find_folder(const char *path, char folder[DFT__PATH_MAX]);

#endif
