/* state.c - whether calls are recorded: the environment, the session, and threads that work for the library.
 * SPDX-License-Identifier: MIT */
#include "state.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/aside.h"
#include "base/config.h"
#include "bind.h"
#include "descriptor.h"
#include "mpi/mpibind.h"
#include "path.h"
#include "pathfilter.h"
#include "session/session.h"
#include "tail.h"

/* ---- vfork -------------------------------------------------------------------------------------------------------- */

static __thread __attribute__((tls_model("initial-exec"))) int32_t vfork_pid;

/* The wrapper of vfork cannot be written in C: the child returns from its frame before the parent does. */
DFT__TAIL(dft__io_vfork, dft__io_before_vfork);
dft__function dft__io_before_vfork(void) {
  if (!(dft__hush & DFT__HUSH_VFORK)) {
    vfork_pid = getpid();
    dft__hush |= DFT__HUSH_VFORK;
  }
  return dft__real_vfork();
}

/* The child of a vfork runs in its parent's memory while the parent waits. Nothing the child does may be kept. */
static int is_vfork_child(void) {
  if (!(dft__hush & DFT__HUSH_VFORK)) return 0;
  if (getpid() != vfork_pid) return 1;
  dft__hush &= ~DFT__HUSH_VFORK;
  return 0;
}

/* ---- Deciding ----------------------------------------------------------------------------------------------------- */

/* At the first call of a process with the preload library: the environment decides. With the lock. */
static void decide_aside(void *unused) {
  int is_on = dft__io_is_preloaded() && dft__session_would_open() && !dft__config_number(DFT__DISABLE_IO) &&
              dft__filter_make();
  (void)unused;
  atomic_store(&dft__io_state, is_on ? DFT__IO_ON : DFT__IO_OFF);
  if (!is_on) dft__symbols_step_aside();
}

static void decide(void) {
  uint64_t before = dft__signals_block();
  if (dft__session_lock(DFT__LOCK_MS)) {
    if (DFT__GET(dft__io_state) == DFT__IO_UNDECIDED) dft__aside_run(decide_aside, NULL);
    dft__session_unlock();
  }
  dft__signals_restore(before);
}

int dft__io_is_on_slow(void) {
  int saved = errno;
  if (is_vfork_child() || dft__hush) return 0;
  if (DFT__GET(dft__io_state) == DFT__IO_UNDECIDED) {
    decide();
    dft__bind_look_again();
  }
  if (DFT__GET(dft__io_state) == DFT__IO_LOOK_AGAIN) {
    uint32_t look_again = DFT__IO_LOOK_AGAIN;
    atomic_compare_exchange_strong(&dft__io_state, &look_again, DFT__IO_ON);
    dft__bind_look_again();
  }
  errno = saved;
  return DFT__GET(dft__io_state) == DFT__IO_ON;
}

/* MPI_Init may be the first call of a program: with an MPI library, the preload library decides before main. */
__attribute__((constructor)) static void bind_before_main(void) {
  if (dft__io_is_preloaded() && dft__mpi_is_loaded()) dft__io_is_on();
}

/* While calls are not recorded, nobody keeps track of descriptors, the working folder and handles of MPI. */
static void forget_all(void) {
  dft__fd_forget(0, UINT32_MAX);
  dft__path_changed_cwd();
  dft__mpi_forget();
}

void dft__io_session_opened(void) {
  if (dft__session.is_child) return; /* the parent has decided */
  if (DFT__GET(dft__io_state) != DFT__IO_ON) forget_all();
  if (!dft__io_is_preloaded() && !dft__bind_is_bound()) return;
  if (!dft__config_number(DFT__DISABLE_IO) && dft__filter_make()) {
    atomic_store(&dft__io_state, DFT__IO_ON);
    dft__symbols_put_back();
    dft__bind_look_again();
  } else {
    dft__io_session_closed();
  }
}

void dft__io_session_closed(void) {
  atomic_store(&dft__io_state, DFT__IO_OFF);
  dft__symbols_step_aside();
}

/* ---- Binding in place ---------------------------------------------------------------------------------------------- */

static void make_filter(void *is_on) {
  *(int *)is_on = dft__filter_make();
}

/* Without the lock: the dynamic linker's may be held by a thread that waits for ours. */
static void bind_aside(void *unused) {
  (void)unused;
  dft__bind_all();
}

dft_status dft_bind_io(void) {
  uint64_t before;
  int is_on = 0;
  if (!dft__session.is_open || !dft_is_active() || dft__config_number(DFT__DISABLE_IO)) return DFT_EDISABLED;
  if (dft__io_is_preloaded()) return DFT_OK;
  if (!*dft__config_text(DFT__DATA_DIR) || strcmp(dft__config_text(DFT__INIT), "PRELOAD") == 0) return DFT_EDISABLED;
  before = dft__signals_block();
  if (!dft__session_lock(DFT__LOCK_MS)) {
    dft__signals_restore(before);
    return DFT_EBUSY;
  }
  dft__aside_run(make_filter, &is_on);
  dft__session_unlock();
  if (is_on) {
    if (DFT__GET(dft__io_state) != DFT__IO_ON) forget_all();
    dft__aside_run(bind_aside, NULL);
    atomic_store(&dft__io_state, DFT__IO_ON);
    dft__mpi_bind();
  }
  dft__signals_restore(before);
  return is_on ? DFT_OK : DFT_EDISABLED;
}

void dft_unbind_io(void) {
  uint64_t before;
  if (dft__io_is_preloaded() || !dft__bind_is_bound()) return;
  before = dft__signals_block();
  atomic_store(&dft__io_state, DFT__IO_OFF);
  dft__unbind_all();
  dft__mpi_unbind();
  dft__signals_restore(before);
}
