/* region.c - regions: begin and end. An open region is a frame of the stack; at its end it becomes a record.
 *
 * When the record has its place in the chunk, the frame's id is cleared, and only then is the record written. So a region
 * is open or recorded, never both.
 * SPDX-License-Identifier: MIT */
#include "region.h"

#include "argument.h"
#include "emit.h"
#include "imbalance.h"
#include "lane.h"
#include "site.h"
#include "stack.h"

/* ---- Begin -------------------------------------------------------------------------------------------------------- */

/* Regions that are not recorded. */
__attribute__((noinline)) static dft_region push_muted(const dft__own *own) {
  return dft__stack_push(own, 0, DFT__FRAME_MUTED);
}

/* Everything that is not the rule: no session yet, paused, a new site, one that is muted or has no reference. */
__attribute__((noinline)) static dft_region begin_slow(dft_site *site) {
  dft__own own;
  enum dft__readiness ready = dft__thread_take_event(&own);
  uint32_t ref;
  if (ready != DFT__READY) return ready == DFT__OFF ? 0 : push_muted(&own);
  if (!site) return dft_region_begin_n(NULL, 0, NULL, 0);
  ref = dft__site_ref(&own, site);
  if (!ref) return dft_region_begin_named(site->name, site->cat);
  if (ref & DFT__SITE_MUTED) return push_muted(&own);
  if (!dft__is_io(site->cat)) dft__note_annotated(&own);
  return dft__stack_push(&own, ref, 0);
}

dft_region dft_region_begin_site(dft_site *site) {
  dft__own own;
  uint64_t cache;
  if (DFT__UNLIKELY(!dft__own_copy(&own) || !site)) return dft_is_active() ? begin_slow(site) : 0;
  cache = __atomic_load_n(&site->cache, __ATOMIC_RELAXED);
  if (DFT__UNLIKELY((uint32_t)(cache >> 32) != (uint32_t)own.session || (int32_t)cache <= 0)) return begin_slow(site);
  return dft__stack_push(&own, (uint32_t)cache, 0);
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
  enum dft__readiness ready = dft__thread_take_event(&own);
  dft_region region;
  uint32_t ref;
  if (DFT__UNLIKELY(ready != DFT__READY)) return ready == DFT__OFF ? 0 : push_muted(&own);
  name = dft__name_or_default(name, &name_len);
  cat = dft__name_or_default(cat, &cat_len);
  ref = dft__site_named(&own, name, name_len, cat, cat_len);
  if (DFT__UNLIKELY(ref & DFT__SITE_MUTED)) return push_muted(&own);
  dft__note_annotated(&own);
  region = dft__stack_push(&own, ref, 0);
  if (DFT__UNLIKELY(!ref && region)) update_label(&own, name, name_len, cat, cat_len);
  return region;
}

dft_region dft_region_begin_n(const char *name, size_t name_len, const char *cat, size_t cat_len) {
  dft__own own;
  uint32_t ref;
  if (DFT__UNLIKELY(!dft__own_copy(&own) || !name || !cat)) {
    return dft_is_active() ? begin_named_slow(name, name_len, cat, cat_len) : 0;
  }
  ref = dft__site_recall(&own, name, name_len, cat, cat_len);
  if (DFT__UNLIKELY(!ref)) return begin_named_slow(name, name_len, cat, cat_len);
  return dft__stack_push(&own, ref, 0);
}

/* ---- End: the usual case, the topmost frame without flags and with few arguments ---------------------------------------- */

static inline const uint8_t *items_of(const dft__own *own, uint32_t args) {
  return (uint8_t *)own->base + dft__area_offset(DFT__GET(own->thread->args)) + args;
}

/* The chunk had no room for the record: goes on with another one. The thread is busy already. The clock is read again: a signal
 * handler may have recorded since, at the end of the full chunk, and events stand in the order of their ends. */
__attribute__((noinline)) static void end_elsewhere(uint64_t session, char *base, dft__thread *thread, uint64_t cursor,
                                                    uint32_t depth) {
  const dft__own own = dft__own_of(session, base, thread);
  uint64_t now = dft__clock_ticks();
  uint32_t args = DFT__GET(dft__frames(&own)[depth - 1].args);
  uint32_t len = DFT__GET(thread->args_used) - args;
  uint32_t cells = dft__small_cells(len);
  uint32_t gen;
  dft__record *record = dft__thread_reserve(&own, cursor, cells, &gen);
  dft__frame *frame = &dft__frames(&own)[depth - 1];
  uint64_t id = DFT__GET(frame->id);
  dft__frame_close(&own, depth);
  if (record) {
    dft__record_fill_ended(record, frame, id, now);
    dft__record_items(record, gen, items_of(&own, args), len);
    dft__record_publish(record, gen, DFT__KIND_COMPLETE, cells, 0);
  }
  dft__busy_end(thread, 0);
  dft__stack_pop(&own, depth, frame);
}

