/* startedrange.c - the started ranges of the process, in slots.
 *
 * An id is the number of a slot and of its use, so that an id that was made up, or has ended, is never taken for another.
 * Slots are taken from and given to a list without a lock. Its head carries a count of its changes: otherwise a thread
 * that slept while a slot was taken and given back could not notice that.
 * SPDX-License-Identifier: MIT */
#include "startedrange.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

/* Room for 32,768: each range that is open takes a lane of its own when it ends, and a trace has 65,535. */
enum { BLOCK_SLOTS = 256, BLOCKS = 128, KEPT_NAME = 96 };

#define DROPPED_KEY "nvtx_ranges_dropped"

typedef struct range_slot {
  _Atomic uint64_t id; /* 0: not open */
  uint32_t uses;
  _Atomic uint32_t next; /* in the list, as a number from 1 */
  dft_span span;
  dft_site named; /* for a span whose name had no room among the trace's names */
  char name[KEPT_NAME];
  uint32_t arg_count;
  dft_arg args[DFT__NVTX_ARGS_MOST];
} range_slot;

static _Atomic(range_slot *) blocks[BLOCKS];
static _Atomic uint64_t free_list; /* high half: changes; low half: the first slot, from 1 */
static _Atomic uint32_t made_count;
static _Atomic uint64_t dropped;

/* ---- Slots ---------------------------------------------------------------------------------------------------------- */

/* From 1; NULL when there is none. */
static range_slot *slot_at(uint64_t number) {
  range_slot *block;
  if (!number || number > (uint64_t)BLOCKS * BLOCK_SLOTS) return NULL;
  block = atomic_load_explicit(&blocks[(number - 1) / BLOCK_SLOTS], memory_order_acquire);
  return block ? &block[(number - 1) % BLOCK_SLOTS] : NULL;
}

static range_slot *make_slot(uint32_t *number) {
  uint32_t count = atomic_load(&made_count);
  _Atomic(range_slot *) *place;
  range_slot *block = NULL, *made;
  int saved = errno;
  do {
    if (count == (uint32_t)BLOCKS * BLOCK_SLOTS) return NULL;
  } while (!atomic_compare_exchange_weak(&made_count, &count, count + 1));
  *number = count + 1;
  place = &blocks[count / BLOCK_SLOTS];
  if (atomic_load_explicit(place, memory_order_acquire)) return slot_at(*number);
  made = mmap(NULL, BLOCK_SLOTS * sizeof *made, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made != MAP_FAILED && !atomic_compare_exchange_strong(place, &block, made))
    munmap(made, BLOCK_SLOTS * sizeof *made);
  errno = saved;
  return slot_at(*number);
}

static range_slot *take_slot(uint32_t *number) {
  uint64_t head = atomic_load_explicit(&free_list, memory_order_acquire), rest;
  range_slot *slot;
  do {
    *number = (uint32_t)head;
    if (!*number) return make_slot(number);
    slot = slot_at(*number);
    rest = ((head >> 32) + 1) << 32 | atomic_load_explicit(&slot->next, memory_order_relaxed);
  } while (!atomic_compare_exchange_weak_explicit(&free_list, &head, rest, memory_order_acq_rel, memory_order_acquire));
  return slot;
}

static void give_slot(range_slot *slot, uint32_t number) {
  uint64_t head = atomic_load_explicit(&free_list, memory_order_relaxed), next;
  do {
    atomic_store_explicit(&slot->next, (uint32_t)head, memory_order_relaxed);
    next = ((head >> 32) + 1) << 32 | number;
  } while (!atomic_compare_exchange_weak_explicit(&free_list, &head, next, memory_order_acq_rel, memory_order_relaxed));
}

/* ---- Start and end -------------------------------------------------------------------------------------------------- */

/* Sites are terminated. The program's text need not be there when the range ends. */
static void begin(range_slot *slot, const dft__nvtx_event *event) {
  slot->span = (dft_span){.struct_size = sizeof slot->span};
  if (event->site) {
    dft_span_begin(event->site, &slot->span);
  } else {
    char text[DFT__NVTX_TEXT_MOST];
    dft_site site = DFT_SITE(text, event->domain->site.name);
    dft__nvtx_event_copy_name(event, text, sizeof text);
    dft_span_begin(&site, &slot->span);
    dft__nvtx_event_copy_name(event, slot->name, sizeof slot->name);
    slot->named = (dft_site)DFT_SITE(slot->name, event->domain->site.name);
    slot->span.named = &slot->named;
  }
  slot->arg_count = event->arg_count;
  memcpy(slot->args, event->args, event->arg_count * sizeof event->args[0]);
}

uint64_t dft__started_range_start(const dft__nvtx_event *event) {
  uint32_t number;
  uint64_t id;
  range_slot *slot;
  if (!dft_is_active()) return 0;
  slot = take_slot(&number);
  if (!slot) {
    uint64_t count = atomic_fetch_add_explicit(&dropped, 1, memory_order_relaxed) + 1;
    dft_app_metadata_int(DROPPED_KEY, (int64_t)count);
    return 0;
  }
  begin(slot, event);
  if (!slot->span.session) { /* paused, or a category that is not recorded */
    give_slot(slot, number);
    return 0;
  }
  id = (uint64_t)++slot->uses << 32 | number;
  atomic_store_explicit(&slot->id, id, memory_order_release);
  return id;
}

/* On a lane, because the ranges of a process overlap each other and the regions of their threads. */
void dft__started_range_end(uint64_t id) {
  range_slot *slot = slot_at((uint32_t)id);
  uint64_t open = id;
  if (!slot || !id ||
      !atomic_compare_exchange_strong_explicit(&slot->id, &open, 0, memory_order_acquire, memory_order_relaxed))
    return;
  dft_span_end(&slot->span, 1);
  dft_span_record(&slot->span, slot->args, slot->arg_count);
  give_slot(slot, (uint32_t)id);
}
