/* openregion.c - regions that are open when a trace ends: as events with open:1.
 *
 * The stacks may be damaged or made up, so every area is checked to lie in the file.
 * SPDX-License-Identifier: MIT */
#include "openregion.h"

#include <stdio.h>

#include "bookkeeping.h"
#include "decode.h"
#include "definition.h"
#include "record/imbalance.h"
#include "spool/intern.h"

/* NULL when the area does not lie wholly in the file. */
static uint8_t *checked_area(const dft__spool *spool, uint64_t area, uint64_t bytes) {
  uint64_t offset = dft__area_offset(area);
  return offset >= DFT__HEADER_BYTES && offset + bytes <= DFT__GET(spool->header->file_bytes) &&
             offset + bytes <= spool->map_bytes && offset % 8 == 0
           ? (uint8_t *)spool->base + offset
           : NULL;
}

static void decode_frame_args(dft_batch *batch, const dft__frame *frame, uint32_t next_args, dft_event *event) {
  uint64_t area = DFT__GET(batch->thread->args);
  uint32_t from = DFT__GET(frame->args);
  const uint8_t *args = checked_area(batch->spool, area, dft__area_room(area));
  if (args && from <= next_args && next_args <= dft__area_room(area) && from % 8 == 0) {
    dft__decode_items(batch, args + from, next_args - from, event);
  }
}

static int decode_frame(dft_batch *batch, const dft__frame *frame, uint32_t next_args, dft_event *event) {
  const dft__header *header = batch->spool->header;
  uint64_t id = DFT__ACQUIRE(frame->id);
  uint64_t parent = DFT__GET(frame->parent);
  uint32_t flags = DFT__GET(frame->flags);
  if (!id || flags & (DFT__FRAME_MUTED | DFT__FRAME_LEVEL)) return 0;
  batch->value_count = batch->path_count = batch->undefined_count = 0;
  batch->lost = flags >> DFT__FRAME_LOSS_SHIFT;
  *event = (dft_event){.id = id,
                       .parent = parent ? (int64_t)parent : -1,
                       .start = dft__batch_time(batch, DFT__GET(frame->start)),
                       .level = DFT__GET(frame->level),
                       .phase = DFT_COMPLETE,
                       .pid = header->pid,
                       .tid = batch->thread->tid};
  dft__decode_site(batch, DFT__GET(frame->site), event);
  event->duration = dft__batch_time(batch, batch->final_ticks) - event->start;
  if (event->duration < 0) event->duration = 0;
  if (flags & DFT__FRAME_CROSSED) {
    event->tid = DFT__LANE_TID + 1 + (uint32_t)(atomic_fetch_add(&batch->spool->header->next_lane, 1) & 0xffff);
  }
  decode_frame_args(batch, frame, next_args, event);
  if (batch->lost) dft__add_number(batch, "args_lost", DFT_INT, batch->lost);
  dft__add_number(batch, "open", DFT_INT, 1);
  if (header->hide_tids) event->tid = header->pid;
  event->values = batch->values;
  event->value_count = batch->value_count;
  return 1;
}

/* The frames of one thread, the outermost first. */
static int next_frame(dft_batch *batch, dft_event *event) {
  uint32_t depth = DFT__GET(batch->thread->depth);
  uint64_t area = DFT__GET(batch->thread->frames);
  const dft__frame *frames;
  if (depth > dft__area_room(area)) depth = dft__area_room(area);
  frames = (const dft__frame *)checked_area(batch->spool, area, (uint64_t)depth * sizeof *frames);
  while (frames && batch->depth < depth) {
    const dft__frame *frame = &frames[batch->depth++];
    uint64_t id = DFT__GET(frame->id);
    if (id && id == batch->frame_id) continue; /* it was being moved, and is there twice */
    if (id) batch->frame_id = id;
    uint32_t next_args = batch->depth < depth ? DFT__GET(frame[1].args) : DFT__GET(batch->thread->args_used);
    if (decode_frame(batch, frame, next_args, event)) return 1;
  }
  return 0;
}

static dft__thread *next_thread(const dft__spool *spool, uint64_t *walked) {
  dft__chunk *chunk;
  while ((chunk = dft__chunk_walk(spool, walked)) != NULL) {
    if (DFT__ACQUIRE(chunk->use) == DFT__USE_THREAD && dft__status_state(DFT__ACQUIRE(chunk->status)) == DFT__OPEN) {
      return (dft__thread *)((char *)chunk + DFT__CELL);
    }
  }
  return NULL;
}

static int next_open_region(dft_batch *batch, dft_event *event) {
  for (;;) {
    if (batch->thread && next_frame(batch, event)) return 1;
    batch->thread = next_thread(batch->spool, &batch->walked);
    if (!batch->thread) return 0;
    batch->depth = dft__batch_thread_page(batch) == batch->from_page ? batch->from_depth : 0;
  }
}

