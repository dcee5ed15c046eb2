/* symbol.h - the calls and symbols of calls.inc, and the functions behind their names.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_SYMBOL_H
#define DFT_SYMBOL_H

#include <stddef.h>

#include "base/atomic.h"

typedef void (*dft__function)(void);

/* A call has a name in the trace. */
enum dft__call {
#define CALL(cat, action, type, name, params, args, subject, result, items) DFT__CALL_##name,
#define SPECIAL(cat, action, name, items) DFT__CALL_##name,
#include "calls.inc"
  DFT__CALL_COUNT,
};

/* A call has one or more symbols. The last symbols have no call: they are watched, not recorded. */
enum dft__symbol {
#define CALL(cat, action, type, name, params, args, subject, result, items) DFT__SYMBOL_##name,
#define VARIANT(plain, type, symbol, params, args, subject, result, items) DFT__SYMBOL_##symbol,
#define SPECIAL(cat, action, name, items) DFT__SYMBOL_##name,
#define OTHER(plain, symbol) DFT__SYMBOL_##symbol,
#define ALIAS(plain, symbol) DFT__SYMBOL_##symbol,
#include "calls.inc"
  DFT__SYMBOL_COUNT,
  DFT__SYMBOL_vfork = DFT__SYMBOL_COUNT,
  DFT__SYMBOL_dlopen,
  DFT__SYMBOL_dlsym,
  DFT__SYMBOL_END,
};

const char *dft__symbol_name(enum dft__symbol symbol);
dft__function dft__symbol_wrapper(enum dft__symbol symbol);

/* The function that a symbol names when we are not there. The first use looks it up, without allocating. */
extern _Atomic(dft__function) dft__reals[DFT__SYMBOL_COUNT];
dft__function dft__real_find(enum dft__symbol symbol);
static inline dft__function dft__real(enum dft__symbol symbol) {
  dft__function real = DFT__GET(dft__reals[symbol]);
  return DFT__LIKELY(real != NULL) ? real : dft__real_find(symbol);
}
/* The same for any name. NULL: no library defines it. */
dft__function dft__real_by_name(const char *name);
dft__function dft__real_vfork(void);

/* The preload library is loaded. It looks names up from its own place in the order of libraries. */
int dft__io_is_preloaded(void);

/* ---- Whether calls are recorded, and so where the names of the preload library lead ---- */

enum dft__io_state {
  DFT__IO_UNDECIDED = 0,
  DFT__IO_ON = 1,
  DFT__IO_OFF = 2,
  DFT__IO_LOOK_AGAIN = 3, /* on, and a library may have been loaded whose slots are not bound */
};
extern _Atomic uint32_t dft__io_state; /* state.c decides */

/* After the state became OFF: names lead past the wrappers. After it became ON: names lead to the wrappers again. */
void dft__symbols_step_aside(void);
void dft__symbols_put_back(void);

#endif
