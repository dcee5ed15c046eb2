/* span.c - regions that end now and are recorded later.
 * SPDX-License-Identifier: MIT */
#include "clock.h"
#include "emit.h"
#include "region.h"

void dft_region_take(dft_region region, dft_span *span) {
  dft__own own;
  uint64_t now = dft__clock_ticks();
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
  dft__end_leave(&own, depth, span->id != 0);
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
