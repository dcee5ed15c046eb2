/* recover.h - publishes what dead processes left.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_RECOVER_H
#define DFT_RECOVER_H

#include <dftracer/dft.h>

#include "base/identity.h"
#include "spool/spool.h"

/* As dft_recover, of a trace's folder. is_explicit: a person asked, so spools from before a restart of the node count too. */
dft_status dft__recover_folder(const char *folder, dft_recovery *report, int is_explicit);

/* One claim file in .dftracer/, when its process is dead. give_new_name: an explicit name gets the dead pid added. DFT_OK: the
 * name is free now; DFT_EBUSY: its process lives, or cannot be judged. */
dft_status dft__recover_claim(const char *claim, const dft__identity *own, int give_new_name);

/* Puts a spool in order before its rest is read: claims of encoders that are gone, lists that lead through the file, and
 * the list of paths without a definition. */
void dft__recover_reset(dft__spool *spool);

#endif
