/* emit.h - one event in, one record out.
 *
 * Everything here runs on the thread that owns the state it gets.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_EMIT_H
#define DFT_EMIT_H

#include "item.h"
#include "stack.h"

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

/* A record whose arguments are `len` bytes of items. */
void dft__emit(const dft__own *own, const dft__what *what, const uint8_t *items, uint32_t len);

/* Whether a call that began at `mark` is still on the stack below the calling one, which runs in a signal handler then. A
 * handler may also have jumped out of it: a call from a place where the stack is not deeper shows that. */
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

/* What the frame of an open region says of its event. */
static inline dft__what dft__what_of_frame(const dft__frame *frame, uint64_t id, uint64_t now) {
  return (dft__what){.kind = DFT__KIND_COMPLETE,
                     .start = DFT__GET(frame->start),
                     .end = now,
                     .id = id,
                     .parent = DFT__GET(frame->parent),
                     .site = DFT__GET(frame->site),
                     .level = DFT__GET(frame->level)};
}

/* A record is written in three steps: fields, arguments with the heads of further cells, and its own head, with which it counts.
 * All writers fill and publish by these functions. */
static inline void dft__record_fill(dft__record *record, const dft__what *what) {
  record->start = what->start;
  record->end = what->end;
  record->id = what->id;
  record->parent = what->parent;
  record->site = what->site;
  record->level = what->level;
}

/* The same straight from a frame: by way of a dft__what all fields would be held in registers at once. */
static inline __attribute__((always_inline)) void dft__record_fill_ended(dft__record *record, const dft__frame *frame,
                                                                         uint64_t id, uint64_t now) {
  record->start = DFT__GET(frame->start);
  record->end = now;
  record->id = id;
  record->parent = DFT__GET(frame->parent);
  record->site = DFT__GET(frame->site);
  record->level = DFT__GET(frame->level);
}

static inline __attribute__((always_inline)) void dft__record_publish(dft__record *record, uint32_t gen, uint32_t kind,
                                                                      uint32_t cells, uint32_t lane) {
  DFT__RELEASE(record->head, dft__head(gen, kind, cells, lane));
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
    dft__record_publish(record, gen, what->kind, cells, what->lane);
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

#endif