/* The event that names a lane. The event on the lane is held meanwhile, so its values stay as they are. */
static void name_lane(dft_batch *batch, dft_event *event) {
  uint32_t lane = event->tid;
  int len = snprintf(batch->text, sizeof batch->text, "%u, overlapping %u", batch->thread->tid, lane - DFT__LANE_TID);
  batch->own_values[0] = (dft_value){.type = DFT_STRING, .key = {"name", 4}, .value.s = {batch->text, (size_t)len}};
  *event = (dft_event){.id = dft__bookkeeping_id(batch),
                       .parent = -1,
                       .phase = DFT_METADATA,
                       .pid = batch->spool->header->pid,
                       .tid = lane,
                       .name = {"thread_name", 11},
                       .cat = {"dftracer", 8},
                       .value_count = 1,
                       .values = batch->own_values};
}

/* Before it come the name of its lane and the definitions of paths that came as text. */
int dft__open_region_next(dft_batch *batch, dft_event *event) {
  if (batch->has_held) {
    if (dft__definition_of_text(batch, event)) return 1;
    batch->has_held = 0;
    *event = batch->held;
    batch->events++;
    return 1;
  }
  if (!next_open_region(batch, event)) return 0;
  if (!batch->undefined_count && event->tid < DFT__LANE_TID) {
    batch->events++;
    return 1;
  }
  batch->held = *event;
  batch->has_held = 1;
  if (batch->held.tid < DFT__LANE_TID) return dft__definition_of_text(batch, event);
  name_lane(batch, event);
  return 1;
}

/* A process that ended has said when. Calls that were on their way may have recorded after that, inside of regions that are open.
 * Nobody knows when a dead process died, so its last sign of life counts as that time. */
uint64_t dft__open_region_last_sign(const dft_batch *batch) {
  const dft__header *header = batch->spool->header;
  uint64_t ticks = batch->last_ticks > header->opened_ticks ? batch->last_ticks : header->opened_ticks;
  uint64_t walked = 0;
  const dft__thread *thread;
  if (batch->alive_ticks > ticks) ticks = batch->alive_ticks;
  if (DFT__GET(header->ended_ticks) > ticks) ticks = DFT__GET(header->ended_ticks);
  if (DFT__GET(header->dropped_last) > ticks) ticks = DFT__GET(header->dropped_last);
  if (header->commit[(batch->seq - 1) & 1].last_ticks > ticks) ticks = header->commit[(batch->seq - 1) & 1].last_ticks;
  while ((thread = next_thread(batch->spool, &walked)) != NULL) {
    uint64_t area = DFT__GET(thread->frames);
    uint32_t depth = DFT__GET(thread->depth) < dft__area_room(area) ? DFT__GET(thread->depth) : dft__area_room(area);
    const dft__frame *frames = (const dft__frame *)checked_area(batch->spool, area, (uint64_t)depth * sizeof *frames);
    for (uint32_t i = 0; frames && i < depth; i++) {
      if (DFT__GET(frames[i].id) && DFT__GET(frames[i].start) > ticks) ticks = DFT__GET(frames[i].start);
    }
  }
  return ticks;
}

uint64_t dft__open_region_count(const dft_batch *batch, _Atomic uint32_t sites[DFT__SITES_NAMED]) {
  const dft__header *header = batch->spool->header;
  uint64_t count = DFT__GET(header->open_in_ended), walked = 0;
  const dft__thread *thread;
  for (int i = 0; i < DFT__SITES_NAMED; i++) DFT__SET(sites[i], DFT__GET(header->open_sites[i]));
  while (!(batch->flags & DFT__BATCH_RECOVERED) && (thread = next_thread(batch->spool, &walked)) != NULL) {
    uint64_t area = DFT__GET(thread->frames);
    uint32_t depth = DFT__GET(thread->depth) < dft__area_room(area) ? DFT__GET(thread->depth) : dft__area_room(area);
    const dft__frame *frames = (const dft__frame *)checked_area(batch->spool, area, (uint64_t)depth * sizeof *frames);
    if (frames) count += dft__imbalance_count(frames, depth, sites);
  }
  return count;
}

static int holds_open_region(const dft__spool *spool, const dft__thread *thread) {
  uint64_t area = DFT__GET(thread->frames);
  uint32_t depth = DFT__GET(thread->depth) < dft__area_room(area) ? DFT__GET(thread->depth) : dft__area_room(area);
  const dft__frame *frames = (const dft__frame *)checked_area(spool, area, (uint64_t)depth * sizeof *frames);
  for (uint32_t i = 0; frames && i < depth; i++) {
    if (DFT__GET(frames[i].id) && !(DFT__GET(frames[i].flags) & (DFT__FRAME_MUTED | DFT__FRAME_LEVEL))) return 1;
  }
  return 0;
}

int dft__open_region_any(const dft__spool *spool) {
  uint64_t walked = 0;
  const dft__thread *thread;
  while ((thread = next_thread(spool, &walked)) != NULL) {
    if (holds_open_region(spool, thread)) return 1;
  }
  return 0;
}
