/* stack.c - the stack of open regions of the calling thread.
 * SPDX-License-Identifier: MIT */
#include "stack.h"

#include <errno.h>
#include <pthread.h>

#include "base/signals.h"

/* ---- Looking ------------------------------------------------------------------------------------------------------ */

/* Events inside a frame that is muted, not complete, or ended belong to the frame around it. What a frame without an id
 * says of itself counts for nothing: a handler may have come, or jumped away, before it was written. */
static inline dft__place place_in(const dft__frame *frame, uint32_t depth) {
  for (; DFT__LIKELY(depth); depth--, frame--) {
    uint64_t id = DFT__GET(frame->id);
    uint32_t level = DFT__GET(frame->level);
    if (DFT__UNLIKELY(!id)) continue;
    if (DFT__UNLIKELY(DFT__GET(frame->flags) & DFT__FRAME_MUTED)) return (dft__place){DFT__GET(frame->parent), level};
    return (dft__place){id, level + 1};
  }
  return (dft__place){0, 1};
}

dft__place dft__stack_place(const dft__own *own) {
  uint32_t depth = DFT__GET(own->thread->depth);
  uint32_t room = dft__area_room(DFT__GET(own->thread->frames));
  if (depth > room) depth = room;
  return place_in(dft__frames(own) + depth - 1, depth);
}

uint32_t dft__stack_find(const dft__own *own, dft_region region) {
  uint32_t depth = DFT__GET(own->thread->depth);
  dft__frame *frames = dft__frames(own);
  for (; depth; depth--) {
    uint64_t id = DFT__GET(frames[depth - 1].id);
    if (id == 0) continue;
    if (region ? id == region : !(DFT__GET(frames[depth - 1].flags) & DFT__FRAME_LEVEL)) return depth;
  }
  return 0;
}

/* ---- Room --------------------------------------------------------------------------------------------------------- */

/* Takes out the frames below `depth` that have ended, with their arguments; how many are left. A process that is killed
 * meanwhile may leave open regions with arguments of others. */
static uint32_t close_ranks(const dft__own *own, uint32_t depth) {
  dft__frame *frames = dft__frames(own);
  uint8_t *args = (uint8_t *)own->base + dft__area_offset(DFT__GET(own->thread->args));
  uint32_t kept = 0, used = 0;
  for (uint32_t i = 0; i < depth; i++) {
    const dft__frame *from = &frames[i];
    uint32_t begin = DFT__GET(from->args);
    uint32_t end = i + 1 < depth ? DFT__GET(from[1].args) : DFT__GET(own->thread->args_used);
    uint64_t id = DFT__GET(from->id);
    if (!id) continue;
    if (kept < i) {
      dft__frame *to = &frames[kept];
      memmove(args + used, args + begin, end - begin);
      DFT__SET(to->start, DFT__GET(from->start));
      DFT__SET(to->parent, DFT__GET(from->parent));
      DFT__SET(to->site, DFT__GET(from->site));
      DFT__SET(to->level, DFT__GET(from->level));
      DFT__SET(to->args, used);
      DFT__SET(to->flags, DFT__GET(from->flags));
      DFT__RELEASE(to->id, id); /* for a moment it is there twice: see openregion.c */
      DFT__RELEASE(frames[i].id, 0);
    }
    used += end - begin;
    kept++;
  }
  for (uint32_t i = kept; i < depth; i++) DFT__SET(frames[i].flags, 0); /* what is reserved there has not ended */
  memset(args + used, 0, 8);                                            /* the end of the list */
  DFT__SET(own->thread->args_used, used);
  return kept;
}

static int are_handlers_silent;

void dft_handlers_are_silent(void) {
  __atomic_store_n(&are_handlers_silent, 1, __ATOMIC_RELAXED);
}

/* A frame is reserved at `depth` and finds no room; the place it has then. Regions of interleaved coroutines end below
 * others, again and again: when most have ended, they are removed. Not inside a signal handler, because the call that it
 * interrupted may hold a place as well. Blocked signals reveal a handler, but not every one. */
static uint32_t tidy(const dft__own *own, uint32_t depth) {
  uint64_t before = dft__signals_block();
  uint32_t room = dft__area_room(DFT__GET(own->thread->frames)), open = 0;
  int is_safe = depth == room && DFT__GET(own->thread->depth) == depth + 1 && !dft__signals_may_be_handler(before);
  is_safe &= !DFT__GET(own->thread->busy);
  for (uint32_t i = 0; is_safe && i < depth; i++) {
    const dft__frame *frame = &dft__frames(own)[i];
    if (DFT__GET(frame->id)) open++;
    else is_safe = (DFT__GET(frame->flags) & DFT__FRAME_ENDED) != 0; /* else somebody is about to fill it */
  }
  if (is_safe && open <= depth / 2) {
    depth = close_ranks(own, depth);
    DFT__SET(own->thread->depth, depth + 1);
  }
  dft__signals_restore(before);
  return depth;
}

/* No room: the region is not recorded, and its end will be ignored. */
static dft_region overflow(const dft__own *own) {
  dft__own_add32(&own->thread->depth, UINT32_MAX);
  dft__own_add32(&own->thread->overflow, 1);
  dft__count_drop((dft__header *)own->base);
  return 0;
}

static int grow(const dft__own *own) {
  int saved = errno;
  int cancel, is_done;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  is_done = dft__thread_grow_frames(own);
  pthread_setcancelstate(cancel, NULL);
  errno = saved;
  return is_done;
}

