/* events.c - the way back: the rows of segment files as events, for readers of what is not published yet.
 *
 * One chunk of every column is in memory, of texts a few, and where the others lie; names are all there. The files may be a stranger's, or
 * of a process that goes on writing: every number is checked, and what is wrong ends the events.
 * SPDX-License-Identifier: MIT */
#include <dftracer/h5.h>
#include <stdlib.h>

#include "rows.h"

#define SLOTS 16u              /* chunks of texts in memory: an old one is often asked for beside new ones */
#define VALUES_MOST (1u << 20) /* of one event; the sinks write a few hundred at most */

typedef struct place {
  uint64_t offset;
  uint64_t bytes;
} place;

typedef struct tail {
  uint64_t offset;
  dft__h5_record record;
} tail;

struct dft_h5_segments {
  dft__h5_walk walk;
  dft__h5_tables tables; /* how many rows there are, and those that fill no chunk */
  struct column {
    place *places; /* of its chunks */
    uint64_t count, room;
    struct slot {
      uint64_t loaded; /* number of the chunk in memory and one; 0: none */
      uint8_t *values;
    } slots[SLOTS];
  } columns[DFT__H5_COLUMNS];
  struct {
    uint64_t chunk_rows; /* rows in chunks */
    tail *tails;         /* behind those */
    uint64_t count, room;
  } of_table[DFT__H5_TABLES];
  uint8_t *names; /* records NAMES, one behind the other */
  uint64_t names_len, names_room;
  uint64_t *name_at; /* where the length of each stands */
  uint64_t name_count, name_room;
  dft__h5_process process;
  uint64_t row;
  uint64_t next[DFT__H5_TABLES]; /* row of the first argument of a later event */
  dft_value *values;
  uint64_t value_room;
  char *texts; /* of the event in hand */
  uint64_t texts_len, texts_room;
  uint8_t *packed;
  char *path;
  int has_failed;
};

/* Room for so many things in all; zero without memory. */
static int reach(void **list, uint64_t *room, uint64_t count, size_t size) {
  void *larger;
  if (count <= *room) return 1;
  larger = realloc(*list, count * 2 * size);
  if (!larger) return 0;
  *list = larger;
  *room = count * 2;
  return 1;
}

/* ---- Opening ------------------------------------------------------------------------------------------------------ */

static int take_chunk(dft_h5_segments *of) {
  const dft__h5_record *record = &of->walk.record;
  struct column *column;
  if (!dft__h5_tables_take_chunk(&of->tables, record)) return 0;
  column = &of->columns[record->what];
  if (column->count != record->first / DFT__H5_ROWS) return 0;
  if (!reach((void **)&column->places, &column->room, column->count + 1, sizeof(place))) return 0;
  column->places[column->count++] = (place){of->walk.offset, record->bytes};
  of->of_table[dft__h5_columns[record->what].table].count = 0;
  return 1;
}

static int note_tail(dft_h5_segments *of) {
  uint32_t table = of->walk.record.what;
  if (table >= DFT__H5_TABLES) return 0;
  if (!reach((void **)&of->of_table[table].tails, &of->of_table[table].room, of->of_table[table].count + 1,
             sizeof(tail)))
    return 0;
  of->of_table[table].tails[of->of_table[table].count++] = (tail){of->walk.offset, of->walk.record};
  return 1;
}

static int take_tails(dft_h5_segments *of) {
  for (uint32_t table = 0; table < DFT__H5_TABLES; table++) {
    for (uint64_t i = 0; i < of->of_table[table].count; i++) {
      of->walk.offset = of->of_table[table].tails[i].offset;
      of->walk.record = of->of_table[table].tails[i].record;
      if (!dft__h5_tables_take_tail(&of->tables, &of->walk)) return 0;
    }
  }
  return 1;
}

