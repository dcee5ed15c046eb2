/* emit.h - arguments in, one record out.
 *
 * Everything here runs on the thread that owns the state it gets.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_EMIT_H
#define DFT_EMIT_H

#include "thread.h"

/* What is common to all records. */
typedef struct dft__what {
  uint32_t kind;
  uint32_t lane;
  uint64_t start;
  uint64_t end;
  uint64_t id;
  uint64_t parent;
  uint32_t site;
  uint32_t level;
  uint32_t ends; /* the frame that this record ends, counted from 1; 0: none */
} dft__what;

/* Bytes on their way into a record's cells, which have a head each, or into contiguous memory (left: UINT32_MAX). */
typedef struct dft__out {
  uint8_t *at;
  uint32_t left;
} dft__out;

void dft__out_bytes(dft__out *out, const void *bytes, uint32_t len);

/* ---- Items ---- */

/* The length up to which to keep a text: at most `most`, and not inside a character, which has up to three bytes after its
 * first. What is no UTF-8 is cut anywhere. */
static inline size_t dft__text_limit(const char *text, size_t len, size_t most) {
  size_t end = most;
  if (len <= most) return len;
  while (most - end < 4 && ((unsigned char)text[end] & 0xc0) == 0x80) end--;
  return most - end < 4 ? end : most;
}

/* An argument made ready: its texts within limits, its key as reference. */
typedef struct dft__ready_item {
  dft__item item;
  const char *key; /* of an item whose key travels with it */
  uint32_t key_len;
  uint64_t value; /* when text is NULL */
  const char *text;
  uint64_t cut_from;
} dft__ready_item;

/* Sets *ready and returns the bytes that it takes in a record. A key of 0 is registered from key and key_len, where there
 * is room. */
uint32_t dft__item_number(dft__ready_item *ready, uint32_t key, const char *key_text, size_t key_len, uint32_t type,
                          uint64_t value);
uint32_t dft__item_text(dft__ready_item *ready, uint32_t key, const char *key_text, size_t key_len, uint32_t type,
                        const char *text, size_t len);
uint32_t dft__item_arg(dft__ready_item *ready, const dft_arg *arg);
void dft__out_item(dft__out *out, const dft__ready_item *ready);
/* All of it but the first 8 bytes. */
void dft__out_value(dft__out *out, const dft__ready_item *ready);

/* The reference of a key; 0 when it must travel with the value. */
uint32_t dft__key_ref(const char *key, size_t len);

/* ---- Records ---- */

/* A record whose arguments are `len` bytes of items. */
void dft__emit(const dft__own *own, const dft__what *what, const uint8_t *items, uint32_t len);

/* Whether a call that began at `mark` is still on the stack below the calling one, which runs in a signal handler then. A
 * handler may also have jumped out of it: calls from where the stack is no deeper tell. */
int dft__busy_is_real(uint32_t mark, uint32_t own_mark);

/* While a record is being written thread.busy marks the place on the stack of the outermost call that does so. Returns what
 * dft__busy_end needs. */
static inline uint32_t dft__busy_mark(const char *here) {
  return (uint32_t)((uintptr_t)here >> 4) | 1;
}
static inline uint32_t dft__busy_begin(dft__thread *thread) {
  char here;
  uint32_t own_mark = dft__busy_mark(&here);
  uint32_t before = DFT__GET(thread->busy);
  if (DFT__UNLIKELY(before)) {
    int is_real = dft__busy_is_real(before, own_mark);
    DFT__SET(thread->nested, is_real ? DFT__GET(thread->nested) + 1 : 0);
    if (!is_real) before = 0;
  }
  DFT__RELEASE(thread->busy, before ? before : own_mark);
  return before;
}

static inline void dft__busy_end(dft__thread *thread, uint32_t before) {
  if (DFT__UNLIKELY(before)) DFT__SET(thread->nested, DFT__GET(thread->nested) - 1);
  DFT__RELEASE(thread->busy, before);
}

static inline void dft__record_fill(dft__record *record, const dft__what *what) {
  record->start = what->start;
  record->end = what->end;
  record->id = what->id;
  record->parent = what->parent;
  record->site = what->site;
  record->level = what->level;
}

