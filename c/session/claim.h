/* claim.h - how a process gets a name of its own: by making the claim, .dftracer/NAME.spool.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_CLAIM_H
#define DFT_CLAIM_H

#include "base/identity.h"
#include "spool/spool.h"
#include "tracename.h"

/* Makes the spool, beside the trace or where that is better, and thereby claims the name: no two living processes have the
 * same. Stem and base of the name change when it was taken, or used by an earlier session of this process. may_recover is asked
 * when a dead process may have the name: recovering it first allocates memory. */
dft_status dft__claim_make(dft__tracename *trace, dft__spool *spool, const dft__identity *own, const char *spool_dir,
                           uint64_t limit, int (*may_recover)(void));

/* The claim of a spool elsewhere is gone: makes it again. Zero when that failed. */
int dft__claim_renew(const dft__spool *spool);

#endif
