/* rows.c - events to rows.
 * SPDX-License-Identifier: MIT */
#include "rows.h"

#include <stdlib.h>

#include "plain.h"

#define COLUMN(rows, column, type) ((type *)(rows)->tables.data[DFT__H5_##column])

/* ---- Names and texts ---------------------------------------------------------------------------------------------- */

static void keep_name(dft__h5_rows *rows, dft_text text) {
  uint32_t len = (uint32_t)text.len;
  size_t need = rows->new_bytes + sizeof len + len;
  if (need > rows->new_room) {
    uint8_t *memory = realloc(rows->new_names, need * 2);
    if (!memory) {
      rows->tables.has_failed = 1;
      return;
    }
    rows->new_names = memory;
    rows->new_room = need * 2;
  }
  memcpy(rows->new_names + rows->new_bytes, &len, sizeof len);
  memcpy(rows->new_names + rows->new_bytes + sizeof len, text.text, len);
  rows->new_bytes = need;
}

static uint32_t name_row(dft__h5_rows *rows, dft_text text) {
  uint64_t row = dft__h5_dictionary_row(&rows->names, text, rows->name_count);
  if (row == rows->name_count) {
    rows->name_count++;
    keep_name(rows, text);
  }
  return (uint32_t)row;
}

static uint32_t text_row(dft__h5_rows *rows, dft_text text) {
  dft__h5_tables *tables = &rows->tables;
  uint64_t new_row = tables->rows[DFT__H5_TEXTS];
  uint64_t row = dft__h5_dictionary_row(&rows->texts, text, new_row);
  size_t at = 0;
  if (row != new_row) return (uint32_t)row;
  while (at < text.len) {
    uint32_t place = dft__h5_row(tables, DFT__H5_BYTES);
    size_t part = DFT__H5_ROWS - place < text.len - at ? DFT__H5_ROWS - place : text.len - at;
    memcpy(COLUMN(rows, BYTES_bytes, uint8_t) + place, text.text + at, part);
    at += part;
    tables->rows[DFT__H5_BYTES] += part - 1;
    dft__h5_row_end(tables, DFT__H5_BYTES);
  }
  COLUMN(rows, TEXTS_end, uint64_t)[dft__h5_row(tables, DFT__H5_TEXTS)] = tables->rows[DFT__H5_BYTES];
  dft__h5_row_end(tables, DFT__H5_TEXTS);
  return (uint32_t)row;
}

/* Makes room for an index; zero without memory, and then the dictionary is asked each time. */
static int reach(void **list, uint32_t *room, uint32_t index, size_t size) {
  uint32_t wanted = index + index / 2 + 64;
  char *larger;
  if (index < *room) return 1;
  larger = realloc(*list, wanted * size);
  if (!larger) return 0;
  memset(larger + *room * size, 0, (wanted - *room) * size);
  *list = larger;
  *room = wanted;
  return 1;
}

static struct dft__h5_site site_of(dft__h5_rows *rows, const dft_event *event) {
  uint32_t index = event->site_index;
  int is_kept = index && reach((void **)&rows->sites, &rows->site_room, index, sizeof rows->sites[0]);
  struct dft__h5_site site = {0};
  if (is_kept && rows->sites[index].name) return rows->sites[index];
  site.is_plain = event->name.len && event->cat.len && dft__h5_plain_text(event->name) &&
                  dft__h5_plain_text(event->cat);
  if (site.is_plain) {
    site.name = name_row(rows, event->name) + 1;
    site.cat = name_row(rows, event->cat) + 1;
    if (is_kept) rows->sites[index] = site;
  }
  return site;
}

static struct dft__h5_key key_of(dft__h5_rows *rows, const dft_value *value) {
  uint32_t index = value->key_index;
  int is_kept = index && reach((void **)&rows->keys, &rows->key_room, index, sizeof rows->keys[0]);
  struct dft__h5_key key = {0};
  if (is_kept && rows->keys[index].row) return rows->keys[index];
  key.is_plain = dft__h5_plain_key(value->key);
  if (key.is_plain) {
    key.row = name_row(rows, value->key) + 1;
    if (is_kept) rows->keys[index] = key;
  }
  return key;
}

