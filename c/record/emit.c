/* emit.c - arguments in, one record out.
 * SPDX-License-Identifier: MIT */
#include "emit.h"

#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/signals.h"
#include "spool/clock.h"
#include "spool/intern.h"

/* ---- Bytes -------------------------------------------------------------------------------------------------------- */

void dft__out_bytes(dft__out *out, const void *bytes, uint32_t len) {
  const uint8_t *from = bytes;
  while (len) {
    uint32_t part;
    if (!out->left) {
      out->at += DFT__CELL - DFT__CELL_ARGS; /* the head of the next cell */
      out->left = DFT__CELL_ARGS;
    }
    part = len < out->left ? len : out->left;
    memcpy(out->at, from, part);
    out->at += part;
    out->left -= part;
    from += part;
    len -= part;
  }
}

static void out_padding(dft__out *out, uint32_t len) {
  static const uint8_t zeros[8];
  dft__out_bytes(out, zeros, dft__pad8(len) - len);
}

/* ---- Items -------------------------------------------------------------------------------------------------------- */

static size_t limited(const char *text, size_t len, size_t most) {
  return text ? dft__text_limit(text, len, most) : 0;
}

uint32_t dft__key_ref(const char *key, size_t len) {
  len = limited(key, len, DFT__NAME_MAX);
  return dft__intern(dft__thread_spool(), DFT__NAME_KEY, 0, key ? key : "", len);
}

static inline uint32_t known_key(const char *key, size_t len) {
  uint32_t ref = DFT__LIKELY(key && len && len <= DFT__NAME_MAX)
                   ? dft__name_find(dft__self.base, DFT__NAME_KEY, 0, key, len)
                   : 0;
  return DFT__LIKELY(ref != 0) ? ref : dft__key_ref(key, len);
}

static uint32_t start_item(dft__ready_item *ready, uint32_t key, const char *key_text, size_t key_len) {
  if (!key) key = known_key(key_text, key_len);
  ready->item.key = key ? key : DFT__KEY_INLINE;
  ready->key = key_text ? key_text : "";
  ready->key_len = (uint32_t)limited(key_text, key_len, DFT__NAME_MAX);
  ready->text = NULL;
  ready->value = 0;
  ready->cut_from = 0;
  return sizeof(dft__item) + (key ? 0 : 8 + dft__pad8(ready->key_len));
}

uint32_t dft__item_number(dft__ready_item *ready, uint32_t key, const char *key_text, size_t key_len, uint32_t type,
                          uint64_t value) {
  uint32_t bytes = start_item(ready, key, key_text, key_len);
  ready->item.info = dft__item_info(type, 0, 8);
  ready->value = value;
  return bytes + 8;
}

uint32_t dft__item_text(dft__ready_item *ready, uint32_t key, const char *key_text, size_t key_len, uint32_t type,
                        const char *text, size_t len) {
  uint32_t bytes = start_item(ready, key, key_text, key_len);
  size_t kept = limited(text, len, DFT__TEXT_MAX);
  uint32_t flags = type == DFT_PATH ? DFT__ITEM_TEXT : 0;
  ready->text = text ? text : "";
  if (text && kept < len) {
    ready->cut_from = len;
    flags |= DFT__ITEM_CUT;
    bytes += 8;
  }
  ready->item.info = dft__item_info(type, flags, (uint32_t)kept);
  return bytes + dft__pad8((uint32_t)kept);
}

/* The key of a static dft_key is looked up once a session. */
static uint32_t cached_key(dft_key *key) {
  uint64_t session = dft__self.session;
  uint64_t cache = __atomic_load_n(&key->cache, __ATOMIC_RELAXED);
  uint32_t ref;
  if (DFT__LIKELY((uint32_t)(cache >> 32) == (uint32_t)session && (uint32_t)cache)) return (uint32_t)cache;
  ref = dft__key_ref(key->name, key->name ? strlen(key->name) : 0);
  __atomic_store_n(&key->cache, session << 32 | ref, __ATOMIC_RELAXED);
  return ref;
}

