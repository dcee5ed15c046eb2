/* descriptor.h - the table of descriptors: is the file recorded, and which reference has its path?
 *
 * An entry is one word:
 *
 *   0           unknown: look the descriptor up at its next use
 *   1, 2        not recorded
 *   3           recorded; the reference has to be looked up
 *   otherwise   recorded: the session in the upper half, the path's reference in its names in the lower half
 * SPDX-License-Identifier: MIT */
#ifndef DFT_DESCRIPTOR_H
#define DFT_DESCRIPTOR_H

#include <stddef.h>

#include "base/atomic.h"

typedef uint64_t dft__fd_entry;
#define DFT__FD_UNKNOWN 0u
#define DFT__FD_OUT 1u        /* not recorded, but a file below it may be */
#define DFT__FD_OUT_BELOW 2u  /* not recorded, and neither is anything below it */
#define DFT__FD_IN 3u         /* recorded; the reference has to be looked up */
#define DFT__FD_FIRST_REF 16u /* references are never this small */
static inline dft__fd_entry dft__fd_entry_in(uint64_t session, uint32_t ref) {
  return session << 32 | ref;
}

#define DFT__FD_BLOCK 1024u
#define DFT__FD_BLOCKS 1024u
typedef _Atomic dft__fd_entry dft__fd_block[DFT__FD_BLOCK];
extern dft__fd_block dft__fd_first;

/* NULL for a number that the table does not hold. */
_Atomic dft__fd_entry *dft__fd_slot_far(int fd);
static inline _Atomic dft__fd_entry *dft__fd_slot(int fd) {
  if (DFT__LIKELY((unsigned)fd < DFT__FD_BLOCK)) return &dft__fd_first[fd];
  return dft__fd_slot_far(fd);
}
/* Certainly not recorded, whatever the state. Most calls of a program whose files are elsewhere end here. */
static inline int dft__fd_is_out(int fd) {
  if (DFT__UNLIKELY((unsigned)fd >= DFT__FD_BLOCK)) return 0;
  return DFT__GET(dft__fd_first[fd]) - DFT__FD_OUT <= DFT__FD_OUT_BELOW - DFT__FD_OUT;
}
/* Raises the highest number that has a reference. */
void dft__fd_reach(int fd);
static inline void dft__fd_set(int fd, dft__fd_entry entry) {
  _Atomic dft__fd_entry *slot = dft__fd_slot(fd);
  if (!slot) return;
  DFT__SET(*slot, entry);
  if (entry >= DFT__FD_FIRST_REF) dft__fd_reach(fd);
}
/* Forgets a descriptor and returns its entry. */
static inline dft__fd_entry dft__fd_take(int fd) {
  _Atomic dft__fd_entry *slot = fd < 0 ? NULL : dft__fd_slot(fd);
  dft__fd_entry known = slot ? DFT__GET(*slot) : DFT__FD_UNKNOWN;
  if (known != DFT__FD_UNKNOWN) DFT__SET(*slot, DFT__FD_UNKNOWN);
  return known;
}
void dft__fd_forget(unsigned first, unsigned last);
/* The files at this path and below it have a new name: their references are looked up again. */
void dft__fd_renamed(const char *path, size_t len);
/* Writes the path of a descriptor, not terminated, and returns its length; 0 when it has none. */
size_t dft__fd_text(int fd, char *text, size_t room);

#endif
