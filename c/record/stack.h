/* stack.h - the stack of open regions of the calling thread: its frames, and their arguments behind each other.
 *
 * A frame is reserved by one addition and gets its id last, so a signal handler may use the stack at any moment.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_STACK_H
#define DFT_STACK_H

#include "spool/clock.h"
#include "thread.h"

#define DFT__FRAME_ENDED 32u /* a frame that ended before those above it; it is taken off after them */
/* Frames whose event, if they have one, is not on the thread's own track: nothing there overlaps it. */
#define DFT__FRAME_UNSEEN (DFT__FRAME_MUTED | DFT__FRAME_LEVEL | DFT__FRAME_CROSSED)

/* ---- Looking ---- */

/* The parent and level of an event that begins now. */
typedef struct dft__place {
  uint64_t parent;
  uint32_t level;
} dft__place;
dft__place dft__stack_place(const dft__own *own);

/* Index + 1 of an open region, the innermost for 0; 0 when there is none. */
uint32_t dft__stack_find(const dft__own *own, dft_region region);

/* ---- Pushing ---- */

/* The usual case is one inline function that calls nothing, so that it needs no registers saved. Everything else leaves it
 * by a tail call, with the frame's site and flags in one word, and the thread's state as its parts. */
static inline uint64_t dft__stack_mark(uint32_t site, uint32_t flags) {
  return (uint64_t)flags << 32 | site;
}

/* `depth` is reserved, and there is no room for it; or the frame below is unusual; or a signal handler moved the stack while
 * the frame was written. */
dft_region dft__stack_push_at(uint64_t session, char *base, dft__thread *thread, uint32_t depth, uint64_t id,
                              uint64_t marks);
/* This thread's block of ids is used up. */
dft_region dft__stack_push_numbered(uint64_t session, char *base, dft__thread *thread, uint64_t marks);
/* The frame is written but for its time, and reading the clock takes a call. */
dft_region dft__stack_push_timed(uint64_t session, char *base, dft__thread *thread, uint64_t id, dft__frame *frame,
                                 uint64_t area);

static inline __attribute__((always_inline)) dft_region dft__stack_push(const dft__own *own, uint32_t site,
                                                                        uint32_t flags) {
  dft__thread *thread = own->thread;
  uint64_t parent = 0, id = DFT__GET(thread->next_id), area, now;
  uint32_t level = 1, depth;
  dft__frame *frame;
  if (DFT__UNLIKELY(id % DFT__ID_BLOCK == 0 || !dft__own_cas64(&thread->next_id, id, id + 1)))
    return dft__stack_push_numbered(own->session, own->base, thread, dft__stack_mark(site, flags));
  depth = dft__own_add32(&thread->depth, 1);
  area = DFT__GET(thread->frames);
  frame = (dft__frame *)(own->base + dft__area_offset(area)) + depth;
  if (DFT__UNLIKELY(depth >= dft__area_room(area)))
    return dft__stack_push_at(own->session, own->base, thread, depth, id, dft__stack_mark(site, flags));
  if (depth) {
    parent = DFT__GET(frame[-1].id);
    level = DFT__GET(frame[-1].level) + 1;
    if (DFT__UNLIKELY(!parent || DFT__GET(frame[-1].flags) & DFT__FRAME_MUTED))
      return dft__stack_push_at(own->session, own->base, thread, depth, id, dft__stack_mark(site, flags));
  }
  DFT__SET(frame->parent, parent);
  DFT__SET(frame->level, level);
  DFT__SET(frame->site, site);
  DFT__SET(frame->args, DFT__GET(thread->args_used));
  DFT__SET(frame->flags, flags);
  if (DFT__UNLIKELY(!dft__clock_quick(&now)))
    return dft__stack_push_timed(own->session, own->base, thread, id, frame, area);
  DFT__SET(frame->start, now);
  DFT__RELEASE(frame->id, id);
  atomic_signal_fence(memory_order_seq_cst);
  if (DFT__LIKELY(DFT__GET(thread->frames) == area)) return id;
  return dft__stack_push_at(own->session, own->base, thread, depth, id, dft__stack_mark(site, flags));
}

/* ---- Taking off ---- */

/* A region is open until its record has a place, which may take long when the spool is full; then it is recorded. Clears the id
 * of the frame at depth - 1, unless depth is 0. */
static inline void dft__frame_close(const dft__own *own, uint32_t depth) {
  if (depth) DFT__SET(dft__frames(own)[depth - 1].id, 0);
  atomic_signal_fence(memory_order_seq_cst);
}

/* Takes off the arguments behind `used`; the list ends there. */
static inline void dft__stack_cut_args(const dft__own *own, uint32_t used) {
  dft__thread *thread = own->thread;
  uint64_t *end = (uint64_t *)(own->base + dft__area_offset(DFT__GET(thread->args)) + used);
  if (DFT__LIKELY(DFT__GET(thread->args_used) == used)) return;
  __atomic_store_n(end, 0, __ATOMIC_RELAXED);
  DFT__SET(thread->args_used, used);
}

static inline int dft__stack_is_above_ended(uint32_t depth, const dft__frame *frame) {
  return depth > 1 && DFT__GET(frame[-1].flags) & DFT__FRAME_ENDED;
}
/* Takes off the topmost frames, up to `depth`, that ended before those above them. */
void dft__stack_pop_ended(uint64_t session, char *base, dft__thread *thread, uint32_t depth);

/* Takes off the topmost frame, and those below that ended before it. */
void dft__stack_pop(const dft__own *own, uint32_t depth, dft__frame *frame);

/* Takes off topmost frames that a long jump out of a signal handler left behind: they have no id and did not end. Returns the
 * depth that is left. */
uint32_t dft__stack_drop_abandoned(const dft__own *own);

/* Takes off a frame whose event is recorded or needs no record. When it is not the topmost, those above outlive it: an event that
 * is seen on the thread's own track overlaps theirs. */
void dft__stack_leave(const dft__own *own, uint32_t depth, int is_seen);

/* Nonzero when an end belongs to a region that had no room on the stack, and is now dealt with. */
int dft__stack_end_overflow(const dft__own *own);

#endif
