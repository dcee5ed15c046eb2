/* waiters.c - the line of threads that wait for room in the spool, and whether waiting makes sense.
 *
 * Hundreds may wait. Each has a ticket, and a futex that it shares with few others. Only the first ones in line try to take a
 * chunk. A commit wakes them. Whoever leaves the line wakes the one that now belongs to the first. A thread that has filled its
 * chunk joins the end, so nobody waits for longer than one round takes.
 * SPDX-License-Identifier: MIT */
#include "waiters.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "batch.h"

#define SLOTS 1024u /* futexes; a power of two */

static struct {
  _Atomic uint32_t next_ticket;
  _Atomic uint32_t left;        /* tickets that have left the line, in whatever order */
  _Atomic uint32_t is_stalled;  /* a producer waited in vain: others do not wait until the output works again */
  _Atomic uint32_t is_failing;  /* an append failed, and not enough has been appended since */
  _Atomic uint64_t sound_cells; /* appended since then */
  _Atomic uint64_t give_up_ns;  /* while the output fails: all waiting together ends here; 0: nobody has waited yet */
  _Atomic uint64_t file_bytes;  /* of the spool, when those in line were last told of its growth */
  _Atomic uint32_t calls[SLOTS];
} waiters DFT__LARGE;

void dft__waiters_clear(void) {
  memset(&waiters, 0, sizeof waiters);
}

/* ---- Whether the output works ----------------------------------------------------------------------------------------- */

void dft__waiters_note_failure(void) {
  atomic_store(&waiters.sound_cells, 0);
  atomic_store(&waiters.is_failing, 1);
}

/* On a disk that is almost full small batches may still succeed now and then. That is no reason to wait for the others again. */
void dft__waiters_note_append(uint64_t cells, int is_all) {
  if (atomic_load(&waiters.is_failing)) {
    if (atomic_fetch_add(&waiters.sound_cells, cells) + cells < DFT__BATCH_CELLS && !is_all) return;
    atomic_store(&waiters.is_failing, 0);
    atomic_store(&waiters.give_up_ns, 0);
  }
  atomic_store(&waiters.is_stalled, 0);
}

void dft__waiters_stall(void) {
  atomic_store(&waiters.is_stalled, 1);
}

int dft__waiters_is_stalled(void) {
  return (int)atomic_load(&waiters.is_stalled);
}

int dft__waiters_is_failing(void) {
  return (int)atomic_load(&waiters.is_failing);
}

uint64_t dft__waiters_end_of_wait(uint64_t now, uint64_t deadline) {
  uint64_t end = 0;
  if (!atomic_load(&waiters.is_failing)) return deadline;
  if (atomic_compare_exchange_strong(&waiters.give_up_ns, &end, now + DFT__WAITERS_WAIT_NS))
    end = now + DFT__WAITERS_WAIT_NS;
  return end < deadline ? end : deadline;
}

/* ---- The line --------------------------------------------------------------------------------------------------------- */

int dft__waiters_place(uint32_t ticket) {
  return (int)(ticket - atomic_load(&waiters.left));
}

uint32_t dft__waiters_join(dft__spool *spool) {
  atomic_fetch_add(&spool->waiting, 1);
  return atomic_fetch_add(&waiters.next_ticket, 1);
}

static _Atomic uint32_t *calls_for(uint32_t ticket) {
  return &waiters.calls[ticket % SLOTS];
}

uint32_t dft__waiters_calls(uint32_t ticket) {
  return atomic_load(calls_for(ticket));
}

static void call(uint32_t ticket) {
  atomic_fetch_add(calls_for(ticket), 1);
  syscall(SYS_futex, calls_for(ticket), FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Tickets that were overtaken are older. They look by themselves soon. */
void dft__waiters_call(void) {
  uint32_t first = atomic_load(&waiters.left);
  uint32_t count = atomic_load(&waiters.next_ticket) - first;
  for (uint32_t i = 0; i < count && i < DFT__WAITERS_FIRST; i++) call(first + i);
}

void dft__waiters_note_growth(const dft__spool *spool) {
  uint64_t now = DFT__GET(spool->header->file_bytes);
  if (DFT__GET(spool->waiting) && atomic_exchange(&waiters.file_bytes, now) != now) dft__waiters_call();
}

void dft__waiters_sleep(uint32_t ticket, uint32_t calls, uint64_t ns) {
  struct timespec most = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
  syscall(SYS_futex, calls_for(ticket), FUTEX_WAIT_PRIVATE, calls, &most, NULL, 0);
}

void dft__waiters_leave(dft__spool *spool) {
  uint32_t left = atomic_fetch_add(&waiters.left, 1);
  atomic_fetch_sub(&spool->waiting, 1);
  if ((int)(atomic_load(&waiters.next_ticket) - left) > DFT__WAITERS_FIRST) call(left + DFT__WAITERS_FIRST);
}
