/* reader_internal.h - sources, walks over them, and where cursors stand.
 *
 * A walk cuts a source into units and hands them out in order. Units of a .pfw.gz begin where a gzip member seems to begin:
 * three bytes of a signature and a plausible header. Such a place may be chance, inside a member; then the unit before
 * runs over it and says so (dft__walk_end_of), and what was reported for the wrong one is taken back.
 *
 * A line may begin in one unit and end in the next. What stands before the first line end of a unit, and behind its last,
 * goes to a seam: whoever comes second puts the line together and parses it.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_READER_INTERNAL_H
#define DFT_READER_INTERNAL_H

#include <dftracer/spool.h>

#include "dictionary.h"
#include "inflate.h"
#include "parse.h"

#define DFT__UNIT_GZIP (96u << 10) /* compressed bytes of a unit, at least */
#define DFT__UNIT_PLAIN (2u << 20)
#define DFT__PROBLEMS_KEPT 1000u /* of a source */
#define DFT__DETAIL_BYTES 80u

typedef struct dft__problem_entry {
  uint32_t kind;
  int32_t error;
  uint64_t byte;
  uint64_t unit;
  uint64_t line_in_unit; /* UINT64_MAX: no line */
  char *detail;
} dft__problem_entry;

enum dft__seam_kind { DFT__SEAM_HEAD, DFT__SEAM_TAIL, DFT__SEAM_THROUGH };

typedef struct dft__seam {
  struct dft__seam *next;
  uint64_t at; /* the place between two units */
  uint64_t to; /* THROUGH: the end of the unit, which holds no line end; TAIL: where in the file its line begins */
  uint32_t kind;
  size_t len;
  char bytes[];
} dft__seam;

/* The state of handing out units of one source. */
typedef struct dft__walk {
  uint64_t next_start;
  uint64_t *starts; /* of units that were handed out */
  uint64_t unit_count;
  uint64_t unit_capacity;
  uint64_t units_open;
  dft__seam *seams;
  uint64_t (*verified)[2]; /* members that hold a place which looked like the beginning of one */
  uint32_t verified_count;
} dft__walk;

typedef struct dft__source_state {
  char *path;
  uint32_t kind;
  uint32_t is_opened; /* looked into: size and unit are known */
  uint32_t is_done;
  uint64_t size;
  uint64_t unit_ns;
  uint64_t text_bytes, members, units, lines, rows, done_bytes;
  uint64_t problem_count;
  dft__problem_entry *problems;
  uint32_t problems_kept;
  uint64_t *unit_lines; /* lines in each unit */
  uint64_t unit_lines_capacity;
  dft__walk walk;
} dft__source_state;

struct dft_reader {
  pthread_mutex_t lock;
  dft_reader_options options;
  dft__arena arena;
  dft__dictionary dictionaries[DFT__DICTIONARIES];
  dft__source_state *sources;
  uint32_t source_count;
  uint32_t source_capacity;
  uint32_t next_source; /* where the walk over all sources is */
  uint64_t problem_counts[DFT_PROBLEM_KINDS];
  dft__problem_entry *path_problems; /* of paths that became no source */
  uint32_t path_problem_count;
};

/* One unit in a cursor's hands. */
typedef struct dft__unit {
  uint32_t source;
  uint64_t number;
  uint64_t start;
  uint64_t limit; /* where the next one begins */
  int fd;
  dft_snapshot *snapshot; /* of a spool, whose only unit is the live file and then this */
} dft__unit;

/* ---- paths.c ---- */
/* Turns a path into sources; 0: no memory. */
int dft__paths_add(dft_reader *reader, const char *path);

/* ---- source.c ---- */
void dft__source_free(dft__source_state *source);
/* Looks into it once: size, kind, unit of time. 0: it cannot be read. With the lock held. */
int dft__source_prepare(dft_reader *reader, uint32_t index, int fd);

/* ---- unpublished.c ---- */
/* The unit of a spool: opens the live file; 0, and a problem, when it cannot be read. With the lock held. */
int dft__spool_take(dft_reader *reader, uint32_t index, dft__unit *unit);
/* Lines of the snapshot, as long as there is room; *is_over is set behind the last, *is_damaged where the live output
 * could not be read on. Returns the bytes written. */
size_t dft__spool_lines(dft__unit *unit, char *out, size_t room, int *is_over, int *is_damaged);

/* ---- walk.c ---- */
void dft__walk_free(dft__walk *walk);
/* The next unit of the source; its fd is open then. 0: there is none. With the lock held. */
int dft__walk_take(dft_reader *reader, dft__walk *walk, uint32_t index, dft__unit *unit);
/* A unit's member ended at `at`, behind the unit's limit: returns where the unit has to stop. With the lock held. */
uint64_t dft__walk_end_of(dft_reader *reader, dft__walk *walk, dft__unit *unit, uint64_t member, uint64_t at);
/* The first place from `from` on where a gzip member seems to begin, or `to`. */
uint64_t dft__walk_find_member(int fd, uint64_t from, uint64_t to);
int dft__walk_is_member(const uint8_t *bytes, size_t len);
/* Seams; with the lock held. take: removes and returns the one at this place, NULL when there is none. */
dft__seam *dft__walk_take_seam(dft__walk *walk, uint64_t at);
int dft__walk_add_seam(dft__walk *walk, uint32_t kind, uint64_t at, uint64_t to, const char *bytes, size_t len);

/* ---- problem.c ---- */
/* With the lock held. detail may be NULL. */
void dft__problem_add(dft_reader *reader, uint32_t source, const dft__problem_entry *problem, const char *detail,
                      size_t len);
/* Takes back what was said about places inside a member that turned out to be sound. */
void dft__problem_drop(dft_reader *reader, uint32_t index, uint64_t from, uint64_t to);
void dft__problem_note_lines(dft__source_state *source, uint64_t unit, uint64_t lines);

#endif
