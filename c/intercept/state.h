/* state.h - whether the calls of this thread are recorded.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_STATE_H
#define DFT_STATE_H

#include "base/signals.h"
#include "symbol.h"

static inline int dft__io_is_usual(void) {
  return DFT__LIKELY(DFT__GET(dft__io_state) == DFT__IO_ON && !dft__hush);
}
/* The unusual cases: nothing is decided yet, this thread works for the library, or it has called vfork. */
int dft__io_is_on_slow(void);
static inline int dft__io_is_on(void) {
  if (dft__io_is_usual()) return 1;
  return DFT__GET(dft__io_state) != DFT__IO_OFF && dft__io_is_on_slow();
}

/* A session opens or closes. The caller holds the session's lock. */
void dft__io_session_opened(void);
void dft__io_session_closed(void);

#endif
