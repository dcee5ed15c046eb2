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

static int take_chunk(dft_h5_segments *segments) {
  const dft__h5_record *record = &segments->walk.record;
  struct column *column;
  if (!dft__h5_tables_take_chunk(&segments->tables, record)) return 0;
  column = &segments->columns[record->what];
  if (column->count != record->first / DFT__H5_ROWS) return 0;
  if (!reach((void **)&column->places, &column->room, column->count + 1, sizeof(place))) return 0;
  column->places[column->count++] = (place){segments->walk.offset, record->bytes};
  segments->of_table[dft__h5_columns[record->what].table].count = 0;
  return 1;
}

static int note_tail(dft_h5_segments *segments) {
  uint32_t table = segments->walk.record.what;
  if (table >= DFT__H5_TABLES) return 0;
  if (!reach((void **)&segments->of_table[table].tails, &segments->of_table[table].room,
             segments->of_table[table].count + 1, sizeof(tail)))
    return 0;
  segments->of_table[table].tails[segments->of_table[table].count++] = (tail){segments->walk.offset,
                                                                              segments->walk.record};
  return 1;
}

static int take_tails(dft_h5_segments *segments) {
  for (uint32_t table = 0; table < DFT__H5_TABLES; table++) {
    for (uint64_t i = 0; i < segments->of_table[table].count; i++) {
      segments->walk.offset = segments->of_table[table].tails[i].offset;
      segments->walk.record = segments->of_table[table].tails[i].record;
      if (!dft__h5_tables_take_tail(&segments->tables, &segments->walk)) return 0;
    }
  }
  return 1;
}

static int take_names(dft_h5_segments *segments) {
  const dft__h5_record *record = &segments->walk.record;
  uint64_t at = segments->names_len;
  if (record->first != segments->name_count || record->bytes > UINT32_MAX) return 0;
  if (!reach((void **)&segments->names, &segments->names_room, at + record->bytes, 1) ||
      !dft__h5_walk_read(&segments->walk, segments->names + at, record->bytes)) {
    return 0;
  }
  segments->names_len += record->bytes;
  for (uint32_t i = 0; i < record->count; i++) {
    uint32_t len;
    if (segments->names_len - at < sizeof len) return 0;
    memcpy(&len, segments->names + at, sizeof len);
    if (len > segments->names_len - at - sizeof len) return 0;
    if (!reach((void **)&segments->name_at, &segments->name_room, segments->name_count + 1, sizeof at)) return 0;
    segments->name_at[segments->name_count++] = at;
    at += sizeof len + len;
  }
  return 1;
}

static int take_head(dft_h5_segments *segments) {
  dft__h5_head head;
  return segments->walk.record.bytes == sizeof head && dft__h5_walk_read(&segments->walk, &head, sizeof head) &&
         head.schema == DFT__H5_SCHEMA && !head.is_job;
}

static int take_record(dft_h5_segments *segments) {
  switch (segments->walk.record.kind) {
    case DFT__H5_HEAD: return take_head(segments);
    case DFT__H5_CHUNK: return take_chunk(segments);
    case DFT__H5_TAIL: return note_tail(segments);
    case DFT__H5_NAMES: return take_names(segments);
    case DFT__H5_PROCESS:
      return segments->walk.record.bytes == sizeof segments->process &&
             dft__h5_walk_read(&segments->walk, &segments->process, sizeof segments->process);
    default: return 1;
  }
}

dft_status dft_h5_segments_read(dft_h5_segments *segments, uint64_t live_bytes) {
  uint64_t next = segments->walk.next;
  int found = -1;
  dft__h5_walk_close(&segments->walk);
  for (uint32_t table = 0; table < DFT__H5_TABLES; table++)
    segments->tables.rows[table] = segments->of_table[table].chunk_rows;
  if (!dft__h5_walk_open(&segments->walk, segments->path, live_bytes)) {
    segments->walk.next = next;
    return DFT_EFORMAT;
  }
  segments->walk.next = next;
  while ((found = dft__h5_walk_next(&segments->walk)) > 0) {
    if (!take_record(segments)) return DFT_EFORMAT;
  }
  for (uint32_t table = 0; table < DFT__H5_TABLES; table++)
    segments->of_table[table].chunk_rows = segments->tables.rows[table];
  return take_tails(segments) && found == 0 ? DFT_OK : DFT_EFORMAT;
}

