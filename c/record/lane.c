/* lane.c - lanes: extra tracks for events that overlap others of their thread.
 * SPDX-License-Identifier: MIT */
#include "lane.h"

#include "codec/number.h"
#include "emit.h"

#define NUMBER_MAX 0xffffu /* that a record can hold: further events share the last lane */

static dft__lane *lanes_of(const dft__own *own) {
  return (dft__lane *)(own->base + dft__area_offset(DFT__GET(own->thread->lanes)));
}

/* NULL: there is no room to remember it, and it serves one event only. */
static dft__lane *add_lane(const dft__own *own) {
  dft__thread *thread = own->thread;
  if (thread->lane_count == dft__area_room(DFT__GET(thread->lanes)) && !dft__thread_grow_lanes(own)) return NULL;
  return &lanes_of(own)[thread->lane_count++];
}

static void name_lane(const dft__own *own, uint32_t number) {
  static const char between[] = ", overlapping ";
  char name[2 * DFT__NUMBER_ROOM + sizeof between];
  char *end = dft__number_uint(name, own->thread->tid);
  memcpy(end, between, sizeof between - 1);
  end = dft__number_uint(end + sizeof between - 1, number);
  dft__emit_thread_name(own, DFT__LANE_TID + number, name, (size_t)(end - name));
}

/* A lane is free when its last event ended before this one began. */
uint32_t dft__lane_take(const dft__own *own, uint64_t start, uint64_t end) {
  dft__lane *lanes = lanes_of(own), *lane;
  uint64_t number;
  for (uint32_t i = 0; i < own->thread->lane_count; i++) {
    if (lanes[i].end > start) continue;
    lanes[i].end = end;
    return (uint32_t)lanes[i].number;
  }
  number = atomic_fetch_add(&((dft__header *)own->base)->next_lane, 1) + 1;
  if (number > NUMBER_MAX) return NUMBER_MAX;
  lane = add_lane(own);
  if (lane) *lane = (dft__lane){end, number};
  name_lane(own, (uint32_t)number);
  return (uint32_t)number;
}
