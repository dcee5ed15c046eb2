/* emit.c - one event in, one record out.
 * SPDX-License-Identifier: MIT */
#include "emit.h"

#include "base/signals.h"
#include "spool/intern.h"

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

/* A record being written: `out` is where its next argument goes. */
typedef struct draft_record {
  dft__record *record; /* NULL: there was no room, and the loss is counted */
  dft__out out;
  uint32_t cells, gen, busy;
} draft_record;

/* Reserves a record with `bytes` of arguments. A frame that it ends is closed as soon as the record has a place. */
static inline __attribute__((always_inline)) draft_record begin(const dft__own *own, const dft__what *what,
                                                                uint32_t bytes) {
  draft_record draft = {.cells = cells_for(bytes), .busy = dft__busy_begin(own->thread)};
  draft.record = reserve(own, draft.cells, &draft.gen);
  dft__frame_close(own, what->ends);
  if (draft.record) {
    dft__record_fill(draft.record, what);
    draft.out = (dft__out){draft.record->args, DFT__RECORD_ARGS};
  }
  return draft;
}

/* `bytes` of arguments were written, at most as many as were reserved: marks their end where cells are not used up. */
static inline __attribute__((always_inline)) void finish(const dft__own *own, const dft__what *what,
                                                         draft_record *draft, uint32_t bytes) {
  const uint64_t none = 0;
  if (draft->record) {
    if (bytes < DFT__RECORD_ARGS + (draft->cells - 1) * DFT__CELL_ARGS) dft__out_bytes(&draft->out, &none, 8);
    for (uint32_t i = 1; i < draft->cells; i++) {
      dft__further *further = (dft__further *)(draft->record + i);
      DFT__SET(further->head, dft__head(draft->gen, DFT__KIND_FURTHER, draft->cells - i, 0));
    }
    dft__record_publish(draft->record, draft->gen, what->kind, draft->cells, what->lane);
  }
  dft__busy_end(own->thread, draft->busy);
}

void dft__emit(const dft__own *own, const dft__what *what, const uint8_t *items, uint32_t len) {
  draft_record draft = begin(own, what, len);
  if (draft.record) dft__out_bytes(&draft.out, items, len);
  finish(own, what, &draft, len);
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
  draft_record draft;
  for (uint32_t i = 0; i < count; i++) bytes += dft__ready_bytes(&items[i]);
  draft = begin(own, what, bytes);
  if (draft.record) {
    for (uint32_t i = 0; i < 2 && !what->site; i++) dft__out_item(&draft.out, &names[i]);
    for (uint32_t i = 0; i < count; i++) dft__out_item(&draft.out, &items[i]);
  }
  finish(own, what, &draft, bytes);
}

/* Most arguments are few, and numbers or known paths under known keys: 16 bytes each. */
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
    uint32_t key = arg->key ? dft__key_cached(arg->key) : 0;
    if (!key || (arg->type != DFT_INT && arg->type != DFT_UINT && arg->type != DFT_DOUBLE && !is_path)) return 0;
    items[made++] = (quick_item){{key, dft__item_info(arg->type, 0, 8)}, is_path ? (uint64_t)arg->path : arg->value.u};
  }
  return made;
}

#define LOST_BYTES 16u /* of the item that counts arguments without room */

/* Two passes over the arguments, because a list of them may be long and nothing may be allocated to hold it. In the second
 * pass a key may have found its place in the registry; then the item only gets shorter. */
void dft__emit_args(const dft__own *own, const dft__what *what, const dft__label *label, uint32_t tid,
                    const dft_arg *args, uint32_t count) {
  dft__ready_item item, before[3], lost;
  quick_item quick[QUICK_ARGS + 1];
  uint32_t others = 0, bytes = 0, written = 0; /* bytes of the items around the arguments, and of these in each pass */
  uint32_t before_count = 0, kept = 0;
  draft_record draft;
  if (!args) count = 0;
  if (what->site && count <= QUICK_ARGS && (kept = quick_items(quick, tid, args, count))) {
    dft__emit(own, what, (const uint8_t *)quick, kept * (uint32_t)sizeof quick[0]);
    return;
  }
  if (!what->site) {
    others = label_items(label, before);
    before_count = 2;
  }
  if (tid) others += dft__item_number(&before[before_count++], DFT__KEY_TID, NULL, 0, DFT_UINT, tid);
  for (; kept < count && kept < DFT__ARG_COUNT_MAX; kept++) {
    uint32_t more = dft__item_arg(&item, &args[kept]);
    if (others + bytes + more + LOST_BYTES > DFT__ARGS_MAX) break;
    bytes += more;
  }
  if (kept < count) others += dft__item_number(&lost, DFT__KEY_LOST, NULL, 0, DFT_INT, count - kept);
  draft = begin(own, what, others + bytes);
  if (draft.record) {
    for (uint32_t i = 0; i < before_count; i++) dft__out_item(&draft.out, &before[i]);
    for (uint32_t i = 0; i < kept; i++) {
      written += dft__item_arg(&item, &args[i]);
      dft__out_item(&draft.out, &item);
    }
    if (kept < count) dft__out_item(&draft.out, &lost);
  }
  finish(own, what, &draft, others + written);
}

/* ---- Metadata of our own ------------------------------------------------------------------------------------------- */

void dft__emit_meta(const dft__own *own, const char *name, const dft__ready_item *items, uint32_t count) {
  dft__label label = {name, strlen(name), "dftracer", 8};
  dft__what what = {.kind = DFT__KIND_META, .id = dft__thread_next_id(own)};
  what.site = dft__intern_site(dft__thread_spool(), label.name, label.name_len, label.cat, label.cat_len);
  dft__emit_items(own, &what, &label, items, count);
}

void dft__emit_thread_name(const dft__own *own, uint32_t tid, const char *name, size_t len) {
  dft__ready_item items[2];
  dft__item_number(&items[0], DFT__KEY_TID, NULL, 0, DFT_UINT, tid);
  dft__item_text(&items[1], 0, "name", 4, DFT_STRING, name, len);
  dft__emit_meta(own, "thread_name", items, 2);
}
