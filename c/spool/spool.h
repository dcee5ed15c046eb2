/* spool.h - the mapped file of one process.
 *
 * Everything here is safe in a signal handler: no allocation, no lock that is waited for without end, no descriptor that
 * stays open. errno is not preserved.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_SPOOL_H
#define DFT_SPOOL_H

#include <dftracer/dft.h>
#include <sys/types.h>

#include "base/atomic.h"
#include "record.h"

#define DFT__PATH_MAX 4608  /* a folder of 4096 bytes and a name */
#define DFT__INNER_BYTES 32 /* name of a hidden folder */

typedef struct dft__spool {
  char *base;
  dft__header *header;
  size_t map_bytes;
  int fd;                 /* of a spool that is recovered, which holds its lock; else -1 */
  int is_adopted;         /* an earlier image of this process made it */
  _Atomic int is_retired; /* the session has ended: the file may be the next one's */
  int is_detached;        /* the mapping is a private copy, and the file is another process's */
  void *lock;             /* the page that holds the lock on the file, NULL: none. Not mapped in forked children */
  dev_t device;
  ino_t inode;
  dev_t folder_device; /* of the hidden folder in which this process made its claim */
  ino_t folder_inode;
  _Atomic uint32_t growing;      /* futex: id of the thread that extends the file */
  _Atomic uint32_t growth_waits; /* threads that wait for it */
  _Atomic uint32_t waiting;      /* threads that stand in line for a chunk: others must not take one before them */
  _Atomic uint64_t wanted_bytes; /* of the file, by threads that leave it to the background thread */
  _Atomic uint64_t grow_ns;      /* extending failed: do not retry before then, or every event would */
  _Atomic int grow_error;        /* errno of that */
  _Atomic uint32_t
    names_known; /* for intern.c: the registry is full, 1: which names it holds is being found out, 2: is known */
  char path[DFT__PATH_MAX];
  char inner[DFT__INNER_BYTES]; /* name of the hidden folder of the claim (tracefolder.h); empty: the first */
  /* from here on it stays when the struct is used again */
  _Atomic uint32_t inside; /* threads that may be inside a call; DFT__SPOOL_OPEN: more may come */
  char *range;             /* address space of an earlier session, NULL: none */
  size_t range_bytes;
  struct dft__spool *next; /* in the list of all spools */
  uint16_t number;         /* 1, 2, 3 ... */
} dft__spool;
#define DFT__SPOOL_OPEN (1u << 31)

/* A spool for the next session: another one than `not_this`, and none that a thread may still be inside of. The address space
 * of its last session is used again. NULL: no memory. */
dft__spool *dft__spool_spare(const dft__spool *not_this);

/* The spool of that number, which must exist. */
dft__spool *dft__spool_numbered(uint16_t number);

/* A thread begins to use the spool of a session; zero when that has ended. It stays inside until it uses another one, or ends;
 * calls in between cost nothing. */
int dft__spool_enter(dft__spool *spool);
void dft__spool_exit(dft__spool *spool);

/* Makes the file and maps it; the struct is zero, or was used before. The header is zero but for what this file needs; the caller fills in the rest and then
 * calls dft__spool_announce: until then nobody takes it for a spool. DFT_EBUSY when there is one of that name. */
dft_status dft__spool_create(dft__spool *spool, const char *path, uint64_t limit_bytes);
void dft__spool_announce(dft__spool *spool);

/* Of a spool that was opened, or copied (leftover.h). */
void dft__spool_close(dft__spool *spool);

/* What was opened becomes this process's own, with room to grow. Zero when its sizes are not what they
 * would be, or there is no memory. */
int dft__spool_take_over(dft__spool *spool);

/* Replaces the file by plain memory, for threads that are still inside a call. If the process is exiting, the file may
 * stay in its place. */
void dft__spool_retire(dft__spool *spool, int is_exiting);

/* In a forked child whose thread was interrupted inside a call: what it continues to write must not reach the parent's file. */
void dft__spool_detach(dft__spool *spool);

/* Whether the file is still where it was made. */
int dft__spool_is_in_place(const dft__spool *spool);

/* Makes the file at least this long; zero when that is not possible now. may_wait: for another thread that is at it. */
int dft__spool_grow(dft__spool *spool, uint64_t bytes, int may_wait);

/* Allocates and faults in what producers will need next, and what they wait for. */
void dft__spool_prepare(dft__spool *spool);

/* Whether a lock on this file binds every process that can reach the file in its file system. */
int dft__spool_can_lock(int fd);

/* 1 when the folder is on a file system where an allocated page never fails to be written, 0 when not, -1 when it is not there. */
int dft__spool_is_good_place(const char *folder);

#endif
