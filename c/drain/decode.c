/* decode.c - one record of the spool as one event.
 *
 * The spool may be damaged or made up, so every length and reference is checked.
 * SPDX-License-Identifier: MIT */
#include "decode.h"

#include "base/hash.h"
#include "functionname.h"
#include "record/function.h"
#include "spool/intern.h"

static const char *const relation_keys[4] = {"used", "generated", "invalidated", "updated"};

dft_text dft__text_at(const dft__spool *spool, uint32_t ref) {
  const dft__name *name = dft__name_at(spool, ref);
  return name ? (dft_text){name->text, name->len} : (dft_text){"", 0};
}

/* ---- Values ------------------------------------------------------------------------------------------------------- */

static int same_key(const dft_value *a, const dft_value *b) {
  if (a->key_index && b->key_index) return a->key_index == b->key_index;
  return a->key.len == b->key.len && memcmp(a->key.text, b->key.text, a->key.len) == 0;
}

/* A key set twice keeps the last value. Our own come after those of the user and always find room. */
static void add_value(dft_batch *batch, const dft_value *value, uint32_t most) {
  for (uint32_t i = 0; i < batch->value_count; i++) {
    if (same_key(&batch->values[i], value)) {
      batch->values[i] = *value;
      return;
    }
  }
  if (batch->value_count < most) batch->values[batch->value_count++] = *value;
  else batch->lost++;
}

void dft__add_text(dft_batch *batch, const char *key, const char *text, size_t len) {
  dft_value value = {.key = {key, strlen(key)}, .type = DFT_STRING, .value.s = {text, len}};
  add_value(batch, &value, DFT__VALUES_MAX);
}

void dft__add_number(dft_batch *batch, const char *key, uint32_t type, uint64_t number) {
  dft_value value = {.key = {key, strlen(key)}, .type = type, .value.u = number};
  add_value(batch, &value, DFT__VALUES_MAX);
}

static void set_hash(dft_batch *batch, dft_value *value, uint64_t hash) {
  char *hex = batch->path_hash[batch->path_count < DFT__PATHS_MAX ? batch->path_count : DFT__PATHS_MAX - 1];
  if (batch->path_count < DFT__PATHS_MAX) batch->path_count++;
  dft__hex(hex, hash);
  value->type = DFT_STRING;
  value->value.s = (dft_text){hex, 16};
}

/* A path is shown by its hash. This batch defines one that came as text, unless it has done so already. */
static void set_path_text(dft_batch *batch, dft_value *value, dft_text path) {
  uint64_t hash = dft__hash(path.text, path.len, 0);
  uint64_t *seen = &batch->seen_paths[hash % DFT__SEEN_PATHS];
  set_hash(batch, value, hash);
  value->cut_from = 0;
  if (*seen == hash || hash == batch->cwd_hash || batch->undefined_count == DFT__PATHS_MAX) return;
  *seen = hash;
  batch->undefined[batch->undefined_count++] = path;
}

static void set_path(dft_batch *batch, dft_value *value, uint64_t ref) {
  const dft__name *name = ref <= UINT32_MAX ? dft__name_at(batch->spool, (uint32_t)ref) : NULL;
  set_hash(batch, value, name && name->use == DFT__NAME_PATH ? name->hash : dft__hash("", 0, 0));
}

/* The entities of one relation become one text: their ids with commas between them. */
static void relate(dft_batch *batch, uint32_t relation, uint64_t entity) {
  char *text = batch->related[relation];
  dft_value *value = NULL;
  size_t len = 0;
  for (uint32_t i = 0; i < batch->value_count && !value; i++) {
    if (batch->values[i].value.s.text == text && batch->values[i].type == DFT_STRING) value = &batch->values[i];
  }
  if (value) len = value->value.s.len;
  if (len + 18 > DFT__RELATED_BYTES || (!value && batch->value_count >= DFT__ARG_COUNT_MAX)) {
    batch->lost++;
    return;
  }
  if (len) text[len++] = ',';
  dft__hex(text + len, entity);
  if (value) value->value.s.len = len + 16;
  else dft__add_text(batch, relation_keys[relation], text, 16);
}