uint32_t dft__item_arg(dft__ready_item *ready, const dft_arg *arg) {
  uint32_t key = arg->key ? cached_key(arg->key) : 0;
  const char *name = arg->key ? arg->key->name : arg->name;
  size_t name_len = arg->key ? (key || !name ? 0 : strlen(name)) : arg->name_len;
  switch (arg->type) {
    case DFT_STRING: return dft__item_text(ready, key, name, name_len, arg->type, arg->value.s.text, arg->value.s.len);
    case DFT_PATH:
      if (!arg->path) return dft__item_text(ready, key, name, name_len, arg->type, arg->value.s.text, arg->value.s.len);
      return dft__item_number(ready, key, name, name_len, DFT_PATH, arg->path);
    case DFT_BOOL: return dft__item_number(ready, key, name, name_len, DFT_BOOL, arg->value.i != 0);
    case DFT_INT:
    case DFT_UINT:
    case DFT_DOUBLE: return dft__item_number(ready, key, name, name_len, arg->type, arg->value.u);
    default: return dft__item_text(ready, key, name, name_len, DFT_STRING, "(unknown type)", 14);
  }
}

void dft__out_item(dft__out *out, const dft__ready_item *ready) {
  dft__out_bytes(out, &ready->item, sizeof ready->item);
  dft__out_value(out, ready);
}

void dft__out_value(dft__out *out, const dft__ready_item *ready) {
  if (ready->item.key == DFT__KEY_INLINE) {
    uint64_t len = ready->key_len;
    dft__out_bytes(out, &len, 8);
    dft__out_bytes(out, ready->key, ready->key_len);
    out_padding(out, ready->key_len);
  }
  if (!ready->text) {
    dft__out_bytes(out, &ready->value, 8);
    return;
  }
  dft__out_bytes(out, ready->text, dft__item_len(&ready->item));
  out_padding(out, dft__item_len(&ready->item));
  if (ready->cut_from) dft__out_bytes(out, &ready->cut_from, 8);
}

/* ---- Records ------------------------------------------------------------------------------------------------------ */

/* From the outermost of our functions to the one that marks it takes less of the stack, and the frame of a signal more. */
#define SAME_DEPTH (1024u >> 4)

int dft__busy_is_real(uint32_t mark, uint32_t own_mark) {
  if (dft__signals_on_own_stack()) return 1; /* nothing to compare */
  return (int32_t)(own_mark + SAME_DEPTH - mark) < 0;
}

static uint32_t cells_for(uint32_t args) {
  return args <= DFT__RECORD_ARGS ? 1 : 1 + (args - DFT__RECORD_ARGS + DFT__CELL_ARGS - 1) / DFT__CELL_ARGS;
}

static dft__record *reserve(const dft__own *own, uint32_t cells, uint32_t *gen) {
  if (DFT__UNLIKELY(cells >= DFT__HUGE_CELLS)) return dft__thread_reserve(own, 0, cells, gen);
  return dft__reserve(own, cells, gen);
}

/* The heads of the further cells, and the end of the arguments where cells are not used up; then the record's own head,
 * with which it becomes one. */
static void finish(dft__record *record, const dft__what *what, dft__out *out, uint32_t args, uint32_t cells,
                   uint32_t gen) {
  uint32_t capacity = DFT__RECORD_ARGS + (cells - 1) * DFT__CELL_ARGS;
  const uint64_t none = 0;
  if (args < capacity) dft__out_bytes(out, &none, 8);
  for (uint32_t i = 1; i < cells; i++) {
    dft__further *further = (dft__further *)(record + i);
    DFT__SET(further->head, dft__head(gen, DFT__KIND_FURTHER, cells - i, 0));
  }
  DFT__RELEASE(record->head, dft__head(gen, what->kind, cells, what->lane));
}

void dft__emit(const dft__own *own, const dft__what *what, const uint8_t *items, uint32_t len) {
  uint32_t cells = cells_for(len);
  uint32_t gen, busy;
  dft__record *record;
  busy = dft__busy_begin(own->thread);
  record = reserve(own, cells, &gen);
  dft__frame_close(own, what->ends);
  if (record) {
    dft__out out = {record->args, DFT__RECORD_ARGS};
    dft__record_fill(record, what);
    dft__out_bytes(&out, items, len);
    finish(record, what, &out, len, cells, gen);
  }
  dft__busy_end(own->thread, busy);
}

