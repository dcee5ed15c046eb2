/* region.c - regions: the stack, begin, levels.
 *
 * A frame is reserved by one addition and gets its id last, so a signal handler may use the stack at any moment. At the
 * end the id is cleared when the record has its place, before it is written: a region is open or recorded, never both.
 * SPDX-License-Identifier: MIT */
#include "region.h"

#include <errno.h>
#include <pthread.h>

#include "base/signals.h"
#include "emit.h"
#include "spool/clock.h"
#include "spool/intern.h"

/* ---- Sites -------------------------------------------------------------------------------------------------------- */

const char *dft__name_or_default(const char *name, size_t *len) {
  if (!name || !*len) {
    *len = 9;
    return "(unnamed)";
  }
  *len = dft__text_limit(name, *len, DFT__NAME_MAX);
  return name;
}

uint32_t dft__site_register(const dft__own *own, dft_site *site) {
  size_t name_len = site->name ? strlen(site->name) : 0;
  size_t cat_len = site->cat ? strlen(site->cat) : 0;
  const char *name = dft__name_or_default(site->name, &name_len);
  const char *cat = dft__name_or_default(site->cat, &cat_len);
  uint32_t ref = dft__intern_site(dft__thread_spool(), name, name_len, cat, cat_len);
  if (ref) __atomic_store_n(&site->cache, own->session << 32 | ref, __ATOMIC_RELAXED);
  return ref;
}

/* References of sites by the address of their texts, which in a loop stay the same; with the session, as in a dft_site. The
 * texts are compared, so a slot that is out of date costs time only. */
static _Atomic uint64_t recent[256];

static inline _Atomic uint64_t *recent_slot(const char *name, const char *cat) {
  return &recent[((uintptr_t)name ^ (uintptr_t)name >> 8 ^ (uintptr_t)cat) % 256];
}

/* 0 when it is not there. */
static inline uint32_t recall(const dft__own *own, const char *name, size_t name_len, const char *cat, size_t cat_len) {
  uint64_t seen = DFT__ACQUIRE(*recent_slot(name, cat)); /* pairs with the store in dft__site_named */
  const dft__name *site = (const dft__name *)(own->base + (seen & UINT32_MAX) * 16);
  const dft__name *in;
  if (DFT__UNLIKELY((uint32_t)(seen >> 32) != (uint32_t)own->session || site->len != name_len)) return 0;
  in = (const dft__name *)(own->base + (uint64_t)site->cat * 16);
  if (DFT__UNLIKELY(in->len != cat_len || !dft__same_bytes(site->text, name, name_len))) return 0;
  return DFT__LIKELY(dft__same_bytes(in->text, cat, cat_len)) ? (uint32_t)seen : 0;
}

uint32_t dft__site_named(const dft__own *own, const char *name, size_t name_len, const char *cat, size_t cat_len) {
  uint32_t ref = recall(own, name, name_len, cat, cat_len);
  if (ref) return ref;
  ref = dft__intern_site(dft__thread_spool(), name, name_len, cat, cat_len);
  if (ref && !(ref & DFT__SITE_MUTED)) DFT__RELEASE(*recent_slot(name, cat), own->session << 32 | ref);
  return ref;
}

/* ---- The stack ---------------------------------------------------------------------------------------------------- */

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

dft__place dft__region_place(const dft__own *own) {
  uint32_t depth = DFT__GET(own->thread->depth);
  uint32_t room = dft__area_room(DFT__GET(own->thread->frames));
  if (depth > room) depth = room;
  return place_in(dft__frames(own) + depth - 1, depth);
}

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

/* A frame is reserved at `depth` and finds no room; the place it has then. Regions of coroutines that take turns end below
 * others, again and again: where most have ended, they go. Not where a signal handler may be at it, because whom it
 * interrupted may hold a place, too; a handler can be told by what is blocked, but not every one. */
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

/* Below: the rule in one inline function that calls nothing, so that it needs no registers saved; everything else leaves it
 * by a tail call. A frame's site and flags travel in one word then, and the thread's state as what it consists of. */
static inline uint64_t mark(uint32_t site, uint32_t flags) {
  return (uint64_t)flags << 32 | site;
}

/* `depth` is reserved, and there is no room for it; or its surroundings are not the rule; or a signal handler moved the stack
 * while the frame was written. */