/* ---- What the trace says of its process --------------------------------------------------------------------------- */

static int is_text(dft_text text, const char *other) {
  return text.len == strlen(other) && memcmp(text.text, other, text.len) == 0;
}

static dft_text argument(const dft_event *event, const char *key) {
  for (uint32_t i = 0; i < event->value_count; i++) {
    if (event->values[i].type == DFT_STRING && is_text(event->values[i].key, key)) return event->values[i].value.s;
  }
  return (dft_text){"", 0};
}

static void keep_text(char *into, size_t size, dft_text text) {
  size_t len = text.len < size - 1 ? text.len : size - 1;
  memcpy(into, text.text, len);
  memset(into + len, 0, size - len);
}

static void note_process(dft__h5_rows *rows, const dft_event *event) {
  dft__h5_process *process = &rows->process;
  dft_text name, value;
  if (!process->pid) process->pid = event->pid, rows->is_process_saved = 0;
  if (event->phase != DFT_METADATA || !is_text(event->cat, "dftracer")) return;
  name = argument(event, "name");
  value = argument(event, "value");
  if (is_text(event->name, "HH")) {
    keep_text(process->host, sizeof process->host, name);
    keep_text(process->host_hash, sizeof process->host_hash, value);
  } else if (is_text(event->name, "CM") && is_text(name, "time_metric")) {
    keep_text(process->unit, sizeof process->unit, value);
  } else if (is_text(event->name, "PR") && is_text(name, "rank")) {
    char digits[16];
    keep_text(digits, sizeof digits, value);
    process->rank = (int32_t)strtol(digits, NULL, 10);
  } else {
    return;
  }
  rows->is_process_saved = 0;
}

/* ---- Rows --------------------------------------------------------------------------------------------------------- */

