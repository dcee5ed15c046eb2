/* reader.h - reading traces: files, folders and spools in, batches of columns out.
 *
 * The way of the data: a dft_reader knows a set of sources (.pfw, .pfw.gz, spools of living and dead processes), cut into
 * units (gzip members, or pieces of a plain file). A dft_cursor takes units, inflates and parses them, and gives their
 * lines as dft_rows: one array a column. Texts that come often are numbers into dictionaries of the reader.
 *
 * Threads   A reader may be used by any number of threads; a cursor by one at a time. Work on N cores with N threads and
 *           one cursor each: every unit goes to exactly one of them.
 * Order     Units of a source are handed out in the file's order, lines of a unit come in order. So one cursor alone gives
 *           every source completely and in order; several give the unit's number, to put together again.
 * Memory    A cursor keeps a few MiB, whatever the size of the trace. Dictionaries are bounded by options.
 * Errors    Damage is counted, located and passed over; it is never fatal. dft_reader_problem tells what and where.
 * Lifetime  Rows are valid until the next call with their cursor; texts of dictionaries until dft_reader_close.
 *
 *   dft_reader *reader;
 *   dft_cursor *cursor;
 *   const dft_rows *rows;
 *   const char *path = "out";
 *   if (dft_reader_open(NULL, &path, 1, &reader) == DFT_OK && dft_cursor_open(reader, DFT_ALL, &cursor) == DFT_OK)
 *     while (dft_cursor_next(cursor, &rows) == DFT_OK && rows)
 *       for (uint32_t i = 0; i < rows->count; i++) use(rows->name[i], rows->dur_ns[i]);
 *
 * Other generations of traces are read as well: ph as letters or numbers, hashes as numbers or texts, with and without
 * brackets and commas, any order of keys, unknown keys (ignored), one or many gzip members, lines across members.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_READER_H
#define DFTRACER_READER_H

#include <dftracer/sink.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dft_reader dft_reader;
typedef struct dft_cursor dft_cursor;

/* ---- Opening ------------------------------------------------------------------------------------------------------ */

enum dft_want {
  DFT_WANT_ARGS = 1,  /* arguments; without it arg_first and args are not filled */
  DFT_WANT_LINES = 2, /* the lines as they stand in the trace */
};

typedef struct dft_reader_options {
  size_t struct_size;   /* sizeof(dft_reader_options) */
  uint32_t want;        /* dft_want; 0: DFT_WANT_ARGS */
  uint32_t skip_spools; /* nonzero: of folders, read published traces only */
  /* Limits; 0 is the default. What lies beyond one is passed over and reported as a problem that names it. */
  uint64_t line_bytes;   /* one line: 8 MiB; at most 1 GiB */
  uint64_t member_bytes; /* one gzip member, inflated: 1 TiB */
  uint32_t nesting;      /* objects and arrays inside each other, in one value: 64, which is also the most */
  uint32_t text_bytes;   /* all texts of the dictionaries: 64 MiB */
} dft_reader_options;

/* Opens files (known by their content), folders (everything in them called *.pfw or *.pfw.gz, and spools, recursively) and
 * globs. options may be NULL. DFT_EIO when there is nothing at all to read; *reader then still tells the problems, and is
 * to be closed. A path that cannot be read beside others that can is a problem, not an error. DFT_ENOMEM: *reader is NULL. */
DFT_API dft_status dft_reader_open(const dft_reader_options *options, const char *const *paths, size_t count,
                                   dft_reader **reader);
/* Close the cursors first. NULL is ignored. */
DFT_API void dft_reader_close(dft_reader *reader);

/* ---- Sources ------------------------------------------------------------------------------------------------------ */

enum dft_source_kind { DFT_SOURCE_PLAIN = 1, DFT_SOURCE_GZIP = 2, DFT_SOURCE_SPOOL = 3 };