__attribute__((noinline)) static dft_region push_at(uint64_t session, char *base, dft__thread *thread, uint32_t depth,
                                                    uint64_t id, uint64_t marks) {
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

/* This thread's block of ids is used up. */
__attribute__((noinline)) static dft_region push_numbered(uint64_t session, char *base, dft__thread *thread,
                                                          uint64_t marks) {
  const dft__own own = dft__own_of(session, base, thread);
  uint64_t id = dft__thread_next_block(&own);
  return push_at(session, base, thread, dft__own_add32(&thread->depth, 1), id, marks);
}

/* The frame is written but for its time, which takes a call. */
__attribute__((noinline)) static dft_region push_timed(uint64_t session, char *base, dft__thread *thread, uint64_t id,
                                                       dft__frame *frame, uint64_t area) {
  uint32_t depth = (uint32_t)(frame - (dft__frame *)(base + dft__area_offset(area)));
  uint64_t marks = mark(DFT__GET(frame->site), DFT__GET(frame->flags));
  DFT__SET(frame->start, dft_ticks());
  DFT__RELEASE(frame->id, id);
  atomic_signal_fence(memory_order_seq_cst);
  if (DFT__LIKELY(DFT__GET(thread->frames) == area)) return id;
  return push_at(session, base, thread, depth, id, marks);
}

static inline __attribute__((always_inline)) dft_region push(const dft__own *own, uint32_t site, uint32_t flags) {
  dft__thread *thread = own->thread;
  uint64_t parent = 0, id = DFT__GET(thread->next_id), area, now;
  uint32_t level = 1, depth;
  dft__frame *frame;
  if (DFT__UNLIKELY(id % DFT__ID_BLOCK == 0 || !dft__own_cas64(&thread->next_id, id, id + 1)))
    return push_numbered(own->session, own->base, thread, mark(site, flags));
  depth = dft__own_add32(&thread->depth, 1);
  area = DFT__GET(thread->frames);
  frame = (dft__frame *)(own->base + dft__area_offset(area)) + depth;
  if (DFT__UNLIKELY(depth >= dft__area_room(area)))
    return push_at(own->session, own->base, thread, depth, id, mark(site, flags));
  if (depth) {
    parent = DFT__GET(frame[-1].id);
    level = DFT__GET(frame[-1].level) + 1;
    if (DFT__UNLIKELY(!parent || DFT__GET(frame[-1].flags) & DFT__FRAME_MUTED))
      return push_at(own->session, own->base, thread, depth, id, mark(site, flags));
  }
  DFT__SET(frame->parent, parent);
  DFT__SET(frame->level, level);
  DFT__SET(frame->site, site);
  DFT__SET(frame->args, DFT__GET(thread->args_used));
  DFT__SET(frame->flags, flags);
  if (DFT__UNLIKELY(!dft__clock_quick(&now))) return push_timed(own->session, own->base, thread, id, frame, area);
  DFT__SET(frame->start, now);
  DFT__RELEASE(frame->id, id);
  atomic_signal_fence(memory_order_seq_cst);
  if (DFT__LIKELY(DFT__GET(thread->frames) == area)) return id;
  return push_at(own->session, own->base, thread, depth, id, mark(site, flags));
}

/* Regions that are not recorded. */
__attribute__((noinline)) static dft_region push_muted(const dft__own *own) {
  return push(own, 0, DFT__FRAME_MUTED);
}

uint32_t dft__region_find(const dft__own *own, dft_region region) {
  uint32_t depth = DFT__GET(own->thread->depth);
  dft__frame *frames = dft__frames(own);
  for (; depth; depth--) {
    uint64_t id = DFT__GET(frames[depth - 1].id);
    if (id == 0) continue;
    if (region ? id == region : !(DFT__GET(frames[depth - 1].flags) & DFT__FRAME_LEVEL)) return depth;
  }
  return 0;
}

/* ---- Begin -------------------------------------------------------------------------------------------------------- */

/* Everything that is not the rule: no session yet, paused, a new site, one that is muted or has no reference. */
__attribute__((noinline)) static dft_region begin_slow(dft_site *site) {
  dft__own own;
  enum dft__readiness ready = dft__thread_take(&own);
  uint32_t ref;
  if (ready != DFT__READY) return ready == DFT__OFF ? 0 : push_muted(&own);
  if (!site) return dft_region_begin_n(NULL, 0, NULL, 0);
  ref = dft__site_ref(&own, site);
  if (!ref) return dft_region_begin_named(site->name, site->cat);
  if (ref & DFT__SITE_MUTED) return push_muted(&own);
  if (!dft__is_io(site->cat)) dft__note_annotated(&own);
  return push(&own, ref, 0);
}

dft_region dft_region_begin_site(dft_site *site) {
  dft__own own;
  uint64_t cache;
  if (DFT__UNLIKELY(!dft__own_copy(&own) || !site)) return dft_is_active() ? begin_slow(site) : 0;
  cache = __atomic_load_n(&site->cache, __ATOMIC_RELAXED);
  if (DFT__UNLIKELY((uint32_t)(cache >> 32) != (uint32_t)own.session || (int32_t)cache <= 0)) return begin_slow(site);
  return push(&own, (uint32_t)cache, 0);
}

/* The name of an event that could not be registered travels among its arguments. */
static void update_label(const dft__own *own, const char *name, size_t name_len, const char *cat, size_t cat_len) {
  dft__ready_item item;
  uint32_t bytes = dft__item_text(&item, DFT__KEY_NAME, NULL, 0, DFT_STRING, name, name_len);
  dft__argument_add(own, &item, bytes);
  bytes = dft__item_text(&item, DFT__KEY_CAT, NULL, 0, DFT_STRING, cat, cat_len);
  dft__argument_add(own, &item, bytes);
}

/* A name that was not the last one at its address, and all that begin_slow is for. */
__attribute__((noinline)) static dft_region begin_named_slow(const char *name, size_t name_len, const char *cat,
                                                             size_t cat_len) {
  dft__own own;
  enum dft__readiness ready = dft__thread_take(&own);
  dft_region region;
  uint32_t ref;
  if (DFT__UNLIKELY(ready != DFT__READY)) return ready == DFT__OFF ? 0 : push_muted(&own);
  name = dft__name_or_default(name, &name_len);
  cat = dft__name_or_default(cat, &cat_len);
  ref = dft__site_named(&own, name, name_len, cat, cat_len);
  if (DFT__UNLIKELY(ref & DFT__SITE_MUTED)) return push_muted(&own);
  dft__note_annotated(&own);
  region = push(&own, ref, 0);
  if (DFT__UNLIKELY(!ref && region)) update_label(&own, name, name_len, cat, cat_len);
  return region;
}

dft_region dft_region_begin_n(const char *name, size_t name_len, const char *cat, size_t cat_len) {
  dft__own own;
  uint32_t ref;
  if (DFT__UNLIKELY(!dft__own_copy(&own) || !name || !cat)) {
    return dft_is_active() ? begin_named_slow(name, name_len, cat, cat_len) : 0;
  }
  ref = recall(&own, name, name_len, cat, cat_len);
  if (DFT__UNLIKELY(!ref)) return begin_named_slow(name, name_len, cat, cat_len);
  return push(&own, ref, 0);
}

/* ---- Levels ------------------------------------------------------------------------------------------------------- */

int32_t dft_enter(void) {
  dft__own own;
  uint32_t depth;
  enum dft__readiness ready;
  if (!dft_is_active() || (ready = dft__thread_take(&own)) == DFT__OFF) return 0;
  depth = DFT__GET(own.thread->depth);
  push(&own, 0, DFT__FRAME_LEVEL | (ready == DFT__PAUSED ? DFT__FRAME_MUTED : 0));
  return (int32_t)depth;
}

void dft_exit(void) {
  dft__own copy;
  const dft__own *own = &copy;
  dft__frame *frames;
  if (!dft_is_active() || dft__thread_take(&copy) == DFT__OFF || dft__end_overflow(own)) return;
  frames = dft__frames(own);
  for (uint32_t depth = DFT__GET(own->thread->depth); depth; depth--) {
    if (DFT__GET(frames[depth - 1].id) && DFT__GET(frames[depth - 1].flags) & DFT__FRAME_LEVEL) {
      dft__end_frame(own, depth, 0);
      return;
    }
  }
}