/* ---- Pushing ------------------------------------------------------------------------------------------------------ */

dft_region dft__stack_push_at(uint64_t session, char *base, dft__thread *thread, uint32_t depth, uint64_t id,
                              uint64_t marks) {
  const dft__own own = dft__own_of(session, base, thread);
  for (;;) {
    uint64_t area = DFT__GET(thread->frames);
    dft__frame *frame = (dft__frame *)(base + dft__area_offset(area)) + depth;
    dft__place place;
    if (depth >= dft__area_room(area)) {
      uint32_t reserved = depth;
      if (__atomic_load_n(&are_handlers_silent, __ATOMIC_RELAXED) && !DFT__GET(thread->overflow))
        depth = tidy(&own, depth); /* else it was in vain, a moment ago */
      if (depth == reserved && !grow(&own)) return overflow(&own);
      continue;
    }
    place = place_in(frame - 1, depth);
    DFT__SET(frame->parent, place.parent);
    DFT__SET(frame->level, place.level);
    DFT__SET(frame->site, (uint32_t)marks);
    DFT__SET(frame->args, DFT__GET(thread->args_used));
    DFT__SET(frame->flags, (uint32_t)(marks >> 32));
    DFT__SET(frame->start, dft__clock_ticks());
    DFT__RELEASE(frame->id, id);
    atomic_signal_fence(memory_order_seq_cst);
    if (DFT__GET(thread->frames) == area) return id;
  }
}

dft_region dft__stack_push_numbered(uint64_t session, char *base, dft__thread *thread, uint64_t marks) {
  const dft__own own = dft__own_of(session, base, thread);
  uint64_t id = dft__thread_next_block(&own);
  return dft__stack_push_at(session, base, thread, dft__own_add32(&thread->depth, 1), id, marks);
}

dft_region dft__stack_push_timed(uint64_t session, char *base, dft__thread *thread, uint64_t id, dft__frame *frame,
                                 uint64_t area) {
  uint32_t depth = (uint32_t)(frame - (dft__frame *)(base + dft__area_offset(area)));
  uint64_t marks = dft__stack_mark(DFT__GET(frame->site), DFT__GET(frame->flags));
  DFT__SET(frame->start, dft_ticks());
  DFT__RELEASE(frame->id, id);
  atomic_signal_fence(memory_order_seq_cst);
  if (DFT__LIKELY(DFT__GET(thread->frames) == area)) return id;
  return dft__stack_push_at(session, base, thread, depth, id, marks);
}

/* ---- Taking off --------------------------------------------------------------------------------------------------- */

/* Frames on top that had ended before those above them: takes off up to `most`, and returns how many frames are left. */
static uint32_t pop_some(const dft__own *own, uint32_t depth, uint32_t most) {
  dft__frame *frame = dft__frames(own) + depth;
  for (; depth && most && DFT__GET((--frame)->flags) & DFT__FRAME_ENDED; most--) {
    DFT__SET(frame->flags, 0);
    dft__stack_cut_args(own, DFT__GET(frame->args));
    DFT__SET(own->thread->depth, --depth);
  }
  return depth;
}

#define POP_FEW 64u

/* Where there are many, no signal handler comes between: each event of one would look for its place below them all. */
void dft__stack_pop_ended(uint64_t session, char *base, dft__thread *thread, uint32_t depth) {
  const dft__own own = dft__own_of(session, base, thread);
  uint32_t left = pop_some(&own, depth, POP_FEW);
  if (DFT__UNLIKELY(depth - left == POP_FEW)) {
    uint64_t before = dft__signals_block();
    pop_some(&own, left, UINT32_MAX);
    dft__signals_restore(before);
  }
}

void dft__stack_pop(const dft__own *own, uint32_t depth, dft__frame *frame) {
  dft__stack_cut_args(own, DFT__GET(frame->args));
  DFT__SET(frame->id, 0);
  DFT__SET(own->thread->depth, depth - 1);
  if (dft__stack_is_above_ended(depth, frame)) dft__stack_pop_ended(own->session, own->base, own->thread, depth - 1);
}

uint32_t dft__stack_drop_abandoned(const dft__own *own) {
  uint32_t depth = DFT__GET(own->thread->depth);
  while (depth && !DFT__GET(dft__frames(own)[depth - 1].id)) {
    dft__stack_pop(own, depth, &dft__frames(own)[depth - 1]);
    depth = DFT__GET(own->thread->depth);
  }
  return depth;
}

void dft__stack_leave(const dft__own *own, uint32_t depth, int is_seen) {
  uint32_t top = DFT__GET(own->thread->depth);
  dft__frame *frame = &dft__frames(own)[depth - 1];
  if (DFT__LIKELY(depth == top)) {
    dft__stack_pop(own, depth, frame);
    return;
  }
  DFT__SET(frame->flags, DFT__FRAME_ENDED);
  for (uint32_t above = depth; is_seen && above < top; above++) {
    dft__frame *other = &dft__frames(own)[above];
    DFT__SET(other->flags, DFT__GET(other->flags) | DFT__FRAME_CROSSED);
  }
}

int dft__stack_end_overflow(const dft__own *own) {
  if (DFT__LIKELY(!DFT__GET(own->thread->overflow))) return 0;
  dft__own_add32(&own->thread->overflow, UINT32_MAX);
  return 1;
}