dft_status dft_h5_segments_open(const char *live_path, dft_h5_segments **opened) {
  dft_h5_segments *segments = calloc(1, sizeof *segments);
  *opened = NULL;
  if (!segments) return DFT_ENOMEM;
  segments->path = strdup(live_path);
  segments->packed = malloc(dft__h5_filter_bound(8));
  if (!segments->path || !segments->packed || !dft__h5_tables_make(&segments->tables, NULL, 1, 0)) {
    dft_h5_segments_close(segments);
    return DFT_ENOMEM;
  }
  *opened = segments;
  return DFT_OK;
}

void dft_h5_segments_close(dft_h5_segments *segments) {
  if (!segments) return;
  for (uint32_t i = 0; i < DFT__H5_COLUMNS; i++) {
    free(segments->columns[i].places);
    for (uint32_t k = 0; k < SLOTS; k++) free(segments->columns[i].slots[k].values);
  }
  for (uint32_t i = 0; i < DFT__H5_TABLES; i++) free(segments->of_table[i].tails);
  dft__h5_walk_close(&segments->walk);
  dft__h5_tables_free(&segments->tables);
  free(segments->names);
  free(segments->name_at);
  free(segments->values);
  free(segments->texts);
  free(segments->packed);
  free(segments->path);
  free(segments);
}

const dft__h5_process *dft__h5_segments_process(const dft_h5_segments *segments) {
  return &segments->process;
}

/* ---- Values ------------------------------------------------------------------------------------------------------- */

static struct slot *slot_of(dft_h5_segments *segments, uint32_t which, uint64_t chunk) {
  uint32_t table = dft__h5_columns[which].table;
  return &segments->columns[which].slots[table == DFT__H5_TEXTS || table == DFT__H5_BYTES ? chunk % SLOTS : 0];
}

static int load(dft_h5_segments *segments, uint32_t which, uint64_t chunk) {
  struct slot *slot = slot_of(segments, which, chunk);
  size_t size = dft__h5_columns[which].size;
  place from;
  if (chunk >= segments->columns[which].count) return 0;
  from = segments->columns[which].places[chunk];
  if (!slot->values) slot->values = malloc(DFT__H5_ROWS * size);
  segments->walk.offset = from.offset;
  segments->walk.record.bytes = from.bytes;
  slot->loaded = 0;
  if (!slot->values || !dft__h5_walk_read(&segments->walk, segments->packed, dft__h5_filter_bound(8))) return 0;
  if (!dft__h5_filter_unpack(segments->tables.filter, segments->packed, from.bytes, size, slot->values)) return 0;
  slot->loaded = chunk + 1;
  return 1;
}

/* The value in this row, which the caller knows to be there; zeros when it cannot be read. */
static const uint8_t *value_at(dft_h5_segments *segments, uint32_t which, uint64_t row) {
  static const uint8_t none[8];
  const dft__h5_column_info *info = &dft__h5_columns[which];
  uint64_t chunk = row / DFT__H5_ROWS;
  size_t at = (size_t)(row % DFT__H5_ROWS) * info->size;
  if (chunk == segments->tables.rows[info->table] / DFT__H5_ROWS)
    return (const uint8_t *)segments->tables.data[which] + at;
  if (slot_of(segments, which, chunk)->loaded != chunk + 1 && !load(segments, which, chunk)) {
    segments->has_failed = 1;
    return none;
  }
  return slot_of(segments, which, chunk)->values + at;
}

static uint64_t number_at(dft_h5_segments *segments, uint32_t which, uint64_t row) {
  const uint8_t *at = value_at(segments, which, row);
  uint32_t half;
  uint64_t whole;
  if (dft__h5_columns[which].size == 1) return *at;
  if (dft__h5_columns[which].size == 4) return memcpy(&half, at, sizeof half), half;
  return memcpy(&whole, at, sizeof whole), whole;
}

static dft_text name_at(dft_h5_segments *segments, uint64_t row) {
  uint32_t len;
  if (row >= segments->name_count) {
    segments->has_failed = 1;
    return (dft_text){"", 0};
  }
  memcpy(&len, segments->names + segments->name_at[row], sizeof len);
  return (dft_text){(const char *)segments->names + segments->name_at[row] + sizeof len, len};
}

