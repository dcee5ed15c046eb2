/* schema.h - the one list of tables and columns: what segments hold, and what becomes of them in a .h5 file.
 *
 * FORMAT.md draws it. A row of an argument table belongs to the event whose row number is in its column `event`; names and
 * keys are row numbers of /names, string values row numbers of /texts. A change here raises DFT__H5_SCHEMA.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_H5_SCHEMA_H
#define DFTRACER_H5_SCHEMA_H

#include <stddef.h>
#include <stdint.h>

#define DFT__H5_SCHEMA 1
#define DFT__H5_ROWS 16384u /* of a chunk: large enough to compress well, small enough to read a part of a column */

enum dft__h5_type { DFT__H5_U8, DFT__H5_I32, DFT__H5_U32, DFT__H5_I64, DFT__H5_U64, DFT__H5_F64 };

/* table, its group in the file, what a row is */
#define DFT__H5_TABLE_LIST(X)                                                                  \
  X(EVENTS, "events", "one row an event, as in the JSON lines")                                \
  X(INTS, "args/int", "one row an argument that is a signed integer")                          \
  X(UINTS, "args/uint", "one row an argument that is an unsigned integer")                     \
  X(DOUBLES, "args/double", "one row an argument that is a floating point number")             \
  X(BOOLS, "args/bool", "one row an argument that is true (1) or false (0)")                   \
  X(STRINGS, "args/string", "one row an argument that is a text")                              \
  X(TEXTS, "texts", "one row a text: the bytes from the end of the one before to its own end") \
  X(BYTES, "texts", "the bytes of all texts, UTF-8")

/* table, column, type, unit, what it is. Those of a job's file only are marked JOB. */
#define DFT__H5_COLUMN_LIST(X)                                                                           \
  X(EVENTS, id, U64, ONE, "", "id of the event, unique in its process")                                  \
  X(EVENTS, parent, I64, ONE, "", "id of the enclosing event (p_idx), -1 without one")                   \
  X(EVENTS, ts, I64, ONE, "time", "start since the epoch; 0 for metadata")                               \
  X(EVENTS, dur, I64, ONE, "time", "duration; 0 for metadata and counters")                              \
  X(EVENTS, name, U32, ONE, "", "row of /names")                                                         \
  X(EVENTS, cat, U32, ONE, "", "category: row of /names")                                                \
  X(EVENTS, pid, U32, ONE, "", "process id")                                                             \
  X(EVENTS, tid, U32, ONE, "", "thread id")                                                              \
  X(EVENTS, level, U32, ONE, "", "depth on its thread, 1 is the outermost; 0: neither level nor parent") \
  X(EVENTS, phase, U8, ONE, "", "88 'X' complete event, 77 'M' metadata, 67 'C' counter")                \
  X(EVENTS, process, U32, JOB, "", "row of /processes")                                                  \
  X(EVENTS, rank, I32, JOB, "", "rank of the process, -1: unknown")                                      \
  X(INTS, event, U64, ONE, "", "row of /events")                                                         \
  X(INTS, key, U32, ONE, "", "row of /names")                                                            \
  X(INTS, value, I64, ONE, "", "")                                                                       \
  X(UINTS, event, U64, ONE, "", "row of /events")                                                        \
  X(UINTS, key, U32, ONE, "", "row of /names")                                                           \
  X(UINTS, value, U64, ONE, "", "")                                                                      \
  X(DOUBLES, event, U64, ONE, "", "row of /events")                                                      \
  X(DOUBLES, key, U32, ONE, "", "row of /names")                                                         \
  X(DOUBLES, value, F64, ONE, "", "")                                                                    \
  X(BOOLS, event, U64, ONE, "", "row of /events")                                                        \
  X(BOOLS, key, U32, ONE, "", "row of /names")                                                           \
  X(BOOLS, value, U8, ONE, "", "")                                                                       \
  X(STRINGS, event, U64, ONE, "", "row of /events")                                                      \
  X(STRINGS, key, U32, ONE, "", "row of /names")                                                         \
  X(STRINGS, value, U32, ONE, "", "row of /texts")                                                       \
  X(TEXTS, end, U64, ONE, "", "where the text ends in /texts/bytes")                                     \
  X(BYTES, bytes, U8, ONE, "", "")

enum dft__h5_table {
#define DFT__H5_TABLE_ENUM(table, group, summary) DFT__H5_##table,
  DFT__H5_TABLE_LIST(DFT__H5_TABLE_ENUM)
#undef DFT__H5_TABLE_ENUM
    DFT__H5_TABLES,
};

enum dft__h5_column {
#define DFT__H5_COLUMN_ENUM(table, column, type, use, unit, summary) DFT__H5_##table##_##column,
  DFT__H5_COLUMN_LIST(DFT__H5_COLUMN_ENUM)
#undef DFT__H5_COLUMN_ENUM
    DFT__H5_COLUMNS,
};

typedef struct dft__h5_column_info {
  uint32_t table;
  uint32_t type;
  uint32_t size;    /* bytes of a value */
  uint32_t is_job;  /* only in the file of a job */
  const char *name; /* in the table's group */
  const char *unit; /* "time": the trace's own */
  const char *summary;
} dft__h5_column_info;

extern const dft__h5_column_info dft__h5_columns[DFT__H5_COLUMNS];
extern const char *const dft__h5_groups[DFT__H5_TABLES];
extern const char *const dft__h5_summaries[DFT__H5_TABLES];

#endif
