/* region.h - the stack of open regions of the calling thread.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_REGION_H
#define DFT_REGION_H

#include "thread.h"

#define DFT__FRAME_ENDED 32u /* a frame that ended before those above it; it goes when they have gone */
/* Frames whose event, if they have one, is not on the thread's own track: nothing there overlaps it. */
#define DFT__FRAME_UNSEEN (DFT__FRAME_MUTED | DFT__FRAME_LEVEL | DFT__FRAME_CROSSED)

/* The id and level an event gets that begins now, below the frames up to `depth`. */
typedef struct dft__place {
  uint64_t parent;
  uint32_t level;
} dft__place;
dft__place dft__region_place(const dft__own *own);

/* Index + 1 of an open region on this thread's stack, the innermost for 0; 0 when there is none. */
uint32_t dft__region_find(const dft__own *own, dft_region region);

/* I/O calls; a trace of nothing else is no annotated one. */
static inline int dft__is_io(const char *cat) {
  return cat && (strcmp(cat, "POSIX") == 0 || strcmp(cat, "STDIO") == 0);
}

/* Something other than an I/O call was recorded. In the call's own spool: the session may have ended meanwhile. */
static inline void dft__note_annotated(const dft__own *own) {
  dft__header *header = (dft__header *)own->base;
  if (DFT__UNLIKELY(!DFT__GET(header->annotated))) DFT__SET(header->annotated, 1);
}

/* A frame whose event is settled comes off the stack. When it is not the topmost, those above outlive it: an event that is
 * seen on the thread's own track overlaps theirs. */
void dft__end_leave(const dft__own *own, uint32_t depth, int is_seen);
/* Ends any frame of the stack, wherever it stands, with a record where it has one. */
void dft__end_frame(const dft__own *own, uint32_t depth, uint64_t now);
/* Nonzero when the end belongs to a region that had no room, and is done with. */
int dft__end_overflow(const dft__own *own);

/* The reference of a site, as dft__intern_site gives it. */
uint32_t dft__site_register(const dft__own *own, dft_site *site);
static inline uint32_t dft__site_ref(const dft__own *own, dft_site *site) {
  uint64_t cache = __atomic_load_n(&site->cache, __ATOMIC_RELAXED);
  if (DFT__LIKELY((uint32_t)(cache >> 32) == (uint32_t)own->session)) return (uint32_t)cache;
  return dft__site_register(own, site);
}

/* The same by name and category; a site that was the last one at these addresses is found without hashing. */
uint32_t dft__site_named(const dft__own *own, const char *name, size_t name_len, const char *cat, size_t cat_len);

/* Names that are missing or too long for the registry. */
const char *dft__name_or_default(const char *name, size_t *len);

#endif
