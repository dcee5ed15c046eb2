/* reader.h - reads traces: files, folders and spools in, batches of columns out.
 *
 * A dft_reader has a set of sources: .pfw files, .pfw.gz files, and spools of running and dead processes. Each source
 * is cut into units: gzip members, or pieces of a plain file. A dft_cursor takes a unit, inflates and parses it, and
 * returns its lines as dft_rows, with one array per column. Strings that occur often are numbers in the reader's
 * dictionaries.
 *
 * Threads   Any number of threads may use a reader; only one at a time may use a cursor. To use N cores, start N
 *           threads with one cursor each: every unit goes to exactly one of them.
 * Order     The units of a source are handed out in the order of the file, and the lines of a unit come in order. So a
 *           single cursor returns every source in order. With several, put the units in order by their numbers.
 * Memory    A cursor needs a few MiB, whatever the size of the trace. Options limit the dictionaries.
 * Errors    Damage is never fatal. It is counted, located and skipped; dft_reader_problem says what and where.
 * Lifetime  Rows are valid until the next call with their cursor, dictionary texts until dft_reader_close.
 *
 *   dft_reader *reader;
 *   dft_cursor *cursor;
 *   const dft_rows *rows;
 *   const char *path = "out";
 *   if (dft_reader_open(NULL, &path, 1, &reader) == DFT_OK && dft_cursor_open(reader, DFT_ALL, &cursor) == DFT_OK)
 *     while (dft_cursor_next(cursor, &rows) == DFT_OK && rows)
 *       for (uint32_t i = 0; i < rows->count; i++) use(rows->name[i], rows->dur_ns[i]);
 *
 * The traces of other DFTracer versions are read as well: ph as a letter or a number, hashes as numbers or strings,
 * with or without brackets and commas, keys in any order, unknown keys (ignored), one or many gzip members, lines that
 * continue in the next member.
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
  DFT_WANT_ARGS = 1,  /* arguments; otherwise arg_first and args are not set */
  DFT_WANT_LINES = 2, /* the lines as they are in the trace */
};

typedef struct dft_reader_options {
  size_t struct_size;   /* sizeof(dft_reader_options) */
  uint32_t want;        /* dft_want; 0: DFT_WANT_ARGS */
  uint32_t skip_spools; /* nonzero: read only the published traces of a folder */
  /* Limits; 0 is the default. Whatever exceeds a limit is skipped and reported as a problem that names the limit. */
  uint64_t line_bytes;   /* one line: 8 MiB; at most 1 GiB */
  uint64_t member_bytes; /* one inflated gzip member: 1 TiB */
  uint32_t nesting;      /* nested objects and arrays in one value: 64, which is also the maximum */
  uint32_t text_bytes;   /* all dictionary texts together: 64 MiB */
} dft_reader_options;

/* Opens files, folders and globs. A file is recognised by its content; in folders, recursively, *.pfw, *.pfw.gz and
 * spools are read. options may be NULL. DFT_EIO: there is nothing to read. Then *reader still reports the problems;
 * close it. If only some paths cannot be read, that is a problem, not an error. DFT_ENOMEM: *reader is NULL. */
DFT_API dft_status dft_reader_open(const dft_reader_options *options, const char *const *paths, size_t count,
                                   dft_reader **reader);
/* Close the cursors first. NULL is ignored. */
DFT_API void dft_reader_close(dft_reader *reader);

/* ---- Sources ------------------------------------------------------------------------------------------------------ */

enum dft_source_kind { DFT_SOURCE_PLAIN = 1, DFT_SOURCE_GZIP = 2, DFT_SOURCE_SPOOL = 3 };

/* One file. The counts cover what was read so far; they are complete when is_done is set. */
typedef struct dft_source {
  size_t struct_size; /* sizeof(dft_source), set by the caller */
  const char *path;
  uint32_t kind;       /* dft_source_kind */
  uint32_t is_done;    /* every unit has been read */
  uint64_t bytes;      /* on disk */
  uint64_t text_bytes; /* inflated */
  uint64_t members;    /* gzip members */
  uint64_t units;
  uint64_t lines;    /* complete lines, including brackets and bad lines */
  uint64_t rows;     /* lines that were parsed */
  uint64_t problems; /* of all kinds */
  uint64_t unit_ns;  /* the unit of its times, in nanoseconds: 1000 unless the trace says otherwise */
} dft_source;

