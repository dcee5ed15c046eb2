/* ending.c - ends of regions: an open frame becomes a record.
 *
 * The id of a frame is cleared when its record has a place, before that is written: a region is open or recorded, never both.
 * SPDX-License-Identifier: MIT */
#include "base/signals.h"
#include "emit.h"
#include "region.h"
#include "spool/clock.h"

/* ---- The stack ---------------------------------------------------------------------------------------------------- */

/* Frames on top that had ended before those above them: takes off up to `most`, and tells how many are left of all. */
static uint32_t pop_some(const dft__own *own, uint32_t depth, uint32_t most) {
  dft__frame *frame = dft__frames(own) + depth;
  for (; depth && most && DFT__GET((--frame)->flags) & DFT__FRAME_ENDED; most--) {
    DFT__SET(frame->flags, 0);
    dft__argument_cut(own, DFT__GET(frame->args));
    DFT__SET(own->thread->depth, --depth);
  }
  return depth;
}

#define POP_FEW 64u

/* Where there are many, no signal handler comes between: each event of one would look for its place below them all. */
__attribute__((noinline)) static void pop_ended(uint64_t session, char *base, dft__thread *thread, uint32_t depth) {
  const dft__own own = dft__own_of(session, base, thread);
  uint32_t left = pop_some(&own, depth, POP_FEW);
  if (DFT__UNLIKELY(depth - left == POP_FEW)) {
    uint64_t before = dft__signals_block();
    pop_some(&own, left, UINT32_MAX);
    dft__signals_restore(before);
  }
}

static inline int is_above_ended(uint32_t depth, const dft__frame *frame) {
  return depth > 1 && DFT__GET(frame[-1].flags) & DFT__FRAME_ENDED;
}

/* Takes the topmost frame off, and those below that ended before it. */
static void pop(const dft__own *own, uint32_t depth, dft__frame *frame) {
  dft__argument_cut(own, DFT__GET(frame->args));
  DFT__SET(frame->id, 0);
  DFT__SET(own->thread->depth, depth - 1);
  if (is_above_ended(depth, frame)) pop_ended(own->session, own->base, own->thread, depth - 1);
}

/* ---- The rule: the topmost frame, without flags, with few arguments --------------------------------------------------- */

static inline __attribute__((always_inline)) void fill(dft__record *record, const dft__frame *frame, uint64_t id,
                                                       uint64_t now) {
  record->start = DFT__GET(frame->start);
  record->end = now;
  record->id = id;
  record->parent = DFT__GET(frame->parent);
  record->site = DFT__GET(frame->site);
  record->level = DFT__GET(frame->level);
}

static inline const uint8_t *items_of(const dft__own *own, uint32_t args) {
  return (uint8_t *)own->base + dft__area_offset(DFT__GET(own->thread->args)) + args;
}

/* The chunk had no room for the record: goes on with another one. The thread is busy already. */
__attribute__((noinline)) static void end_elsewhere(uint64_t session, char *base, dft__thread *thread, uint64_t now,
                                                    uint64_t cursor, uint32_t depth) {
  const dft__own own = dft__own_of(session, base, thread);
  uint32_t args = DFT__GET(dft__frames(&own)[depth - 1].args);
  uint32_t len = DFT__GET(thread->args_used) - args;
  uint32_t cells = dft__small_cells(len);
  uint32_t gen;
  dft__record *record = dft__thread_reserve(&own, cursor, cells, &gen);
  dft__frame *frame = &dft__frames(&own)[depth - 1];
  uint64_t id = DFT__GET(frame->id);
  dft__frame_close(&own, depth);
  if (record) {
    fill(record, frame, id, now);
    dft__record_items(record, gen, items_of(&own, args), len);
    DFT__RELEASE(record->head, dft__head(gen, DFT__KIND_COMPLETE, cells, 0));
  }
  dft__busy_end(thread, 0);
  pop(&own, depth, frame);
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
    end_elsewhere(own->session, own->base, thread, now, cursor, depth);
    return;
  }
  record = dft__cursor_record(own->base, cursor, &gen);
  DFT__SET(frame->id, 0);
  atomic_signal_fence(memory_order_seq_cst);
  if (DFT__UNLIKELY(DFT__GET(thread->frames) != area)) dft__frame_close(own, depth); /* a signal handler moved it */
  fill(record, frame, id, now);
  dft__record_items(record, gen, len ? items_of(own, args) : NULL, len);
  DFT__RELEASE(record->head, dft__head(gen, DFT__KIND_COMPLETE, cells, 0));
  DFT__RELEASE(thread->busy, 0);
  if (len) dft__argument_cut(own, args);
  DFT__SET(thread->depth, depth - 1);
  if (DFT__UNLIKELY(is_above_ended(depth, frame))) pop_ended(own->session, own->base, thread, depth - 1);
}

