/* ownership.c - who may write the outputs of a spool: its process, or a recovery that takes it.
 * SPDX-License-Identifier: MIT */
#include "ownership.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "commit.h"

#define WAIT_NS UINT64_C(5000000000)
#define PAUSE_NS 200000

enum { NOT_APPENDING = 0, APPENDING = 1, COMMITTING = 2 }; /* in header.is_appending */

int dft__ownership_enter(dft__spool *spool, uint64_t takings) {
  dft__header *header = spool->header;
  atomic_store(&header->is_appending, APPENDING); /* first; dft__ownership_take does the two in the other order */
  if (!atomic_load(&header->is_taken) && atomic_load(&header->takings) == takings) return 1;
  dft__ownership_leave(spool);
  return 0;
}

int dft__ownership_keep(dft__spool *spool) {
  uint32_t appending = APPENDING;
  return atomic_compare_exchange_strong(&spool->header->is_appending, &appending, COMMITTING);
}

void dft__ownership_leave(dft__spool *spool) {
  DFT__RELEASE(spool->header->is_appending, NOT_APPENDING);
}

void dft__ownership_untake(dft__spool *spool) {
  if (!DFT__GET(spool->header->commit_seq)) dft__commit_restart(spool);
  atomic_store(&spool->header->is_taken, 0);
}

/* A recovery holds a lock on the file as long as it lives. When it has died after its last commit, another one must finish. */
int dft__ownership_is_lost(dft__spool *spool) {
  dft__header *header = spool->header;
  int fd;
  if (!atomic_load(&header->is_taken)) return 0;
  fd = open(spool->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return 1;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0 && !dft__commit_current(spool)->complete) dft__ownership_untake(spool);
  close(fd);
  return atomic_load(&header->is_taken) != 0;
}

static void await_process(const dft__header *header) {
  struct timespec pause = {0, PAUSE_NS};
  uint64_t deadline = dft__clock_ns() + WAIT_NS;
  while (atomic_load(&header->is_appending) && dft__clock_ns() < deadline)
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
}

void dft__ownership_take(dft__spool *spool) {
  dft__header *header = spool->header;
  uint32_t appending = APPENDING;
  atomic_store(&header->is_taken, 1);
  await_process(header);
  if (atomic_compare_exchange_strong(&header->is_appending, &appending, NOT_APPENDING)) return;
  await_process(header); /* a commit takes no time */
  atomic_store(&header->is_appending, NOT_APPENDING);
}

void dft__ownership_renew(dft__spool *spool) {
  if (spool->header->is_explicit) spool->header->is_explicit = DFT__NAME_EXTENDED; /* must not replace that trace */
  dft__commit_restart(spool);
  atomic_fetch_add(&spool->header->takings, 1);
  atomic_store(&spool->header->is_taken, 0);
}
