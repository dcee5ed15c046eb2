/* gate.c - the session as recording threads see it.
 * SPDX-License-Identifier: MIT */
#include "gate.h"

#include <sys/mman.h>

#define PAGE_BYTES 4096

static _Atomic uint64_t no_session[2];
_Atomic(_Atomic uint64_t *) dft__gate = no_session;

static dft__spool no_spool;
dft__session_state dft__session = {.spool = &no_spool};

int dft__gate_make(void) {
  void *page;
  if (dft__gate_page() != no_session) return 1;
  page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return 0;
#ifdef MADV_WIPEONFORK
  madvise(page, PAGE_BYTES, MADV_WIPEONFORK);
#endif
  DFT__RELEASE(dft__gate, page);
  return 1;
}