/* One file. The counts say what was read so far; they are complete when all its units were read. */
typedef struct dft_source {
  size_t struct_size; /* sizeof(dft_source), set by the caller */
  const char *path;
  uint32_t kind;       /* dft_source_kind */
  uint32_t is_done;    /* every unit was read */
  uint64_t bytes;      /* on disk */
  uint64_t text_bytes; /* inflated */
  uint64_t members;    /* gzip members */
  uint64_t units;
  uint64_t lines;    /* complete lines, brackets and bad ones among them */
  uint64_t rows;     /* lines that were parsed */
  uint64_t problems; /* all kinds together */
  uint64_t unit_ns;  /* the unit of its times in nanoseconds: 1000 unless the trace says otherwise */
} dft_source;

DFT_API uint32_t dft_reader_source_count(const dft_reader *reader);
/* DFT_EINVAL when there is no such source. */
DFT_API dft_status dft_reader_source(dft_reader *reader, uint32_t index, dft_source *source);

/* How much was read of how much, in bytes on disk. */
DFT_API void dft_reader_progress(dft_reader *reader, uint64_t *done_bytes, uint64_t *all_bytes);

/* ---- Rows --------------------------------------------------------------------------------------------------------- */

#define DFT_RAW 7u /* beside dft_type: an array, an object or null, as JSON text */

/* An argument. */
typedef struct dft_cell {
  uint32_t key;  /* in the dictionary DFT_KEYS */
  uint32_t type; /* DFT_INT, DFT_UINT (only above 2^63), DFT_DOUBLE, DFT_STRING, DFT_BOOL, DFT_RAW */
  union {
    int64_t i; /* DFT_INT, DFT_BOOL */
    uint64_t u;
    double d;
    const char *text; /* DFT_STRING: unescaped UTF-8, not terminated; DFT_RAW: as it stands */
  } value;
  uint64_t len; /* of the text */
} dft_cell;

/* A batch of lines, as columns of `count` entries. */
typedef struct dft_rows {
  size_t struct_size;
  uint32_t source;
  uint32_t count;         /* may be 0 */
  uint64_t unit;          /* 0, 1, 2 ... in the order of the source */
  uint32_t is_unit_end;   /* no more rows of this unit; every unit ends with such a batch */
  uint32_t is_source_end; /* and no unit of a higher number in this source */

  const uint8_t
    *phase; /* 'X' complete, 'M' metadata, 'C' counter; other letters as they came; numbers as what they mean */
  const uint64_t *id;      /* 0: none */
  const int64_t *start_ns; /* since the epoch, or since whatever the trace counts from; 0 without one */
  const int64_t *dur_ns;   /* 0 without one */
  const uint64_t *pid;
  const uint64_t *tid;
  const uint32_t *name;  /* in DFT_NAMES */
  const uint32_t *cat;   /* in DFT_CATS */
  const uint32_t *host;  /* in DFT_HOSTS, by args.hhash */
  const uint32_t *file;  /* in DFT_FILES, by args.fhash */
  const uint32_t *level; /* args.level; 0: none */
  const int64_t *parent; /* args.p_idx; -1: the outermost; 0: not given */

  const uint32_t
    *arg_first; /* count + 1: arguments of row i are args[arg_first[i]] to args[arg_first[i + 1] - 1]; those
                                that have a column above are not repeated */
  const dft_cell *args;

  const dft_text *line;         /* DFT_WANT_LINES: without the line end and without a comma behind it */
  const uint32_t *line_in_unit; /* DFT_WANT_LINES: 0, 1, 2 ... counting every line of the unit */
} dft_rows;

#define DFT_ALL UINT32_MAX /* all sources */

/* A cursor over all sources, or one of its own over one source from its beginning, which leaves the other cursors alone. */
DFT_API dft_status dft_cursor_open(dft_reader *reader, uint32_t source, dft_cursor **cursor);
/* The next rows; *rows is NULL at the end. DFT_ENOMEM is the only error. */
DFT_API dft_status dft_cursor_next(dft_cursor *cursor, const dft_rows **rows);
DFT_API void dft_cursor_close(dft_cursor *cursor);

/* ---- Dictionaries ------------------------------------------------------------------------------------------------- */

/* Texts are numbered 0, 1, 2 ... in each; number 0 is the empty text, and stands for "none". */
enum dft_dictionary { DFT_NAMES, DFT_CATS, DFT_KEYS, DFT_HOSTS, DFT_FILES, DFT_DICTIONARIES };