/* One argument; `table` has the columns event, key, value in this order. */
#define ADD_VALUE(rows, table, type, given, event_row, key_row)     \
  do {                                                              \
    uint32_t place = dft__h5_row(&(rows)->tables, DFT__H5_##table); \
    COLUMN(rows, table##_event, uint64_t)[place] = (event_row);     \
    COLUMN(rows, table##_key, uint32_t)[place] = (key_row);         \
    COLUMN(rows, table##_value, type)[place] = (given);             \
    dft__h5_row_end(&(rows)->tables, DFT__H5_##table);              \
  } while (0)

static void add_value(dft__h5_rows *rows, const dft_value *value, uint64_t event, uint32_t key) {
  switch (value->type) {
    case DFT_INT: ADD_VALUE(rows, INTS, int64_t, value->value.i, event, key); return;
    case DFT_UINT: ADD_VALUE(rows, UINTS, uint64_t, value->value.u, event, key); return;
    case DFT_DOUBLE: ADD_VALUE(rows, DOUBLES, double, value->value.d, event, key); return;
    case DFT_BOOL: ADD_VALUE(rows, BOOLS, uint8_t, value->value.i != 0, event, key); return;
    default: {
      uint32_t text = text_row(rows, value->value.s);
      ADD_VALUE(rows, STRINGS, uint32_t, text, event, key);
    }
  }
}

static void add_event(dft__h5_rows *rows, const dft_event *event, struct dft__h5_site site) {
  uint32_t place = dft__h5_row(&rows->tables, DFT__H5_EVENTS);
  int has_time = event->phase != DFT_METADATA;
  int has_level = event->phase == DFT_COMPLETE && event->level;
  COLUMN(rows, EVENTS_id, uint64_t)[place] = event->id;
  COLUMN(rows, EVENTS_parent, int64_t)[place] = has_level ? event->parent : -1;
  COLUMN(rows, EVENTS_ts, int64_t)[place] = has_time ? event->start : 0;
  COLUMN(rows, EVENTS_dur, int64_t)[place] = event->phase == DFT_COMPLETE ? event->duration : 0;
  COLUMN(rows, EVENTS_name, uint32_t)[place] = site.name - 1;
  COLUMN(rows, EVENTS_cat, uint32_t)[place] = site.cat - 1;
  COLUMN(rows, EVENTS_pid, uint32_t)[place] = event->pid;
  COLUMN(rows, EVENTS_tid, uint32_t)[place] = event->tid;
  COLUMN(rows, EVENTS_level, uint32_t)[place] = has_level ? event->level : 0;
  COLUMN(rows, EVENTS_phase, uint8_t)[place] = (uint8_t)event->phase;
  if (rows->tables.is_job) {
    COLUMN(rows, EVENTS_process, uint32_t)[place] = rows->process_row;
    COLUMN(rows, EVENTS_rank, int32_t)[place] = -1; /* known at the end: h5join fills it in */
  }
  dft__h5_row_end(&rows->tables, DFT__H5_EVENTS);
}

/* An event that needs it comes a second time, in its plain form. */
static void add_plain(dft__h5_rows *rows, const dft_event *event) {
  dft__h5_plain plain;
  if (dft__h5_plain_make(&plain, event)) dft__h5_rows_add(rows, &plain.event);
  else rows->tables.has_failed = 1;
  dft__h5_plain_free(&plain);
}

void dft__h5_rows_add(dft__h5_rows *rows, const dft_event *event) {
  uint64_t row = rows->tables.rows[DFT__H5_EVENTS];
  struct dft__h5_site site = site_of(rows, event);
  int is_plain = site.is_plain && dft__h5_plain_values(event);
  for (uint32_t i = 0; is_plain && i < event->value_count; i++) is_plain = key_of(rows, &event->values[i]).is_plain;
  if (!is_plain) {
    add_plain(rows, event);
    return;
  }
  if (!rows->tables.is_job) note_process(rows, event);
  for (uint32_t i = 0; i < event->value_count; i++) {
    add_value(rows, &event->values[i], row, key_of(rows, &event->values[i]).row - 1);
  }
  add_event(rows, event, site);
}

/* ---- The file ----------------------------------------------------------------------------------------------------- */

static int put_bytes(dft__h5_rows *rows, const dft__h5_record *record, const void *bytes) {
  uint8_t *at = dft__h5_segment_reserve(&rows->segment, record->bytes);
  if (!at) return 0;
  memcpy(at, bytes, record->bytes);
  dft__h5_segment_put(&rows->segment, record);
  return 1;
}

static int save_process(dft__h5_rows *rows) {
  dft__h5_record record = {.kind = DFT__H5_PROCESS, .what = rows->process_row, .bytes = sizeof rows->process};
  if (rows->is_process_saved || rows->tables.is_job || !rows->process.pid) return 1;
  rows->is_process_saved = 1;
  return put_bytes(rows, &record, &rows->process);
}

static int save_names(dft__h5_rows *rows) {
  dft__h5_record record = {.kind = DFT__H5_NAMES,
                           .count = (uint32_t)(rows->name_count - rows->names_saved),
                           .first = rows->names_saved,
                           .bytes = rows->new_bytes};
  if (!record.count) return 1;
  rows->names_saved = rows->name_count;
  rows->new_bytes = 0;
  return put_bytes(rows, &record, rows->new_names);
}

void dft__h5_rows_describe(dft__h5_rows *rows, uint32_t row, const dft__h5_process *process) {
  dft__h5_record record = {.kind = DFT__H5_PROCESS, .what = row, .bytes = sizeof *process};
  if (!put_bytes(rows, &record, process)) rows->tables.has_failed = 1;
}

dft_status dft__h5_rows_save(dft__h5_rows *rows, uint64_t *length) {
  dft_status status;
  dft__h5_record saved = {.kind = DFT__H5_SAVED};
  int is_fine = save_process(rows) && save_names(rows) && dft__h5_tables_save(&rows->tables) &&
                put_bytes(rows, &saved, "");
  if (!is_fine) return rows->segment.status != DFT_OK ? rows->segment.status : DFT_ENOMEM;
  status = dft__h5_segment_flush(&rows->segment, 0);
  *length = rows->segment.length;
  return status;
}

dft_status dft__h5_rows_roll(dft__h5_rows *rows, uint64_t most) {
  int is_new;
  dft_status status = dft__h5_segment_roll(&rows->segment, most, &is_new);
  if (is_new) rows->tables.tail_count = 0; /* their storage goes with the segment */
  return status;
}

/* ---- Open and close ----------------------------------------------------------------------------------------------- */

static int take_names(dft__h5_rows *rows, dft__h5_walk *walk) {
  uint8_t *bytes = malloc(walk->record.bytes + 1);
  uint64_t at = 0;
  uint32_t taken = 0;
  int is_fine = bytes && walk->record.first == rows->name_count && dft__h5_walk_read(walk, bytes, walk->record.bytes);
  while (is_fine && taken < walk->record.count) {
    uint32_t len = UINT32_MAX;
    if (walk->record.bytes - at >= sizeof len) memcpy(&len, bytes + at, sizeof len);
    at += sizeof len;
    is_fine = at <= walk->record.bytes && len <= walk->record.bytes - at;
    if (!is_fine) break;
    dft__h5_dictionary_row(&rows->names, (dft_text){(const char *)bytes + at, len}, rows->name_count);
    rows->name_count++;
    taken++;
    at += len;
  }
  rows->names_saved = rows->name_count;
  free(bytes);
  return is_fine;
}

static int take_process(dft__h5_rows *rows, dft__h5_walk *walk) {
  rows->process_row = walk->record.what;
  rows->is_process_saved = 1;
  return walk->record.bytes == sizeof rows->process && dft__h5_walk_read(walk, &rows->process, sizeof rows->process);
}

static int take_record(dft__h5_rows *rows, dft__h5_walk *walk, int is_second) {
  switch (walk->record.kind) {
    case DFT__H5_HEAD:
    case DFT__H5_SAVED: return 1;
    case DFT__H5_CHUNK: return is_second || dft__h5_tables_take_chunk(&rows->tables, &walk->record);
    case DFT__H5_TAIL: return !is_second || dft__h5_tables_take_tail(&rows->tables, walk);
    case DFT__H5_NAMES: return is_second || take_names(rows, walk);
    case DFT__H5_PROCESS: return is_second || take_process(rows, walk);
    default: return 0;
  }
}

/* Everything as it was when the file had this length. Texts get second rows where they come again. */
static int replay(dft__h5_rows *rows, uint64_t length) {
  dft__h5_walk walk;
  int found = 1;
  if (!dft__h5_walk_open(&walk, rows->segment.path, length)) return 0;
  for (int is_second = 0; is_second < 2 && found >= 0; is_second++) {
    walk.next = 0;
    while ((found = dft__h5_walk_next(&walk)) > 0) {
      if (!take_record(rows, &walk, is_second)) found = -1;
      if (found < 0) break;
    }
  }
  dft__h5_walk_close(&walk);
  return found == 0;
}

dft_status dft__h5_rows_open(dft__h5_rows *rows, const char *path, const dft__h5_head *head, uint64_t length) {
  dft__h5_record record = {.kind = DFT__H5_HEAD, .bytes = sizeof *head};
  int is_fine;
  memset(rows, 0, sizeof *rows);
  rows->head = *head;
  rows->process.rank = -1;
  is_fine = dft__h5_segment_open(&rows->segment, path, length) &&
            dft__h5_tables_make(&rows->tables, &rows->segment, head->level, head->is_job) &&
            dft__h5_dictionary_make(&rows->names, 1u << 17) && dft__h5_dictionary_make(&rows->texts, 1u << 15);
  if (!is_fine) return DFT_ENOMEM;
  if (length) return replay(rows, length) ? DFT_OK : DFT_EFORMAT;
  return put_bytes(rows, &record, head) ? DFT_OK : DFT_ENOMEM;
}

void dft__h5_rows_close(dft__h5_rows *rows) {
  dft__h5_tables_free(&rows->tables);
  dft__h5_dictionary_free(&rows->names);
  dft__h5_dictionary_free(&rows->texts);
  dft__h5_segment_close(&rows->segment);
  free(rows->new_names);
  free(rows->sites);
  free(rows->keys);
}