/* Inline twice, with arguments and without, so that each is made for it. */
static inline __attribute__((always_inline)) void record_top(const dft__own *own, dft__frame *frame, uint64_t area,
                                                             uint32_t depth, uint64_t id, uint64_t now, uint32_t args,
                                                             uint32_t len) {
  dft__thread *thread = own->thread;
  uint32_t cells = dft__small_cells(len);
  uint64_t cursor;
  uint32_t gen;
  char here;
  dft__record *record;
  DFT__RELEASE(thread->busy, dft__busy_mark(&here));
  cursor = dft__own_add64(&thread->cursor, cells);
  if (DFT__UNLIKELY(dft__cursor_is_over(cursor, cells))) {
    end_elsewhere(own->session, own->base, thread, cursor, depth);
    return;
  }
  record = dft__cursor_record(own->base, cursor, &gen);
  DFT__SET(frame->id, 0);
  atomic_signal_fence(memory_order_seq_cst);
  if (DFT__UNLIKELY(DFT__GET(thread->frames) != area)) dft__frame_close(own, depth); /* a signal handler moved it */
  dft__record_fill_ended(record, frame, id, now);
  dft__record_items(record, gen, len ? items_of(own, args) : NULL, len);
  dft__record_publish(record, gen, DFT__KIND_COMPLETE, cells, 0);
  DFT__RELEASE(thread->busy, 0);
  if (len) dft__stack_cut_args(own, args);
  DFT__SET(thread->depth, depth - 1);
  if (DFT__UNLIKELY(dft__stack_is_above_ended(depth, frame)))
    dft__stack_pop_ended(own->session, own->base, thread, depth - 1);
}

/* ---- End: everything else ----------------------------------------------------------------------------------------------- */

/* Ends any frame of the stack, wherever it is, with a record where it has one. */
static void end_frame(const dft__own *own, uint32_t depth, uint64_t now) {
  dft__thread *thread = own->thread;
  uint32_t top = DFT__GET(thread->depth);
  dft__frame *frame = &dft__frames(own)[depth - 1];
  uint32_t flags = DFT__GET(frame->flags);
  uint32_t args = DFT__GET(frame->args);
  uint32_t args_end = DFT__LIKELY(depth == top) ? DFT__GET(thread->args_used) : DFT__GET(frame[1].args);
  dft__what what = dft__what_of_frame(frame, DFT__GET(frame->id), now);
  what.ends = depth;
  if (DFT__UNLIKELY(args_end - args > DFT__ARGS_MAX)) args_end = args; /* a handler left the stack in disorder */
  if (DFT__LIKELY(!(flags & (DFT__FRAME_MUTED | DFT__FRAME_LEVEL)))) {
    if (DFT__UNLIKELY(flags & DFT__FRAME_CROSSED)) what.lane = dft__lane_take(own, what.start, now);
    if (DFT__UNLIKELY(flags & DFT__FRAME_LOST)) dft__argument_settle(own, frame, args_end);
    dft__emit(own, &what, items_of(own, args), args_end - args);
  } else {
    dft__frame_close(own, depth);
  }
  dft__stack_leave(own, depth, !(flags & DFT__FRAME_UNSEEN));
}

/* Whatever is not the rule: too deep, levels and abandoned frames on top, nothing open. */
__attribute__((noinline)) static void end_slow(uint64_t now) {
  dft__own copy;
  const dft__own *own = &copy;
  uint32_t depth;
  if (dft__thread_take(&copy) == DFT__OFF || dft__stack_end_overflow(own)) return;
  depth = dft__stack_drop_abandoned(own);
  if (depth && DFT__GET(dft__frames(own)[depth - 1].flags) & DFT__FRAME_LEVEL) depth = dft__stack_find(own, 0);
  if (depth) end_frame(own, depth, now);
  else dft__imbalance_note_last(own);
}

/* Anywhere on the stack, or no longer there. */
__attribute__((noinline)) static void end_found(dft_region region, uint64_t now) {
  dft__own own;
  uint32_t depth;
  if (dft__thread_take(&own) == DFT__OFF) return;
  depth = dft__stack_find(&own, region);
  if (!depth) return;
  DFT__SET(own.thread->overflow, 0); /* regions without room lay inside it; those have no handle to end them by */
  end_frame(&own, depth, now);
}

/* What the rule does not cover. */
__attribute__((noinline)) static void end_other(dft_region region, uint64_t now) {
  if (region) end_found(region, now);
  else end_slow(now);
}

/* ---- End: calls -------------------------------------------------------------------------------------------------------- */

__attribute__((noinline)) static void end_items(uint64_t session, char *base, dft__thread *thread, uint64_t now,
                                                uint64_t area, uint32_t depth) {
  const dft__own own = dft__own_of(session, base, thread);
  dft__frame *frame = (dft__frame *)(base + dft__area_offset(area)) + depth - 1;
  uint32_t args = DFT__GET(frame->args);
  uint32_t len = DFT__GET(thread->args_used) - args;
  if (DFT__UNLIKELY(len - 1 >= DFT__SMALL_ARGS)) end_frame(&own, depth, now);
  else record_top(&own, frame, area, depth, DFT__GET(frame->id), now, args, len);
}