/* ---- Items -------------------------------------------------------------------------------------------------------- */

static uint64_t load64(const uint8_t *from) {
  uint64_t value;
  memcpy(&value, from, 8);
  return value;
}

/* Decodes the item at `at`. Returns where the next one begins, or `len` when the list ends or is damaged. */
static uint32_t decode_item(dft_batch *batch, const uint8_t *items, uint32_t at, uint32_t len, dft_event *event) {
  dft_value value = {0};
  const dft__name *name;
  uint32_t type, next, key_len = 0;
  uint64_t word;
  dft__item item;
  /* Pairs with the release of argument.c: what follows a key was written before it. */
  word = __atomic_load_n((const uint64_t *)(const void *)(items + at), __ATOMIC_ACQUIRE);
  memcpy(&item, &word, sizeof item);
  type = dft__item_type(&item);
  if (item.key == DFT__KEY_END || type < DFT_INT || type > DFT_PATH || dft__item_len(&item) > DFT__TEXT_MAX) return len;
  if (item.key == DFT__KEY_INLINE) {
    uint64_t stored = at + sizeof item + 8 <= len ? load64(items + at + sizeof item) : UINT64_MAX;
    if (stored > DFT__NAME_MAX) return len;
    key_len = (uint32_t)stored;
  }
  next = at + dft__item_bytes(&item, key_len);
  if (next > len) return len;
  at += (uint32_t)sizeof item;
  if (item.key == DFT__KEY_INLINE) {
    value.key = (dft_text){(const char *)items + at + 8, key_len};
    at += 8 + dft__pad8(key_len);
  } else if (item.key >= DFT__KEY_FIRST) {
    name = dft__name_at(batch->spool, item.key);
    if (!name || name->use != DFT__NAME_KEY) return len;
    value.key = (dft_text){name->text, name->len};
    value.key_index = name->index;
  }
  value.type = type;
  if (dft__item_is_text(&item)) {
    dft_text text = {(const char *)items + at, dft__item_len(&item)};
    if (dft__item_flags(&item) & DFT__ITEM_CUT) value.cut_from = load64(items + at + dft__pad8(dft__item_len(&item)));
    if (type != DFT_PATH) value.type = DFT_STRING;
    value.value.s = text;
    if (item.key == DFT__KEY_NAME) event->name = text;
    else if (item.key == DFT__KEY_CAT) event->cat = text;
    else if (type == DFT_PATH) set_path_text(batch, &value, text);
  } else {
    value.value.u = load64(items + at);
    if (type == DFT_PATH) set_path(batch, &value, value.value.u);
    if (item.key == DFT__KEY_TID) event->tid = (uint32_t)value.value.u;
    if (item.key >= DFT__KEY_RELATION && item.key < DFT__KEY_RELATION + 4) {
      relate(batch, item.key - DFT__KEY_RELATION, value.value.u);
    }
    if (item.key == DFT__KEY_LOST) batch->lost += value.value.u;
  }
  if (item.key == DFT__KEY_INLINE || item.key >= DFT__KEY_FIRST) add_value(batch, &value, DFT__ARG_COUNT_MAX);
  return next;
}

void dft__decode_items(dft_batch *batch, const uint8_t *items, uint32_t len, dft_event *event) {
  uint32_t at = 0;
  while (at + sizeof(dft__item) <= len) at = decode_item(batch, items, at, len, event);
}

/* ---- Records ------------------------------------------------------------------------------------------------------ */

