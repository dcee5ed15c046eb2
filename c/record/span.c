/* span.c - spans: regions and intervals that end now and are recorded later. Intervals are not on the stack.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "emit.h"
#include "lane.h"
#include "site.h"
#include "stack.h"

static int is_usable(const dft_span *span) {
  return span && span->struct_size >= offsetof(dft_span, named);
}

static void set_named(dft_span *span, const dft_site *site) {
  if (span->struct_size >= sizeof *span) span->named = site;
}

/* For a span whose site has no reference. */
static dft__label label_of(const dft_span *span) {
  const dft_site *site = span->struct_size >= sizeof *span ? span->named : NULL;
  size_t name_len, cat_len;
  if (span->site || !site) return (dft__label){"unknown", 7, "unknown", 7};
  name_len = site->name ? strlen(site->name) : 0;
  cat_len = site->cat ? strlen(site->cat) : 0;
  dft__label label = {.name = dft__name_or_default(site->name, &name_len)};
  label.cat = dft__name_or_default(site->cat, &cat_len);
  label.name_len = name_len;
  label.cat_len = cat_len;
  return label;
}

static uint32_t depth_of(const dft__own *own) {
  uint32_t depth = DFT__GET(own->thread->depth), room = dft__area_room(DFT__GET(own->thread->frames));
  return depth < room ? depth : room;
}

/* The innermost region of the thread's own track; 0: none. */
static uint64_t surroundings(const dft__own *own) {
  const dft__frame *frames = dft__frames(own);
  for (uint32_t depth = depth_of(own); depth; depth--) {
    uint64_t id = DFT__GET(frames[depth - 1].id);
    if (id && !(DFT__GET(frames[depth - 1].flags) & DFT__FRAME_UNSEEN)) return id;
  }
  return 0;
}

/* Gives the span its place, in the innermost region that began before it and is still open. Nonzero when it overlaps others:
 * one that began meanwhile is open, or what was around it has ended, or a region further out (then that one is CROSSED). */
static int settle(const dft__own *own, dft_span *span) {
  const dft__frame *frame = dft__frames(own) + depth_of(own);
  uint64_t around = span->parent;
  int overlaps = 0, has_place = 0;
  span->parent = 0;
  span->level = 1;
  for (uint32_t depth = depth_of(own); depth; depth--) {
    uint64_t id = DFT__GET((--frame)->id);
    uint32_t flags = DFT__GET(frame->flags);
    if (!id) continue;
    if (DFT__GET(frame->start) > span->begin_ticks) {
      overlaps |= !(flags & DFT__FRAME_UNSEEN);
      continue;
    }
    if (!has_place) {
      span->parent = flags & DFT__FRAME_MUTED ? DFT__GET(frame->parent) : id;
      span->level = DFT__GET(frame->level) + !(flags & DFT__FRAME_MUTED);
      has_place = 1;
    }
    if (id == around) return overlaps || flags & DFT__FRAME_CROSSED;
  }
  return overlaps || around;
}

void dft_span_begin(dft_site *site, dft_span *span) {
  dft__own own;
  if (!is_usable(span)) return;
  span->id = span->session = 0;
  set_named(span, site);
  if (!site || !dft_is_active() || dft__thread_take_event(&own) != DFT__READY) return;
  span->site = dft__site_ref(&own, site);
  if (span->site & DFT__SITE_MUTED) return;
  if (!dft__is_io(site->cat)) dft__note_annotated(&own);
  span->session = own.session;
  span->parent = surroundings(&own);
  span->begin_ticks = dft__clock_ticks();
}

void dft_span_end(dft_span *span, int overlaps) {
  dft__own own;
  uint64_t now = dft__clock_ticks();
  if (!is_usable(span) || !span->session || !dft_is_active() || dft__thread_take(&own) == DFT__OFF) return;
  if (own.session != span->session) return;
  span->end_ticks = now;
  overlaps |= settle(&own, span);
  span->lane = overlaps ? dft__lane_take(&own, span->begin_ticks, now) : 0;
  span->id = dft__thread_next_id(&own);
}

void dft_region_take(dft_region region, dft_span *span) {
  dft__own own;
  uint64_t now = dft__clock_ticks();
  uint32_t depth, flags;
  const dft__frame *frame;
  if (!is_usable(span)) return;
  span->id = 0;
  set_named(span, NULL);
  if (!region || !dft_is_active() || dft__thread_take(&own) == DFT__OFF) return;
  depth = dft__stack_find(&own, region);
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
    span->lane = flags & DFT__FRAME_CROSSED ? dft__lane_take(&own, span->begin_ticks, now) : 0;
  }
  dft__frame_close(&own, depth);
  dft__stack_leave(&own, depth, !(flags & DFT__FRAME_UNSEEN));
}

void dft_span_record(const dft_span *span, const dft_arg *args, uint32_t count) {
  dft__own own;
  dft__label label;
  dft__what what = {.kind = DFT__KIND_COMPLETE};
  if (!is_usable(span) || !span->id) return;
  label = label_of(span);
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