/* Copies it behind those of the event that are there; returns where. */
static uint64_t copy_text(dft_h5_segments *segments, uint64_t row, uint64_t *len) {
  uint64_t to = segments->texts_len;
  uint64_t at, end;
  *len = 0;
  if (row >= segments->tables.rows[DFT__H5_TEXTS]) {
    segments->has_failed = 1;
    return to;
  }
  at = row ? number_at(segments, DFT__H5_TEXTS_end, row - 1) : 0;
  end = number_at(segments, DFT__H5_TEXTS_end, row);
  if (end < at || end > segments->tables.rows[DFT__H5_BYTES] || end - at > UINT32_MAX ||
      !reach((void **)&segments->texts, &segments->texts_room, to + (end - at), 1)) {
    segments->has_failed = 1;
    return to;
  }
  *len = end - at;
  while (at < end) {
    uint64_t part = DFT__H5_ROWS - at % DFT__H5_ROWS;
    if (part > end - at) part = end - at;
    const uint8_t *bytes = value_at(segments, DFT__H5_BYTES_bytes, at);
    if (segments->has_failed) return to;
    memcpy(segments->texts + segments->texts_len, bytes, part);
    segments->texts_len += part;
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
static uint32_t gather_values(dft_h5_segments *segments) {
  uint32_t count = 0;
  segments->texts_len = 0;
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    uint64_t *row = &segments->next[kinds[i].table];
    while (!segments->has_failed && *row < segments->tables.rows[kinds[i].table] &&
           number_at(segments, kinds[i].event, *row) == segments->row) {
      dft_value value = {.type = kinds[i].type, .key = name_at(segments, number_at(segments, kinds[i].key, *row))};
      value.value.u = number_at(segments, kinds[i].value, *row); /* the bits of any type */
      if (value.type == DFT_STRING) {
        uint64_t len, to = copy_text(segments, value.value.u, &len);
        value.value.s = (dft_text){(const char *)(uintptr_t)to, len};
      }
      if (count == VALUES_MOST || !reach((void **)&segments->values, &segments->value_room, count + 1, sizeof value)) {
        segments->has_failed = 1;
        return count;
      }
      segments->values[count++] = value;
      ++*row;
    }
  }
  for (uint32_t i = 0; i < count; i++) {
    dft_value *value = &segments->values[i];
    if (value->type == DFT_STRING)
      value->value.s.text = segments->texts ? segments->texts + (uintptr_t)value->value.s.text : "";
  }
  return count;
}

int dft_h5_segments_next(dft_h5_segments *segments, dft_event *event, size_t event_size) {
  dft_event whole = {0};
  if (segments->has_failed) return -1;
  if (segments->row >= segments->tables.rows[DFT__H5_EVENTS]) return 0;
  whole.id = number_at(segments, DFT__H5_EVENTS_id, segments->row);
  whole.parent = (int64_t)number_at(segments, DFT__H5_EVENTS_parent, segments->row);
  whole.start = (int64_t)number_at(segments, DFT__H5_EVENTS_ts, segments->row);
  whole.duration = (int64_t)number_at(segments, DFT__H5_EVENTS_dur, segments->row);
  whole.level = (uint32_t)number_at(segments, DFT__H5_EVENTS_level, segments->row);
  whole.phase = (uint32_t)number_at(segments, DFT__H5_EVENTS_phase, segments->row);
  whole.pid = (uint32_t)number_at(segments, DFT__H5_EVENTS_pid, segments->row);
  whole.tid = (uint32_t)number_at(segments, DFT__H5_EVENTS_tid, segments->row);
  whole.name = name_at(segments, number_at(segments, DFT__H5_EVENTS_name, segments->row));
  whole.cat = name_at(segments, number_at(segments, DFT__H5_EVENTS_cat, segments->row));
  whole.value_count = gather_values(segments);
  whole.values = segments->values;
  if (segments->has_failed) return -1;
  segments->row++;
  memcpy(event, &whole, event_size < sizeof whole ? event_size : sizeof whole);
  return 1;
}