DFT_API uint32_t dft_reader_source_count(const dft_reader *reader);
/* DFT_EINVAL: there is no such source. */
DFT_API dft_status dft_reader_source(dft_reader *reader, uint32_t index, dft_source *source);

/* How much has been read, of how much, in bytes on disk. */
DFT_API void dft_reader_progress(dft_reader *reader, uint64_t *done_bytes, uint64_t *all_bytes);

/* ---- Rows --------------------------------------------------------------------------------------------------------- */

#define DFT_RAW 7u /* in addition to dft_type: an array, an object or null, as JSON text */

/* An argument. */
typedef struct dft_cell {
  uint32_t key;  /* in the dictionary DFT_KEYS */
  uint32_t type; /* DFT_INT, DFT_UINT (only above 2^63), DFT_DOUBLE, DFT_STRING, DFT_BOOL, DFT_RAW */
  union {
    int64_t i; /* DFT_INT, DFT_BOOL */
    uint64_t u;
    double d;
    const char *text; /* DFT_STRING: unescaped UTF-8, not terminated; DFT_RAW: as in the trace */
  } value;
  uint64_t len; /* of the text */
} dft_cell;

/* A batch of lines, as columns with `count` entries each. */
typedef struct dft_rows {
  size_t struct_size;
  uint32_t source;
  uint32_t count;         /* may be 0 */
  uint64_t unit;          /* 0, 1, 2 ... in the order of the source */
  uint32_t is_unit_end;   /* the unit has no more rows; every unit ends with such a batch */
  uint32_t is_source_end; /* and the source has no unit with a higher number */

  const uint8_t *phase; /* 'X' complete, 'M' metadata, 'C' counter, other letters unchanged; numbers become letters */
  const uint64_t *id;   /* 0: none */
  const int64_t *start_ns; /* since the epoch, or since the origin that the trace uses; 0 if there is none */
  const int64_t *dur_ns;   /* 0 if there is none */
  const uint64_t *pid;
  const uint64_t *tid;
  const uint32_t *name;  /* in DFT_NAMES */
  const uint32_t *cat;   /* in DFT_CATS */
  const uint32_t *host;  /* in DFT_HOSTS, by args.hhash */
  const uint32_t *file;  /* in DFT_FILES, by args.fhash */
  const uint32_t *level; /* args.level; 0: none */
  const int64_t *parent; /* args.p_idx; -1: outermost; 0: not given */

  /* count + 1 entries. Row i has the arguments args[arg_first[i]] to args[arg_first[i + 1] - 1]. Arguments that have a
   * column above are not repeated. */
  const uint32_t *arg_first;
  const dft_cell *args;

  const dft_text *line;         /* DFT_WANT_LINES: without the comma and the end of the line */
  const uint32_t *line_in_unit; /* DFT_WANT_LINES: 0, 1, 2 ... counting every line of the unit */
} dft_rows;

#define DFT_ALL UINT32_MAX /* all sources */

/* DFT_ALL: a cursor that shares all sources with the other such cursors. Otherwise a cursor over one source, from its
 * beginning, independent of all others; if the source was read completely before, it counts nothing a second time. */
DFT_API dft_status dft_cursor_open(dft_reader *reader, uint32_t source, dft_cursor **cursor);
/* Returns the next rows; *rows is NULL at the end. DFT_ENOMEM is the only error. */
DFT_API dft_status dft_cursor_next(dft_cursor *cursor, const dft_rows **rows);
DFT_API void dft_cursor_close(dft_cursor *cursor);

/* ---- Dictionaries ------------------------------------------------------------------------------------------------- */

/* Each dictionary numbers its texts 0, 1, 2 ... Number 0 is the empty text and means "none". */
enum dft_dictionary { DFT_NAMES, DFT_CATS, DFT_KEYS, DFT_HOSTS, DFT_FILES, DFT_DICTIONARIES };

