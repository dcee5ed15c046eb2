/* pointer.h - a claim that points to a spool elsewhere: a small text file.
 *
 *   dftracer spool at /dev/shm/dftracer-17-...-BASE.spool
 *   HOST
 *   BOOT ID
 *   SINKS        the setting DFTRACER_SINK
 *   PID NAMESPACE
 *   PID
 *   START TIME   in ticks, as in /proc/PID/stat
 *   TIME NAMESPACE
 *   DEVICE       of the folder of the spool
 *   INODE        of the same
 *
 * 5.0 writes three lines. The pointer outlives its spool when the spool's memory is lost. SINKS then says which sinks wrote the
 * live outputs. It may name shared objects. So it is used only if no other user can have written the file, and so is PID.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_POINTER_H
#define DFT_POINTER_H

#include "base/identity.h"
#include "spool/spool.h"

typedef struct dft__pointer {
  char spool[DFT__PATH_MAX];            /* path */
  dft__identity owner;                  /* pid 0: unknown */
  uint64_t device, inode;               /* of the spool's folder; 0: unknown */
  char sinks[DFT__SINKS_MAX * 256 + 1]; /* empty: unknown, or not to be trusted */
} dft__pointer;

/* DFT_EBUSY when the claim exists. */
dft_status dft__pointer_write(const char *claim, const char *spool, const dft__identity *own, const char *sinks);
/* Zero when the claim is not a pointer of this user. */
int dft__pointer_read(const char *claim, dft__pointer *pointer);

/* The path of a spool elsewhere. Zero when it does not fit. */
int dft__pointer_spool(char *path, size_t size, const char *spool_dir, const char *folder, const char *base,
                       const dft__identity *own);
/* Whether a file of this path can be a spool: a pointer may lead to anything. */
int dft__pointer_is_spool_path(const char *path);

/* Of the owner of a pointer whose spool is not at its path. DEAD: it has ended, and the spool is gone. A spool may also be out of
 * sight: containers have a /dev/shm of their own. Then the owner is UNKNOWN. */
enum dft__life dft__pointer_life(const dft__pointer *pointer, const dft__identity *own);

/* Follows a claim to its spool: the same path, or where a pointer leads. STALE: the process is dead and the spool is gone.
 * ALIVE: only the spool is gone. */
enum dft__claim_kind {
  DFT__CLAIM_SPOOL,
  DFT__CLAIM_POINTER,
  DFT__CLAIM_STALE,
  DFT__CLAIM_ALIVE,
  DFT__CLAIM_FOREIGN,
  DFT__CLAIM_NONE,
};
enum dft__claim_kind dft__pointer_follow(const char *claim, const dft__identity *own, char *spool_path, size_t size);

#endif