DFT_API uint32_t dft_reader_text_count(dft_reader *reader, uint32_t dictionary);
/* A text; of hosts and files the name that a line HH or FH gave, or the hash while there is none. Never NULL; empty when
 * there is no such number. A file's name may become known later than its number. */
DFT_API dft_text dft_reader_text(dft_reader *reader, uint32_t dictionary, uint32_t number);
/* Of hosts and files, the hash as it stands in the trace. */
DFT_API dft_text dft_reader_hash(dft_reader *reader, uint32_t dictionary, uint32_t number);
/* The number of a text (of hosts and files: of a hash); adds it when it is not there. */
DFT_API uint32_t dft_reader_number(dft_reader *reader, uint32_t dictionary, const char *text, size_t len);
/* The text behind any hash that HH, FH or SH lines defined; DFT_EINVAL when there is none. */
DFT_API dft_status dft_reader_resolve(dft_reader *reader, const char *hash, size_t len, dft_text *text);

/* ---- Problems ----------------------------------------------------------------------------------------------------- */

/* name, value (frozen), message */
#define DFT_PROBLEM_LIST(X)                                                                \
  X(DFT_PROBLEM_FILE, 1, "the file cannot be read")                                        \
  X(DFT_PROBLEM_LINE, 2, "the line is no JSON object of an event")                         \
  X(DFT_PROBLEM_TORN, 3, "the last line is not complete")                                  \
  X(DFT_PROBLEM_MEMBER, 4, "the gzip member is damaged")                                   \
  X(DFT_PROBLEM_CUT, 5, "the gzip member is cut off at the end of the file")               \
  X(DFT_PROBLEM_BYTES, 6, "these bytes are no gzip member")                                \
  X(DFT_PROBLEM_LINE_BYTES, 7, "the line is longer than the limit line_bytes")             \
  X(DFT_PROBLEM_NESTING, 8, "objects are nested deeper than the limit nesting")            \
  X(DFT_PROBLEM_MEMBER_BYTES, 9, "the gzip member is larger than the limit member_bytes")  \
  X(DFT_PROBLEM_TEXT_BYTES, 10, "there are more texts than the limit text_bytes allows")   \
  X(DFT_PROBLEM_TIME, 11, "a time is beyond what 64 bits of nanoseconds hold; it was cut") \
  X(DFT_PROBLEM_SPOOL, 12, "the spool is damaged or of another version")

enum dft_problem_kind {
#define DFT_PROBLEM_ENUM(name, value, text) name = value,
  DFT_PROBLEM_LIST(DFT_PROBLEM_ENUM)
#undef DFT_PROBLEM_ENUM
    DFT_PROBLEM_KINDS
};

typedef struct dft_problem {
  size_t struct_size; /* sizeof(dft_problem), set by the caller */
  uint32_t kind;      /* dft_problem_kind */
  uint32_t source;    /* DFT_ALL: no source; then detail is the path, if it is about one */
  uint64_t byte;      /* where in the file: of the member in .pfw.gz, of the line in .pfw */
  uint64_t line; /* 1, 2, 3 ... in the whole source; known when all units before it were read; 0: no line, or unknown */
  int32_t error; /* errno of a DFT_PROBLEM_FILE, else 0 */
  const char *message; /* of the kind */
  const char *detail;  /* the beginning of the line, or a path; terminated; valid until dft_reader_close */
} dft_problem;

/* How often a kind of problem was met; kind 0: all together. DFT_PROBLEM_TEXT_BYTES is one, however many texts it was. */
DFT_API uint64_t dft_reader_problem_count(dft_reader *reader, uint32_t kind);
/* The located ones, in the order of source and byte; at most 1000 of a source are kept, all are counted. Call it when the
 * reading is done: numbers change while problems are added. DFT_EINVAL when there is no such problem. */
DFT_API dft_status dft_reader_problem(dft_reader *reader, uint32_t index, dft_problem *problem);
DFT_API const char *dft_problem_text(uint32_t kind);

#ifdef __cplusplus
}
#endif
#endif