/* ---- Everything else ---------------------------------------------------------------------------------------------- */

void dft__end_leave(const dft__own *own, uint32_t depth, int is_seen) {
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

void dft__end_frame(const dft__own *own, uint32_t depth, uint64_t now) {
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
  if (DFT__UNLIKELY(args_end - args > DFT__ARGS_MAX)) args_end = args; /* a handler left the stack in disorder */
  if (DFT__LIKELY(!(flags & (DFT__FRAME_MUTED | DFT__FRAME_LEVEL)))) {
    if (DFT__UNLIKELY(flags & DFT__FRAME_CROSSED)) what.lane = dft__thread_lane(own, what.start, now);
    if (DFT__UNLIKELY(flags & DFT__FRAME_LOST)) dft__argument_settle(own, frame, args_end);
    dft__emit(own, &what, (uint8_t *)own->base + dft__area_offset(DFT__GET(thread->args)) + args, args_end - args);
  } else {
    dft__frame_close(own, depth);
  }
  dft__end_leave(own, depth, !(flags & DFT__FRAME_UNSEEN));
}

int dft__end_overflow(const dft__own *own) {
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
  if (dft__thread_take(&copy) == DFT__OFF || dft__end_overflow(own)) return;
  depth = drop_abandoned(own);
  if (depth && DFT__GET(dft__frames(own)[depth - 1].flags) & DFT__FRAME_LEVEL) depth = dft__region_find(own, 0);
  if (depth) dft__end_frame(own, depth, now);
  else atomic_fetch_add_explicit(&((dft__header *)own->base)->unmatched, 1, memory_order_relaxed);
}

/* Anywhere on the stack, or no longer there. */
__attribute__((noinline)) static void end_found(dft_region region, uint64_t now) {
  dft__own own;
  uint32_t depth;
  if (dft__thread_take(&own) == DFT__OFF) return;
  depth = dft__region_find(&own, region);
  if (!depth) return;
  DFT__SET(own.thread->overflow, 0); /* regions without room lay inside it; those have no handle to end them by */
  dft__end_frame(&own, depth, now);
}

/* What the rule does not cover. */
__attribute__((noinline)) static void end_other(dft_region region, uint64_t now) {
  if (region) end_found(region, now);
  else end_slow(now);
}

/* ---- Calls -------------------------------------------------------------------------------------------------------- */

__attribute__((noinline)) static void end_items(uint64_t session, char *base, dft__thread *thread, uint64_t now,
                                                uint64_t area, uint32_t depth) {
  const dft__own own = dft__own_of(session, base, thread);
  dft__frame *frame = (dft__frame *)(base + dft__area_offset(area)) + depth - 1;
  uint32_t args = DFT__GET(frame->args);
  uint32_t len = DFT__GET(thread->args_used) - args;
  if (DFT__UNLIKELY(len - 1 >= DFT__SMALL_ARGS)) dft__end_frame(&own, depth, now);
  else record_top(&own, frame, area, depth, DFT__GET(frame->id), now, args, len);
}

/* The rule, when `region` (0: whichever it is) is on top and nothing is unusual. Calls nothing but in place of its own return,
 * as in region.c. */
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