/* The usual case: `region`, or any region for 0, is on top and nothing is unusual. It makes tail calls only, as dft__stack_push
 * does. */
static inline __attribute__((always_inline)) void end_at(dft_region region, uint64_t now) {
  dft__own own;
  dft__thread *thread;
  uint32_t depth, args;
  uint64_t area, id;
  dft__frame *frame;
  if (DFT__UNLIKELY(!dft__own_copy(&own))) goto other;
  thread = own.thread;
  depth = DFT__GET(thread->depth);
  area = DFT__GET(thread->frames);
  frame = (dft__frame *)(own.base + dft__area_offset(area)) + depth - 1;
  if (DFT__UNLIKELY(!depth || DFT__GET(thread->overflow) | DFT__GET(thread->busy))) goto other;
  id = DFT__GET(frame->id);
  if (DFT__UNLIKELY(!id || DFT__GET(frame->flags) || (region && id != region))) goto other;
  args = DFT__GET(frame->args);
  if (DFT__GET(thread->args_used) == args) record_top(&own, frame, area, depth, id, now, args, 0);
  else end_items(own.session, own.base, thread, now, area, depth);
  return;
other:
  end_other(region, now);
}

/* The clock takes a call. */
__attribute__((noinline)) static void end_timed(dft_region region) {
  if (dft_is_active()) end_at(region, dft_ticks()); /* bindings come here past the inline functions */
}

static inline __attribute__((always_inline)) void end(dft_region region) {
  uint64_t now;
  if (DFT__LIKELY(dft__clock_quick(&now))) end_at(region, now);
  else end_timed(region);
}

void dft_region_end_innermost(void) {
  end(0);
}

void dft_region_end_at(dft_region region) {
  if (region) end(region);
}

void dft__region_end_ticks(dft_region region, uint64_t now) {
  if (region && dft_is_active()) end_at(region, now);
}

void dft_region_unmatched(dft_site *site) {
  dft__own own;
  uint32_t ref;
  if (!DFT__GET(*dft__gate_page()) || dft__thread_take(&own) == DFT__OFF) return; /* it opens no trace */
  ref = dft__site_ref(&own, site);
  if (!(ref & DFT__SITE_MUTED)) dft__imbalance_note_end(&own, ref);
}

/* ---- Levels ------------------------------------------------------------------------------------------------------- */

int32_t dft_enter(void) {
  dft__own own;
  uint32_t depth;
  enum dft__readiness ready;
  if (!dft_is_active() || (ready = dft__thread_take(&own)) == DFT__OFF) return 0;
  depth = DFT__GET(own.thread->depth);
  dft__stack_push(&own, 0, DFT__FRAME_LEVEL | (ready == DFT__PAUSED ? DFT__FRAME_MUTED : 0));
  return (int32_t)depth;
}

void dft_exit(void) {
  dft__own copy;
  const dft__own *own = &copy;
  dft__frame *frames;
  if (!dft_is_active() || dft__thread_take(&copy) == DFT__OFF || dft__stack_end_overflow(own)) return;
  frames = dft__frames(own);
  for (uint32_t depth = DFT__GET(own->thread->depth); depth; depth--) {
    if (DFT__GET(frames[depth - 1].id) && DFT__GET(frames[depth - 1].flags) & DFT__FRAME_LEVEL) {
      end_frame(own, depth, 0);
      return;
    }
  }
}

/* ---- The end of a thread ------------------------------------------------------------------------------------------------- */

void dft__region_record_open(const dft__own *own) {
  dft__thread *thread = own->thread;
  uint64_t now = dft__clock_ticks();
  for (uint32_t depth = DFT__GET(thread->depth); depth > 0; depth--) {
    dft__frame *frame = &dft__frames(own)[depth - 1];
    uint32_t flags = DFT__GET(frame->flags);
    uint32_t args = DFT__GET(frame->args);
    dft__what what = dft__what_of_frame(frame, DFT__GET(frame->id), now);
    what.kind = DFT__KIND_OPEN;
    what.ends = depth;
    if (what.id && !(flags & (DFT__FRAME_MUTED | DFT__FRAME_LEVEL))) {
      if (flags & DFT__FRAME_CROSSED) what.lane = dft__lane_take(own, what.start, now);
      if (flags & DFT__FRAME_LOST) dft__argument_settle(own, frame, DFT__GET(thread->args_used));
      dft__emit(own, &what, items_of(own, args), DFT__GET(thread->args_used) - args);
    }
    dft__frame_close(own, depth);
    dft__stack_cut_args(own, args);
    DFT__SET(thread->depth, depth - 1);
  }
}
