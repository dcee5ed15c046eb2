/* latebind.c - dlopen and dlsym: they tell that there may be new objects, whose slots are to be bound.
 * SPDX-License-Identifier: MIT */
#include <errno.h>

#include "bind.h"
#include "mpi/mpibind.h"
#include "state.h"
#include "tail.h"

DFT__TAIL(dft__io_dlopen, dft__bind_before_dlopen);
DFT__TAIL(dft__io_dlsym, dft__bind_before_dlsym);

/* The library is loaded only after this returns, so the next wrapped call looks again. */
dft__function dft__bind_before_dlopen(void) {
  uint32_t on = DFT__IO_ON;
  if (!(dft__hush & DFT__HUSH_VFORK)) atomic_compare_exchange_strong(&dft__io_state, &on, DFT__IO_LOOK_AGAIN);
  return dft__bind_real(DFT__SYMBOL_dlopen);
}

/* A program that uses a library it has loaded first looks up a function in it. If that one uses MPI, its first call may
 * be MPI_Init. */
dft__function dft__bind_before_dlsym(void) {
  int saved = errno;
  dft__function real = dft__bind_real(DFT__SYMBOL_dlsym);
  if (!(dft__hush & DFT__HUSH_VFORK)) {
    if (DFT__GET(dft__io_state) == DFT__IO_UNDECIDED && dft__mpi_is_loaded()) dft__io_is_on();
    dft__bind_look_again();
  }
  errno = saved;
  return real;
}
