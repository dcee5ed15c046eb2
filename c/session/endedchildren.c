/* endedchildren.c - children that this process ends by a signal, on purpose, such as idle workers at the end of a program.
 *
 * They cannot complete their trace themselves, but did not fail either. So the recovery at the end of this process does not
 * mark their traces as recovered. A child beyond the last place counts as one that died.
 * SPDX-License-Identifier: MIT */
#include "endedchildren.h"

#include <stdatomic.h>
#include <string.h>

#include "base/identity.h"
#include "spool/leftover.h"

#define PLACES 4096

static _Atomic uint32_t pids[PLACES];
static _Atomic uint32_t used;

void dft_child_ends(uint32_t pid) {
  uint32_t place = atomic_fetch_add(&used, 1);
  if (place < PLACES) atomic_store(&pids[place], pid);
  else atomic_store(&used, PLACES);
}

int dft__endedchildren_has(const dft__spool *spool) {
  dft__identity own, owner;
  if (!atomic_load(&used)) return 0;
  dft__identity_own(&own);
  dft__spool_owner(spool, &owner);
  if (owner.pid_namespace != own.pid_namespace || strcmp(owner.boot_id, own.boot_id) != 0) return 0; /* as pids go */
  for (uint32_t i = 0; i < PLACES && i < atomic_load(&used); i++) {
    if (atomic_load(&pids[i]) == spool->header->pid) return 1;
  }
  return 0;
}
