/* imbalance.c - ends of regions that have no begin, and regions that have no end.
 * SPDX-License-Identifier: MIT */
#include "imbalance.h"

#include <unistd.h>

/* And not ended since; of the main thread, which is the one that forked. */
static _Atomic uint32_t begun_before_fork;

static int has_begun_before_fork(void) {
  return DFT__GET(begun_before_fork) && dft__thread_id() == (uint32_t)getpid();
}

/* Each name once, the first ones. */
static void add_site(_Atomic uint32_t sites[DFT__SITES_NAMED], uint32_t site) {
  if (!site) site = DFT__SITE_NONE;
  for (int i = 0; i < DFT__SITES_NAMED; i++) {
    uint32_t other = 0;
    if (atomic_compare_exchange_strong(&sites[i], &other, site) || other == site) return;
  }
}

void dft__imbalance_note_end(const dft__own *own, uint32_t site) {
  dft__header *header = (dft__header *)own->base;
  atomic_fetch_add_explicit(&header->unmatched, 1, memory_order_relaxed);
  add_site(header->unmatched_sites, site);
}

/* The stack is empty. The frame of a region that ended keeps its site until the next one begins there. */
void dft__imbalance_note_last(const dft__own *own) {
  if (has_begun_before_fork()) atomic_fetch_sub(&begun_before_fork, 1);
  else dft__imbalance_note_end(own, DFT__GET(dft__frames(own)->site));
}

uint32_t dft__imbalance_count(const dft__frame *frames, uint32_t depth, _Atomic uint32_t sites[DFT__SITES_NAMED]) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < depth; i++) {
    if (!DFT__GET(frames[i].id) || DFT__GET(frames[i].flags) & (DFT__FRAME_MUTED | DFT__FRAME_LEVEL)) continue;
    add_site(sites, DFT__GET(frames[i].site));
    count++;
  }
  return count;
}

void dft__imbalance_note_open(const dft__own *own) {
  dft__header *header = (dft__header *)own->base;
  uint32_t count = dft__imbalance_count(dft__frames(own), DFT__GET(own->thread->depth), header->open_sites);
  if (count) atomic_fetch_add_explicit(&header->open_in_ended, count, memory_order_relaxed);
}

/* Muted ones too: their ends come as well. */
uint32_t dft__imbalance_open(void) {
  dft__own own;
  uint32_t count = has_begun_before_fork() ? DFT__GET(begun_before_fork) : 0;
  if (!dft__own_copy(&own) || !own.thread) return count;
  for (uint32_t i = 0; i < DFT__GET(own.thread->depth); i++) {
    const dft__frame *frame = &dft__frames(&own)[i];
    count += DFT__GET(frame->id) && !(DFT__GET(frame->flags) & DFT__FRAME_LEVEL);
  }
  return count + DFT__GET(own.thread->overflow);
}

void dft__imbalance_forked(uint32_t open) {
  DFT__SET(begun_before_fork, open);
}
