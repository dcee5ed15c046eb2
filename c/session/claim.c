/* claim.c - how a process gets a name of its own: by making the claim, which is its spool or a pointer to it.
 * SPDX-License-Identifier: MIT */
#include "claim.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "adopt.h"
#include "base/config.h"
#include "base/status.h"
#include "drain/sinkspec.h"
#include "pointer.h"
#include "recover.h"
#include "spool/leftover.h"
#include "spool/tracefolder.h"

#define SHARED_MEMORY "/dev/shm"
#define SHARED_MEMORY_LIMIT (UINT64_C(16) << 20)
#define NAMES_MOST 1000 /* that are tried */
#define FOLDERS_MOST 10 /* times that the folder is made anew */

/* The claim beside the trace and the spool itself, which are one file or two. */
static dft_status claim_once(dft__tracename *trace, dft__spool *spool, const dft__identity *own, const char *spool_dir,
                             uint64_t limit) {
  char claim[DFT__PATH_MAX];
  char path[DFT__PATH_MAX];
  char sinks[DFT__PATH_MAX];
  dft_status status;
  int is_good;
  if (!dft__tracefolder_inner(claim, sizeof claim, trace->folder, trace->inner)) return DFT_EINVAL;
  is_good = dft__spool_is_good_place(claim);
  if (!spool_dir[0] && is_good != 1) spool_dir = SHARED_MEMORY;
  if (!dft__tracefolder_claim(claim, sizeof claim, trace->folder, trace->inner, trace->base)) return DFT_EINVAL;
  if (!spool_dir[0]) return dft__spool_create(spool, claim, limit);
  if (strcmp(spool_dir, SHARED_MEMORY) == 0 && limit > SHARED_MEMORY_LIMIT) limit = SHARED_MEMORY_LIMIT;
  if (!dft__pointer_spool(path, sizeof path, spool_dir, trace->folder, trace->base, own)) return DFT_EINVAL;
  dft__sinkspec_list(dft__config_text(DFT__SINK), sinks, sizeof sinks);
  status = dft__pointer_write(claim, path, own, sinks);
  if (status != DFT_OK) return status;
  status = dft__spool_create(spool, path, limit);
  if (status != DFT_OK) dft__held_unlink(claim);
  return status;
}

/* The name is taken. An earlier image of this process may have taken it: then its spool is ours. Else, if the owner is dead, its
 * trace is published under a name that ours will not replace. Nonzero when *is_ours, or when a name is free to be tried. */
static int settle(const dft__tracefolder *at, dft__tracename *trace, dft__spool *spool, const char *wanted,
                  const dft__identity *own, int tries, int (*may_recover)(void), int *is_ours) {
  char claim[DFT__PATH_MAX];
  if (!dft__tracefolder_claim(claim, sizeof claim, trace->folder, trace->inner, trace->base)) return 0;
  *is_ours = dft__adopt(spool, claim, own);
  if (*is_ours || (tries == 0 && may_recover() && dft__recover_claim(at, claim, own, 1) == DFT_OK)) return 1;
  return dft__tracename_next(trace, wanted, own, tries);
}

/* As claim_once, in the hidden folder; DFT_EBUSY when another try is worth it. */
static dft_status claim_or_settle(dft__tracename *trace, dft__spool *spool, const dft__identity *own,
                                  const char *spool_dir, uint64_t limit, const char *wanted, int tries,
                                  int (*may_recover)(void)) {
  dft__tracefolder at;
  dft_status status;
  if (!dft__tracefolder_make(&at, trace->inner, trace->folder)) {
    status = dft__status_of(errno);
  } else {
    status = claim_once(trace, spool, own, spool_dir, limit);
    if (status == DFT_EBUSY) {
      int is_ours = 0;
      if (!settle(&at, trace, spool, wanted, own, tries, may_recover, &is_ours)) status = DFT_EINVAL;
      else if (is_ours) status = DFT_OK;
    }
    if (status == DFT_OK) dft__tracefolder_remember(&at, spool);
  }
  dft__tracefolder_leave(&at);
  return status;
}

static dft_status claim_some(dft__tracename *trace, dft__spool *spool, const dft__identity *own, const char *spool_dir,
                             uint64_t limit, int (*may_recover)(void)) {
  char wanted[256];
  dft_status status = DFT_EBUSY;
  int is_elsewhere = 0;
  if (!dft__tracename_avoid_used(trace)) return DFT_EINVAL;
  snprintf(wanted, sizeof wanted, "%s", trace->is_explicit ? trace->stem : trace->base);
  for (int tries = 0; tries < NAMES_MOST;) {
    errno = 0;
    status = claim_or_settle(trace, spool, own, is_elsewhere ? SHARED_MEMORY : spool_dir, limit, wanted, tries,
                             may_recover);
    if (status == DFT_OK || status == DFT_EINVAL) return status;
    if (status == DFT_EBUSY) {
      tries++;
    } else if (errno == ENOENT && tries < FOLDERS_MOST) {
      tries++; /* another process removed the empty folder in between */
    } else if (!is_elsewhere && access(trace->folder, W_OK) == 0) {
      is_elsewhere = 1; /* a full disk, or none that allocates: memory holds the events meanwhile */
    } else {
      return status;
    }
  }
  return status;
}

dft_status dft__claim_make(dft__tracename *trace, dft__spool *spool, const dft__identity *own, const char *spool_dir,
                           uint64_t limit, int (*may_recover)(void)) {
  dft_status status = claim_some(trace, spool, own, spool_dir, limit, may_recover);
  memcpy(spool->inner, trace->inner, sizeof spool->inner);
  return status;
}

int dft__claim_renew(const dft__spool *spool) {
  const dft__header *header = spool->header;
  char claim[DFT__PATH_MAX], sinks[DFT__PATH_MAX];
  dft__identity owner;
  if (!dft__tracefolder_claim(claim, sizeof claim, header->folder, spool->inner, header->base)) return 0;
  if (strcmp(claim, spool->path) == 0 || access(claim, F_OK) == 0) return strcmp(claim, spool->path) != 0;
  dft__spool_owner(spool, &owner);
  dft__sinkspec_list(dft__config_text(DFT__SINK), sinks, sizeof sinks);
  return dft__pointer_write(claim, spool->path, &owner, sinks) == DFT_OK;
}