DFT_API uint32_t dft_reader_text_count(dft_reader *reader, uint32_t dictionary);
/* The text with a number. For hosts and files it is the name from an HH or FH line, or the hash until such a line was
 * read: a file's name may become known later than its number. Never NULL; empty if there is no such number. */
DFT_API dft_text dft_reader_text(dft_reader *reader, uint32_t dictionary, uint32_t number);
/* For hosts and files: the hash as it is in the trace. */
DFT_API dft_text dft_reader_hash(dft_reader *reader, uint32_t dictionary, uint32_t number);
/* The number of a text (for hosts and files: of a hash). A new text is added. */
DFT_API uint32_t dft_reader_number(dft_reader *reader, uint32_t dictionary, const char *text, size_t len);
/* The text that an HH, FH or SH line defined for a hash. DFT_EINVAL: there is none. */
DFT_API dft_status dft_reader_resolve(dft_reader *reader, const char *hash, size_t len, dft_text *text);

/* ---- Problems ----------------------------------------------------------------------------------------------------- */

/* name, value (frozen), message */
#define DFT_PROBLEM_LIST(X)                                                                \
  X(DFT_PROBLEM_FILE, 1, "the file cannot be read")                                        \
  X(DFT_PROBLEM_LINE, 2, "the line is not a JSON object of an event")                      \
  X(DFT_PROBLEM_TORN, 3, "the last line is not complete")                                  \
  X(DFT_PROBLEM_MEMBER, 4, "the gzip member is damaged")                                   \
  X(DFT_PROBLEM_CUT, 5, "the last gzip member begins here, but the file ends inside it")   \
  X(DFT_PROBLEM_BYTES, 6, "these bytes are not a gzip member")                             \
  X(DFT_PROBLEM_LINE_BYTES, 7, "the line is longer than the limit line_bytes")             \
  X(DFT_PROBLEM_NESTING, 8, "objects are nested deeper than the limit nesting")            \
  X(DFT_PROBLEM_MEMBER_BYTES, 9, "the gzip member is larger than the limit member_bytes")  \
  X(DFT_PROBLEM_TEXT_BYTES, 10, "there are more texts than the limit text_bytes allows")   \
  X(DFT_PROBLEM_TIME, 11, "a time is more than 146 years before or after 1970: it is cut") \
  X(DFT_PROBLEM_SPOOL, 12, "the spool is damaged or of another version")

enum dft_problem_kind {
#define DFT_PROBLEM_ENUM(name, value, text) name = value,
  DFT_PROBLEM_LIST(DFT_PROBLEM_ENUM)
#undef DFT_PROBLEM_ENUM
    DFT_PROBLEM_KINDS
};

typedef struct dft_problem {
  size_t struct_size;  /* sizeof(dft_problem), set by the caller */
  uint32_t kind;       /* dft_problem_kind */
  uint32_t source;     /* DFT_ALL: none; then detail is the path, if there is one */
  uint64_t byte;       /* offset in the file: of the member in .pfw.gz, of the line in .pfw */
  uint64_t line;       /* 1, 2, 3 ... in the source; 0: no line, or unknown because earlier units were not read yet */
  int32_t error;       /* errno of a DFT_PROBLEM_FILE, otherwise 0 */
  const char *message; /* of the kind */
  const char *detail;  /* the beginning of the line, or a path; terminated; valid until dft_reader_close */
} dft_problem;

/* How often a kind of problem occurred; kind 0: all kinds. DFT_PROBLEM_TEXT_BYTES counts once, however many texts it
 * was. */
DFT_API uint64_t dft_reader_problem_count(dft_reader *reader, uint32_t kind);
/* The problems in the order of source and byte. All are counted, but at most 1000 per source are kept. Call this after
 * reading: while problems are added, their indexes change. DFT_EINVAL: there is no such problem. */
DFT_API dft_status dft_reader_problem(dft_reader *reader, uint32_t index, dft_problem *problem);
DFT_API const char *dft_problem_text(uint32_t kind);

#ifdef __cplusplus
}
#endif
#endif