/* The region is open until its record has a place, which may take long when the spool is full; then it is one or the other. */
static inline void dft__frame_close(const dft__own *own, uint32_t depth) {
  if (depth) DFT__SET(dft__frames(own)[depth - 1].id, 0);
  atomic_signal_fence(memory_order_seq_cst);
}

/* Few arguments, as most events have: `len` bytes, a multiple of 8, that fit into two cells. */
#define DFT__SMALL_ARGS (DFT__RECORD_ARGS + DFT__CELL_ARGS)
static inline uint32_t dft__small_cells(uint32_t len) {
  return len <= DFT__RECORD_ARGS ? 1 : 2;
}

static inline __attribute__((always_inline)) void dft__record_items(dft__record *record, uint32_t gen,
                                                                    const uint8_t *items, uint32_t len) {
  const uint64_t none = 0;
  if (DFT__LIKELY(len == 0)) {
    memcpy(record->args, &none, 8);
  } else if (len <= DFT__RECORD_ARGS) { /* an item is never shorter than 8 */
    memcpy(record->args, items, 8);
    memcpy(record->args + 8, len > 8 ? items + 8 : (const uint8_t *)&none, 8);
  } else {
    dft__further *further = (dft__further *)(record + 1);
    memcpy(record->args, items, DFT__RECORD_ARGS);
    for (uint32_t at = DFT__RECORD_ARGS; at < len; at += 8)
      memcpy(further->args + at - DFT__RECORD_ARGS, items + at, 8);
    if (len < DFT__SMALL_ARGS) memcpy(further->args + len - DFT__RECORD_ARGS, &none, 8);
    DFT__SET(further->head, dft__head(gen, DFT__KIND_FURTHER, 1, 0));
  }
}

/* The same as dft__emit for these, and for records that end no frame. */
static inline void dft__emit_small(const dft__own *own, const dft__what *what, const uint8_t *items, uint32_t len) {
  uint32_t cells = dft__small_cells(len);
  uint32_t gen, busy = dft__busy_begin(own->thread);
  dft__record *record = dft__reserve(own, cells, &gen);
  if (DFT__LIKELY(record != NULL)) {
    dft__record_fill(record, what);
    dft__record_items(record, gen, items, len);
    DFT__RELEASE(record->head, dft__head(gen, what->kind, cells, what->lane));
  }
  dft__busy_end(own->thread, busy);
}

/* A record with these items, at most 4; name and cat stand first when what->site is 0. */
typedef struct dft__label {
  const char *name;
  size_t name_len;
  const char *cat;
  size_t cat_len;
} dft__label;
void dft__emit_items(const dft__own *own, const dft__what *what, const dft__label *label, const dft__ready_item *items,
                     uint32_t count);

/* The same with arguments of a caller of the API; those that do not fit are counted in the event. */
void dft__emit_args(const dft__own *own, const dft__what *what, const dft__label *label, uint32_t tid,
                    const dft_arg *args, uint32_t count);

/* A metadata record of our own: cat dftracer, the items its args. */
void dft__emit_meta(const dft__own *own, const char *name, const dft__ready_item *items, uint32_t count);

void dft__emit_thread_name(const dft__own *own, uint32_t tid, const char *name, size_t len);
void dft__emit_lane_name(const dft__own *own, uint32_t lane);

/* An argument of the topmost frame. */
void dft__argument_add(const dft__own *own, const dft__ready_item *ready, uint32_t bytes);

/* Before a frame's arguments go into its record: the item that counts losses gets the whole number. */
void dft__argument_settle(const dft__own *own, const dft__frame *frame, uint32_t args_end);

/* Takes off what lies behind; the list ends there. */
static inline void dft__argument_cut(const dft__own *own, uint32_t used) {
  dft__thread *thread = own->thread;
  uint64_t *end = (uint64_t *)(own->base + dft__area_offset(DFT__GET(thread->args)) + used);
  if (DFT__LIKELY(DFT__GET(thread->args_used) == used)) return;
  __atomic_store_n(end, 0, __ATOMIC_RELAXED);
  DFT__SET(thread->args_used, used);
}

/* Events of regions that are open when their thread ends. */
void dft__emit_open_regions(const dft__own *own);

#endif