/* Name and category of an event that has no registered site. */
static uint32_t label_items(const dft__label *label, dft__ready_item items[2]) {
  uint32_t bytes = dft__item_text(&items[0], DFT__KEY_NAME, NULL, 0, DFT_STRING, label->name, label->name_len);
  return bytes + dft__item_text(&items[1], DFT__KEY_CAT, NULL, 0, DFT_STRING, label->cat, label->cat_len);
}

void dft__emit_items(const dft__own *own, const dft__what *what, const dft__label *label, const dft__ready_item *items,
                     uint32_t count) {
  dft__ready_item names[2];
  uint32_t bytes = what->site ? 0 : label_items(label, names);
  uint32_t cells, gen, busy;
  dft__record *record;
  for (uint32_t i = 0; i < count; i++) {
    bytes += (uint32_t)sizeof(dft__item) + (items[i].item.key == DFT__KEY_INLINE ? 8 + dft__pad8(items[i].key_len) : 0);
    bytes += items[i].text ? dft__pad8(dft__item_len(&items[i].item)) + (items[i].cut_from ? 8 : 0) : 8;
  }
  cells = cells_for(bytes);
  busy = dft__busy_begin(own->thread);
  record = reserve(own, cells, &gen);
  if (record) {
    dft__out out = {record->args, DFT__RECORD_ARGS};
    dft__record_fill(record, what);
    if (!what->site) {
      dft__out_item(&out, &names[0]);
      dft__out_item(&out, &names[1]);
    }
    for (uint32_t i = 0; i < count; i++) dft__out_item(&out, &items[i]);
    finish(record, what, &out, bytes, cells, gen);
  }
  dft__busy_end(own->thread, busy);
}

/* Most arguments are few, and numbers or known paths under keys that are known: 16 bytes each. */
#define QUICK_ARGS 12u
typedef struct quick_item {
  dft__item item;
  uint64_t value;
} quick_item;

/* How many; 0 when one is something else. */
static uint32_t quick_items(quick_item items[QUICK_ARGS + 1], uint32_t tid, const dft_arg *args, uint32_t count) {
  uint32_t made = 0;
  if (tid) items[made++] = (quick_item){{DFT__KEY_TID, dft__item_info(DFT_UINT, 0, 8)}, tid};
  for (uint32_t i = 0; i < count; i++) {
    const dft_arg *arg = &args[i];
    int is_path = arg->type == DFT_PATH && arg->path;
    uint32_t key = arg->key ? cached_key(arg->key) : 0;
    if (!key || (arg->type != DFT_INT && arg->type != DFT_UINT && arg->type != DFT_DOUBLE && !is_path)) return 0;
    items[made++] = (quick_item){{key, dft__item_info(arg->type, 0, 8)}, is_path ? (uint64_t)arg->path : arg->value.u};
  }
  return made;
}

