/* region.c - regions: begin, end, levels.
 *
 * A frame is reserved by one addition and gets its id last, so a signal handler may use the stack at any moment. At the
 * end the id is cleared when the record has its place, before it is written: a region is open or recorded, never both.
 * SPDX-License-Identifier: MIT */
#include "region.h"

#include <errno.h>
#include <pthread.h>

#include "clock.h"
#include "emit.h"
#include "intern.h"
#include "session.h"

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
  uint32_t ref = dft__intern_site(&dft__session.spool, name, name_len, cat, cat_len);
  if (ref) __atomic_store_n(&site->cache, own->session << 32 | ref, __ATOMIC_RELAXED);
  return ref;
}

/* References of sites by the address of their texts, which in a loop stay the same; with the session, as in a dft_site. The
 * texts are compared, so a slot that is out of date costs time only. */
static _Atomic uint64_t recent[256];

uint32_t dft__site_named(const dft__own *own, const char *name, size_t name_len, const char *cat, size_t cat_len) {
  _Atomic uint64_t *slot = &recent[((uintptr_t)name ^ (uintptr_t)name >> 8 ^ (uintptr_t)cat) % 256];
  uint64_t seen = DFT__GET(*slot);
  uint32_t ref = (uint32_t)seen;
  if (DFT__LIKELY((uint32_t)(seen >> 32) == (uint32_t)own->session)) {
    const dft__name *site = (const dft__name *)(own->base + (uint64_t)ref * 16);
    const dft__name *in = (const dft__name *)(own->base + (uint64_t)site->cat * 16);
    if (site->len == name_len && in->len == cat_len && dft__same_bytes(site->text, name, name_len) &&
        dft__same_bytes(in->text, cat, cat_len)) {
      return ref;
    }
  }
  ref = dft__intern_site(&dft__session.spool, name, name_len, cat, cat_len);
  if (ref && !(ref & DFT__SITE_MUTED)) DFT__SET(*slot, own->session << 32 | ref);
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

static inline void write_frame(dft__frame *frame, uint32_t depth, uint32_t args, uint32_t site, uint32_t flags) {
  dft__place place = place_in(frame - 1, depth);
  DFT__SET(frame->parent, place.parent);
  DFT__SET(frame->level, place.level);
  DFT__SET(frame->site, site);
  DFT__SET(frame->args, args);
  DFT__SET(frame->flags, flags);
  DFT__SET(frame->start, dft__clock_ticks());
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

/* `depth` is reserved, and there is no room for it; or a signal handler moved the stack while the frame was written. */
__attribute__((noinline)) static dft_region push_again(const dft__own *own, uint32_t depth, uint64_t id, uint32_t site,
                                                       uint32_t flags) {
  dft__thread *thread = own->thread;
  for (;;) {
    uint64_t area = DFT__GET(thread->frames);
    dft__frame *frame = (dft__frame *)(own->base + dft__area_offset(area)) + depth;
    if (depth >= dft__area_room(area)) {
      if (!grow(own)) return overflow(own);
      continue;
    }
    write_frame(frame, depth, DFT__GET(thread->args_used), site, flags);
    DFT__RELEASE(frame->id, id);
    atomic_signal_fence(memory_order_seq_cst);
    if (DFT__GET(thread->frames) == area) return id;
  }
}

static inline dft_region push(const dft__own *own, uint32_t site, uint32_t flags) {
  dft__thread *thread = own->thread;
  uint64_t id = dft__thread_next_id(own);
  uint32_t depth = dft__own_add32(&thread->depth, 1);
  uint64_t area = DFT__GET(thread->frames);
  dft__frame *frame = (dft__frame *)(own->base + dft__area_offset(area)) + depth;
  if (DFT__UNLIKELY(depth >= dft__area_room(area))) goto again;
  write_frame(frame, depth, DFT__GET(thread->args_used), site, flags);
  DFT__RELEASE(frame->id, id);
  atomic_signal_fence(memory_order_seq_cst);
  if (DFT__LIKELY(DFT__GET(thread->frames) == area)) return id;
again:;
  const dft__own slow = *own;
  return push_again(&slow, depth, id, site, flags);
}

/* Regions that are not recorded. */
__attribute__((noinline)) static dft_region push_muted(const dft__own *own) {
  return push(own, 0, DFT__FRAME_MUTED);
}

/* Takes the topmost frame off, and those below that ended before it. */
static inline void pop(const dft__own *own, uint32_t depth, dft__frame *frame) {
  dft__thread *thread = own->thread;
  dft__argument_cut(own, DFT__GET(frame->args));
  DFT__SET(frame->id, 0);
  DFT__SET(thread->depth, --depth);
  while (DFT__UNLIKELY(depth && DFT__GET((--frame)->flags) & DFT__FRAME_ENDED)) {
    DFT__SET(frame->flags, 0);
    dft__argument_cut(own, DFT__GET(frame->args));
    DFT__SET(thread->depth, --depth);
  }
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

static inline void note_annotated(const dft__own *own) {
  dft__header *header = (dft__header *)own->base;
  if (DFT__UNLIKELY(!DFT__GET(header->annotated))) DFT__SET(header->annotated, 1);
}

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
  if (!dft__is_io(site->cat)) note_annotated(&own);
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

dft_region dft_region_begin_n(const char *name, size_t name_len, const char *cat, size_t cat_len) {
  dft__own own;
  enum dft__readiness ready = dft__thread_take(&own);
  dft_region region;
  uint32_t ref;
  if (DFT__UNLIKELY(ready != DFT__READY)) return ready == DFT__OFF ? 0 : push_muted(&own);
  name = dft__name_or_default(name, &name_len);
  cat = dft__name_or_default(cat, &cat_len);
  ref = dft__site_named(&own, name, name_len, cat, cat_len);
  if (DFT__UNLIKELY(ref & DFT__SITE_MUTED)) return push_muted(&own);
  note_annotated(&own);
  region = push(&own, ref, 0);
  if (DFT__UNLIKELY(!ref && region)) update_label(&own, name, name_len, cat, cat_len);
  return region;
}

/* ---- End ---------------------------------------------------------------------------------------------------------- */

/* A frame whose event is settled comes off the stack. When it is not the topmost, those above outlive it: an event that is
 * seen in the trace overlaps theirs. */
static void leave(const dft__own *own, uint32_t depth, int is_seen) {
  uint32_t top = DFT__GET(own->thread->depth);
  dft__frame *frame = &dft__frames(own)[depth - 1];
  if (DFT__LIKELY(depth == top)) {
    pop(own, depth, frame);
    return;
  }
  DFT__SET(frame->flags, DFT__FRAME_ENDED);
  for (uint32_t above = depth; is_seen && above < top; above++) {
    dft__frame *other = &dft__frames(own)[above];
    DFT__SET(other->flags, DFT__GET(other->flags) | DFT__FRAME_CROSSED);
  }
}

/* Any frame, wherever it stands. */
__attribute__((noinline)) static void end_frame(const dft__own *own, uint32_t depth, uint64_t now) {
  dft__thread *thread = own->thread;
  uint32_t top = DFT__GET(thread->depth);
  dft__frame *frame = &dft__frames(own)[depth - 1];
  uint32_t flags = DFT__GET(frame->flags);
  uint32_t args = DFT__GET(frame->args);
  uint32_t args_end = DFT__LIKELY(depth == top) ? DFT__GET(thread->args_used) : DFT__GET(frame[1].args);
  dft__what what = {.kind = DFT__KIND_COMPLETE,
                    .start = DFT__GET(frame->start),
                    .end = now,
                    .id = DFT__GET(frame->id),
                    .parent = DFT__GET(frame->parent),
                    .site = DFT__GET(frame->site),
                    .level = DFT__GET(frame->level),
                    .ends = depth};
  if (DFT__LIKELY(!(flags & (DFT__FRAME_MUTED | DFT__FRAME_LEVEL)))) {
    if (DFT__UNLIKELY(flags & DFT__FRAME_CROSSED)) what.lane = dft__thread_lane(own, what.start, now);
    if (DFT__UNLIKELY(flags & DFT__FRAME_LOST)) dft__argument_settle(own, frame, args_end);
    dft__emit(own, &what, (uint8_t *)own->base + dft__area_offset(DFT__GET(thread->args)) + args, args_end - args);
  } else {
    dft__frame_close(own, depth);
  }
  leave(own, depth, !(flags & (DFT__FRAME_MUTED | DFT__FRAME_LEVEL)));
}

static int end_overflow(const dft__own *own) {
  if (DFT__LIKELY(!DFT__GET(own->thread->overflow))) return 0;
  dft__own_add32(&own->thread->overflow, UINT32_MAX);
  return 1;
}

/* Frames that a long jump out of a signal handler left behind have no id and did not end. */
static uint32_t drop_abandoned(const dft__own *own) {
  uint32_t depth = DFT__GET(own->thread->depth);
  while (depth && !DFT__GET(dft__frames(own)[depth - 1].id)) {
    pop(own, depth, &dft__frames(own)[depth - 1]);
    depth = DFT__GET(own->thread->depth);
  }
  return depth;
}

/* Whatever is not the rule: too deep, levels and abandoned frames on top, nothing open. */
__attribute__((noinline)) static void end_slow(uint64_t now) {
  dft__own copy;
  const dft__own *own = &copy;
  uint32_t depth;
  if (dft__thread_take(&copy) == DFT__OFF || end_overflow(own)) return;
  depth = drop_abandoned(own);
  if (depth && DFT__GET(dft__frames(own)[depth - 1].flags) & DFT__FRAME_LEVEL) depth = dft__region_find(own, 0);
  if (depth) end_frame(own, depth, now);
  else atomic_fetch_add_explicit(&((dft__header *)own->base)->unmatched, 1, memory_order_relaxed);
}

/* The rule: `region` (0: whichever it is) is on top, has no flags and few arguments. Else zero, and nothing is done. */
static inline __attribute__((always_inline)) int end_top(dft_region region, uint64_t now) {
  dft__own copy;
  const dft__own *own = &copy;
  dft__thread *thread;
  uint32_t depth, args, args_len;
  dft__frame *frame;
  dft__what what;
  if (DFT__UNLIKELY(!dft__own_copy(&copy))) return 0;
  thread = copy.thread;
  depth = DFT__GET(thread->depth);
  frame = dft__frames(own) + depth - 1;
  if (DFT__UNLIKELY(!depth || DFT__GET(thread->overflow)) ||
      DFT__UNLIKELY(!(what.id = DFT__GET(frame->id)) || DFT__GET(frame->flags)) ||
      DFT__UNLIKELY(region && what.id != region)) {
    return 0;
  }
  args = DFT__GET(frame->args);
  args_len = DFT__GET(thread->args_used) - args;
  if (DFT__UNLIKELY(args_len > DFT__SMALL_ARGS)) return 0;
  what.kind = DFT__KIND_COMPLETE;
  what.lane = 0;
  what.start = DFT__GET(frame->start);
  what.end = now;
  what.parent = DFT__GET(frame->parent);
  what.site = DFT__GET(frame->site);
  what.level = DFT__GET(frame->level);
  what.ends = depth;
  if (DFT__LIKELY(!args_len)) { /* twice, so that the one without arguments is made for it */
    dft__emit_small(own, &what, NULL, 0);
  } else {
    dft__emit_small(own, &what, (uint8_t *)own->base + dft__area_offset(DFT__GET(thread->args)) + args, args_len);
  }
  pop(own, depth, frame);
  return 1;
}

void dft_region_end_innermost(void) {
  uint64_t now;
  if (DFT__UNLIKELY(!dft_is_active())) return; /* bindings come here past the inline function; likewise below */
  now = dft__clock_end_ticks();
  if (DFT__UNLIKELY(!end_top(0, now))) end_slow(now);
}

/* Anywhere on the stack, or no longer there. */
__attribute__((noinline)) static void end_found(dft_region region, uint64_t now) {
  dft__own own;
  uint32_t depth;
  if (dft__thread_take(&own) == DFT__OFF) return;
  depth = dft__region_find(&own, region);
  if (!depth) return;
  DFT__SET(own.thread->overflow, 0); /* regions without room lay inside it; those have no handle to end them by */
  end_frame(&own, depth, now);
}

void dft_region_end_at(dft_region region) {
  uint64_t now;
  if (!region || !dft_is_active()) return;
  now = dft__clock_end_ticks();
  if (DFT__UNLIKELY(!end_top(region, now))) end_found(region, now);
}

/* ---- Spans: ended now, recorded later ------------------------------------------------------------------------------------ */

void dft_region_take(dft_region region, dft_span *span) {
  dft__own own;
  uint64_t now = dft__clock_end_ticks();
  uint32_t depth, flags;
  const dft__frame *frame;
  if (!span || span->struct_size < sizeof *span) return;
  span->id = 0;
  if (!region || !dft_is_active() || dft__thread_take(&own) == DFT__OFF) return;
  depth = dft__region_find(&own, region);
  if (!depth) return;
  frame = &dft__frames(&own)[depth - 1];
  flags = DFT__GET(frame->flags);
  if (!(flags & DFT__FRAME_MUTED)) {
    span->begin_ticks = DFT__GET(frame->start);
    span->end_ticks = now;
    span->id = region;
    span->parent = DFT__GET(frame->parent);
    span->session = own.session;
    span->site = DFT__GET(frame->site);
    span->level = DFT__GET(frame->level);
    span->lane = flags & DFT__FRAME_CROSSED ? dft__thread_lane(&own, span->begin_ticks, now) : 0;
  }
  dft__frame_close(&own, depth);
  leave(&own, depth, span->id != 0);
}

void dft_span_record(const dft_span *span, const dft_arg *args, uint32_t count) {
  dft__own own;
  dft__label label = {"unknown", 7, "unknown", 7};
  dft__what what = {.kind = DFT__KIND_COMPLETE};
  if (!span || span->struct_size < sizeof *span || !span->id) return;
  if (!dft_is_active() || dft__thread_take(&own) == DFT__OFF || own.session != span->session) return;
  what.start = span->begin_ticks;
  what.end = span->end_ticks;
  what.id = span->id;
  what.parent = span->parent;
  what.site = span->site;
  what.level = span->level;
  what.lane = span->lane;
  dft__emit_args(&own, &what, &label, 0, args, count);
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
  if (!dft_is_active() || dft__thread_take(&copy) == DFT__OFF || end_overflow(own)) return;
  frames = dft__frames(own);
  for (uint32_t depth = DFT__GET(own->thread->depth); depth; depth--) {
    if (DFT__GET(frames[depth - 1].id) && DFT__GET(frames[depth - 1].flags) & DFT__FRAME_LEVEL) {
      end_frame(own, depth, 0);
      return;
    }
  }
}