static int take_names(dft_h5_segments *of) {
  const dft__h5_record *record = &of->walk.record;
  uint64_t at = of->names_len;
  if (record->first != of->name_count || record->bytes > UINT32_MAX) return 0;
  if (!reach((void **)&of->names, &of->names_room, at + record->bytes, 1) ||
      !dft__h5_walk_read(&of->walk, of->names + at, record->bytes)) {
    return 0;
  }
  of->names_len += record->bytes;
  for (uint32_t i = 0; i < record->count; i++) {
    uint32_t len;
    if (of->names_len - at < sizeof len) return 0;
    memcpy(&len, of->names + at, sizeof len);
    if (len > of->names_len - at - sizeof len) return 0;
    if (!reach((void **)&of->name_at, &of->name_room, of->name_count + 1, sizeof at)) return 0;
    of->name_at[of->name_count++] = at;
    at += sizeof len + len;
  }
  return 1;
}

static int take_head(dft_h5_segments *of) {
  dft__h5_head head;
  return of->walk.record.bytes == sizeof head && dft__h5_walk_read(&of->walk, &head, sizeof head) &&
         head.schema == DFT__H5_SCHEMA && !head.is_job;
}

static int take_record(dft_h5_segments *of) {
  switch (of->walk.record.kind) {
    case DFT__H5_HEAD: return take_head(of);
    case DFT__H5_CHUNK: return take_chunk(of);
    case DFT__H5_TAIL: return note_tail(of);
    case DFT__H5_NAMES: return take_names(of);
    case DFT__H5_PROCESS:
      return of->walk.record.bytes == sizeof of->process &&
             dft__h5_walk_read(&of->walk, &of->process, sizeof of->process);
    default: return 1;
  }
}

dft_status dft_h5_segments_read(dft_h5_segments *of, uint64_t live_bytes) {
  uint64_t next = of->walk.next;
  int found = -1;
  dft__h5_walk_close(&of->walk);
  for (uint32_t table = 0; table < DFT__H5_TABLES; table++) of->tables.rows[table] = of->of_table[table].chunk_rows;
  if (!dft__h5_walk_open(&of->walk, of->path, live_bytes)) {
    of->walk.next = next;
    return DFT_EFORMAT;
  }
  of->walk.next = next;
  while ((found = dft__h5_walk_next(&of->walk)) > 0) {
    if (!take_record(of)) return DFT_EFORMAT;
  }
  for (uint32_t table = 0; table < DFT__H5_TABLES; table++) of->of_table[table].chunk_rows = of->tables.rows[table];
  return take_tails(of) && found == 0 ? DFT_OK : DFT_EFORMAT;
}

dft_status dft_h5_segments_open(const char *live_path, dft_h5_segments **segments) {
  dft_h5_segments *of = calloc(1, sizeof *of);
  *segments = NULL;
  if (!of) return DFT_ENOMEM;
  of->path = strdup(live_path);
  of->packed = malloc(dft__h5_filter_bound(8));
  if (!of->path || !of->packed || !dft__h5_tables_make(&of->tables, NULL, 1, 0)) {
    dft_h5_segments_close(of);
    return DFT_ENOMEM;
  }
  *segments = of;
  return DFT_OK;
}

void dft_h5_segments_close(dft_h5_segments *of) {
  if (!of) return;
  for (uint32_t i = 0; i < DFT__H5_COLUMNS; i++) {
    free(of->columns[i].places);
    for (uint32_t k = 0; k < SLOTS; k++) free(of->columns[i].slots[k].values);
  }
  for (uint32_t i = 0; i < DFT__H5_TABLES; i++) free(of->of_table[i].tails);
  dft__h5_walk_close(&of->walk);
  dft__h5_tables_free(&of->tables);
  free(of->names);
  free(of->name_at);
  free(of->values);
  free(of->texts);
  free(of->packed);
  free(of->path);
  free(of);
}

const dft__h5_process *dft__h5_segments_process(const dft_h5_segments *of) {
  return &of->process;
}