/* The arguments of a record of several cells in one piece. */
static uint32_t gather(dft_batch *batch, const dft__record *record, uint32_t cells) {
  uint32_t len = DFT__RECORD_ARGS;
  memcpy(batch->args, record->args, DFT__RECORD_ARGS);
  for (uint32_t i = 1; i < cells && len + DFT__CELL_ARGS <= sizeof batch->args; i++) {
    memcpy(batch->args + len, ((const dft__further *)(record + i))->args, DFT__CELL_ARGS);
    len += DFT__CELL_ARGS;
  }
  return len;
}

static int64_t opened_ns(const dft_batch *batch) {
  const dft__header *header = batch->spool->header;
  return (dft__batch_time(batch, header->opened_ticks) + 1) * (int64_t)header->unit_ns;
}

void dft__decode_site(dft_batch *batch, uint32_t site, dft_event *event) {
  static const char function[] = DFT__FUNCTION_CATEGORY;
  const dft__name *name = site ? dft__name_at(batch->spool, site) : NULL;
  if (!name || name->use != DFT__NAME_SITE) return;
  event->name = (dft_text){name->text, name->len};
  event->cat = dft__text_at(batch->spool, name->cat);
  event->site_index = name->index;
  if (DFT__UNLIKELY(event->cat.len == sizeof function - 1 && memcmp(event->cat.text, function, event->cat.len) == 0)) {
    event->name = dft__function_name(event->name, opened_ns(batch));
  }
}

int dft__decode_record(dft_batch *batch, const dft__chunk *chunk, uint32_t cell, uint32_t end, uint32_t gen,
                       dft_event *event, uint32_t *cells) {
  const dft__record *record = (const dft__record *)((const char *)chunk + (size_t)cell * DFT__CELL);
  const dft__header *header = batch->spool->header;
  uint64_t head = DFT__ACQUIRE(record->head);
  uint32_t kind = dft__head_kind(head);
  *cells = 1;
  if (dft__head_gen(head) != gen || kind < DFT__KIND_COMPLETE || kind > DFT__KIND_META) return 0;
  if (!dft__head_cells(head) || cell + dft__head_cells(head) > end) return 0;
  *cells = dft__head_cells(head);
  batch->value_count = 0;
  batch->lost = 0;
  batch->path_count = 0;
  batch->undefined_count = 0;
  *event = (dft_event){.id = record->id,
                       .parent = record->parent ? (int64_t)record->parent : -1,
                       .level = record->level,
                       .phase = DFT_COMPLETE,
                       .pid = header->pid,
                       .tid = DFT__GET(chunk->tid)};
  dft__decode_site(batch, record->site, event);
  if (dft__head_lane(head)) event->tid = DFT__LANE_TID + dft__head_lane(head);
  if (kind == DFT__KIND_TIMED) {
    event->start = record->start <= INT64_MAX ? (int64_t)record->start : INT64_MAX;
    event->duration = record->end <= INT64_MAX ? (int64_t)record->end : INT64_MAX;
  } else if (kind != DFT__KIND_META) {
    event->start = dft__batch_time(batch, record->start);
    event->duration = record->end > record->start ? dft__batch_time(batch, record->end) - event->start : 0;
    if (event->duration < 0) event->duration = 0; /* ticks beyond the range of the unit */
    if (record->end > batch->last_ticks) batch->last_ticks = record->end;
  }
  if (kind == DFT__KIND_COUNTER) event->phase = DFT_COUNTER;
  if (kind == DFT__KIND_META) event->phase = DFT_METADATA;
  if (*cells == 1) dft__decode_items(batch, record->args, DFT__RECORD_ARGS, event);
  else dft__decode_items(batch, batch->args, gather(batch, record, *cells), event);
  if (DFT__UNLIKELY(batch->lost)) dft__add_number(batch, "args_lost", DFT_INT, batch->lost);
  if (kind == DFT__KIND_OPEN) dft__add_number(batch, "open", DFT_INT, 1);
  if (header->hide_tids) event->tid = header->pid;
  event->values = batch->values;
  event->value_count = batch->value_count;
  batch->events += event->phase == DFT_COMPLETE;
  return 1;
}