/* Two passes over the arguments, because a list of them may be long and memory for their ready form is not to be had. */
void dft__emit_args(const dft__own *own, const dft__what *what, const dft__label *label, uint32_t tid,
                    const dft_arg *args, uint32_t count) {
  dft__ready_item item, names[2], lost;
  quick_item quick[QUICK_ARGS + 1];
  uint32_t bytes, kept = 0;
  uint32_t cells, gen, busy;
  dft__record *record;
  if (!args) count = 0;
  if (what->site && count <= QUICK_ARGS && (kept = quick_items(quick, tid, args, count))) {
    dft__emit(own, what, (const uint8_t *)quick, kept * (uint32_t)sizeof quick[0]);
    return;
  }
  bytes = what->site ? 0 : label_items(label, names);
  if (tid) bytes += 16;
  for (; kept < count && kept < DFT__ARG_COUNT_MAX; kept++) {
    uint32_t more = dft__item_arg(&item, &args[kept]);
    if (bytes + more + 16 > DFT__ARGS_MAX) break;
    bytes += more;
  }
  if (kept < count) bytes += dft__item_number(&lost, DFT__KEY_LOST, NULL, 0, DFT_INT, count - kept);
  cells = cells_for(bytes);
  busy = dft__busy_begin(own->thread);
  record = reserve(own, cells, &gen);
  if (record) {
    dft__out out = {record->args, DFT__RECORD_ARGS};
    uint32_t written = what->site ? 0 : label_items(label, names);
    dft__record_fill(record, what);
    if (!what->site) {
      dft__out_item(&out, &names[0]);
      dft__out_item(&out, &names[1]);
    }
    if (tid) {
      dft__item_number(&item, DFT__KEY_TID, NULL, 0, DFT_UINT, tid);
      dft__out_item(&out, &item);
      written += 16;
    }
    for (uint32_t i = 0; i < kept; i++) {
      written += dft__item_arg(&item, &args[i]);
      /* A key may have found its place in between; it only gets shorter then. */
      dft__out_item(&out, &item);
    }
    if (kept < count) {
      dft__out_item(&out, &lost);
      written += 16;
    }
    finish(record, what, &out, written, cells, gen);
  }
  dft__busy_end(own->thread, busy);
}

/* ---- Metadata of our own ------------------------------------------------------------------------------------------- */

void dft__emit_meta(const dft__own *own, const char *name, const dft__ready_item *items, uint32_t count) {
  dft__label label = {name, strlen(name), "dftracer", 8};
  dft__what what = {.kind = DFT__KIND_META, .id = dft__thread_next_id(own)};
  what.site = dft__intern_site(dft__thread_spool(), label.name, label.name_len, label.cat, label.cat_len);
  dft__emit_items(own, &what, &label, items, count);
}

static void emit_name_of_tid(const dft__own *own, uint32_t tid, const char *name, size_t len) {
  dft__ready_item items[2];
  dft__item_number(&items[0], DFT__KEY_TID, NULL, 0, DFT_UINT, tid);
  dft__item_text(&items[1], 0, "name", 4, DFT_STRING, name, len);
  dft__emit_meta(own, "thread_name", items, 2);
}

void dft__emit_thread_name(const dft__own *own, uint32_t tid, const char *name, size_t len) {
  emit_name_of_tid(own, tid, name, len);
}

void dft__emit_lane_name(const dft__own *own, uint32_t lane) {
  char name[64];
  snprintf(name, sizeof name, "%u, overlapping %u", own->thread->tid, lane);
  emit_name_of_tid(own, DFT__LANE_TID + lane, name, strlen(name));
}

void dft__emit_open_regions(const dft__own *own) {
  dft__thread *thread = own->thread;
  uint64_t now = dft__clock_ticks();
  for (uint32_t depth = DFT__GET(thread->depth); depth > 0; depth--) {
    dft__frame *frame = &dft__frames(own)[depth - 1];
    uint32_t flags = DFT__GET(frame->flags);
    uint32_t args = DFT__GET(frame->args);
    dft__what what = {.kind = DFT__KIND_OPEN,
                      .start = DFT__GET(frame->start),
                      .end = now,
                      .id = DFT__GET(frame->id),
                      .parent = DFT__GET(frame->parent),
                      .site = DFT__GET(frame->site),
                      .level = DFT__GET(frame->level),
                      .ends = depth};
    if (what.id && !(flags & (DFT__FRAME_MUTED | DFT__FRAME_LEVEL))) {
      if (flags & DFT__FRAME_CROSSED) what.lane = dft__thread_lane(own, what.start, now);
      if (flags & DFT__FRAME_LOST) dft__argument_settle(own, frame, DFT__GET(thread->args_used));
      dft__emit(own, &what, (uint8_t *)own->base + dft__area_offset(DFT__GET(thread->args)) + args,
                DFT__GET(thread->args_used) - args);
    }
    dft__frame_close(own, depth);
    dft__argument_cut(own, args);
    DFT__SET(thread->depth, depth - 1);
  }
}