/* ---- Values ------------------------------------------------------------------------------------------------------- */

static struct slot *slot_of(dft_h5_segments *of, uint32_t which, uint64_t chunk) {
  uint32_t table = dft__h5_columns[which].table;
  return &of->columns[which].slots[table == DFT__H5_TEXTS || table == DFT__H5_BYTES ? chunk % SLOTS : 0];
}

static int load(dft_h5_segments *of, uint32_t which, uint64_t chunk) {
  struct slot *slot = slot_of(of, which, chunk);
  size_t size = dft__h5_columns[which].size;
  place from;
  if (chunk >= of->columns[which].count) return 0;
  from = of->columns[which].places[chunk];
  if (!slot->values) slot->values = malloc(DFT__H5_ROWS * size);
  of->walk.offset = from.offset;
  of->walk.record.bytes = from.bytes;
  slot->loaded = 0;
  if (!slot->values || !dft__h5_walk_read(&of->walk, of->packed, dft__h5_filter_bound(8))) return 0;
  if (!dft__h5_filter_unpack(of->tables.filter, of->packed, from.bytes, size, slot->values)) return 0;
  slot->loaded = chunk + 1;
  return 1;
}

/* The value in this row, which the caller knows to be there; zeros when it cannot be read. */
static const uint8_t *value_at(dft_h5_segments *of, uint32_t which, uint64_t row) {
  static const uint8_t none[8];
  const dft__h5_column_info *info = &dft__h5_columns[which];
  uint64_t chunk = row / DFT__H5_ROWS;
  size_t at = (size_t)(row % DFT__H5_ROWS) * info->size;
  if (chunk == of->tables.rows[info->table] / DFT__H5_ROWS) return (const uint8_t *)of->tables.data[which] + at;
  if (slot_of(of, which, chunk)->loaded != chunk + 1 && !load(of, which, chunk)) {
    of->has_failed = 1;
    return none;
  }
  return slot_of(of, which, chunk)->values + at;
}

static uint64_t number_at(dft_h5_segments *of, uint32_t which, uint64_t row) {
  const uint8_t *at = value_at(of, which, row);
  uint32_t half;
  uint64_t whole;
  if (dft__h5_columns[which].size == 1) return *at;
  if (dft__h5_columns[which].size == 4) return memcpy(&half, at, sizeof half), half;
  return memcpy(&whole, at, sizeof whole), whole;
}

static dft_text name_at(dft_h5_segments *of, uint64_t row) {
  uint32_t len;
  if (row >= of->name_count) {
    of->has_failed = 1;
    return (dft_text){"", 0};
  }
  memcpy(&len, of->names + of->name_at[row], sizeof len);
  return (dft_text){(const char *)of->names + of->name_at[row] + sizeof len, len};
}

/* Copies it behind those of the event that are there; returns where. */
static uint64_t copy_text(dft_h5_segments *of, uint64_t row, uint64_t *len) {
  uint64_t to = of->texts_len;
  uint64_t at, end;
  *len = 0;
  if (row >= of->tables.rows[DFT__H5_TEXTS]) {
    of->has_failed = 1;
    return to;
  }
  at = row ? number_at(of, DFT__H5_TEXTS_end, row - 1) : 0;
  end = number_at(of, DFT__H5_TEXTS_end, row);
  if (end < at || end > of->tables.rows[DFT__H5_BYTES] || end - at > UINT32_MAX ||
      !reach((void **)&of->texts, &of->texts_room, to + (end - at), 1)) {
    of->has_failed = 1;
    return to;
  }
  *len = end - at;
  while (at < end) {
    uint64_t part = DFT__H5_ROWS - at % DFT__H5_ROWS;
    if (part > end - at) part = end - at;
    const uint8_t *bytes = value_at(of, DFT__H5_BYTES_bytes, at);
    if (of->has_failed) return to;
    memcpy(of->texts + of->texts_len, bytes, part);
    of->texts_len += part;
    at += part;
  }
  return to;
}

/* ---- Events ------------------------------------------------------------------------------------------------------- */

static const struct {
  uint32_t table, event, key, value, type;
} kinds[] = {
  {DFT__H5_INTS, DFT__H5_INTS_event, DFT__H5_INTS_key, DFT__H5_INTS_value, DFT_INT},
  {DFT__H5_UINTS, DFT__H5_UINTS_event, DFT__H5_UINTS_key, DFT__H5_UINTS_value, DFT_UINT},
  {DFT__H5_DOUBLES, DFT__H5_DOUBLES_event, DFT__H5_DOUBLES_key, DFT__H5_DOUBLES_value, DFT_DOUBLE},
  {DFT__H5_BOOLS, DFT__H5_BOOLS_event, DFT__H5_BOOLS_key, DFT__H5_BOOLS_value, DFT_BOOL},
  {DFT__H5_STRINGS, DFT__H5_STRINGS_event, DFT__H5_STRINGS_key, DFT__H5_STRINGS_value, DFT_STRING},
};

/* Texts may move while others are added: first their places, at the end their addresses. */
static uint32_t gather_values(dft_h5_segments *of) {
  uint32_t count = 0;
  of->texts_len = 0;
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    uint64_t *row = &of->next[kinds[i].table];
    while (!of->has_failed && *row < of->tables.rows[kinds[i].table] &&
           number_at(of, kinds[i].event, *row) == of->row) {
      dft_value value = {.type = kinds[i].type, .key = name_at(of, number_at(of, kinds[i].key, *row))};
      value.value.u = number_at(of, kinds[i].value, *row); /* the bits of any type */
      if (value.type == DFT_STRING) {
        uint64_t len, to = copy_text(of, value.value.u, &len);
        value.value.s = (dft_text){(const char *)(uintptr_t)to, len};
      }
      if (count == VALUES_MOST || !reach((void **)&of->values, &of->value_room, count + 1, sizeof value)) {
        of->has_failed = 1;
        return count;
      }
      of->values[count++] = value;
      ++*row;
    }
  }
  for (uint32_t i = 0; i < count; i++) {
    dft_value *value = &of->values[i];
    if (value->type == DFT_STRING) value->value.s.text = of->texts ? of->texts + (uintptr_t)value->value.s.text : "";
  }
  return count;
}

int dft_h5_segments_next(dft_h5_segments *of, dft_event *event, size_t event_size) {
  dft_event whole = {0};
  if (of->has_failed) return -1;
  if (of->row >= of->tables.rows[DFT__H5_EVENTS]) return 0;
  whole.id = number_at(of, DFT__H5_EVENTS_id, of->row);
  whole.parent = (int64_t)number_at(of, DFT__H5_EVENTS_parent, of->row);
  whole.start = (int64_t)number_at(of, DFT__H5_EVENTS_ts, of->row);
  whole.duration = (int64_t)number_at(of, DFT__H5_EVENTS_dur, of->row);
  whole.level = (uint32_t)number_at(of, DFT__H5_EVENTS_level, of->row);
  whole.phase = (uint32_t)number_at(of, DFT__H5_EVENTS_phase, of->row);
  whole.pid = (uint32_t)number_at(of, DFT__H5_EVENTS_pid, of->row);
  whole.tid = (uint32_t)number_at(of, DFT__H5_EVENTS_tid, of->row);
  whole.name = name_at(of, number_at(of, DFT__H5_EVENTS_name, of->row));
  whole.cat = name_at(of, number_at(of, DFT__H5_EVENTS_cat, of->row));
  whole.value_count = gather_values(of);
  whole.values = of->values;
  if (of->has_failed) return -1;
  of->row++;
  memcpy(event, &whole, event_size < sizeof whole ? event_size : sizeof whole);
  return 1;
}
