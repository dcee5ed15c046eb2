/* readerstate.h - what a reader knows: its sources, the walks over them, and their problems. Data only; the functions are
 * in the file of each noun.
 *
 * A walk cuts a source into units and hands them out in order. A unit of a .pfw.gz begins where a gzip member seems to
 * begin: three bytes of a signature and a plausible header. Such a place may be a coincidence inside a member. Then the
 * unit before runs over it and says so (dft__walk_end_of), and the problems that the false unit reported are dropped.
 *
 * A line may begin in one unit and end in the next. The text before the first line end of a unit, and the text after its
 * last, go to a seam. Whichever of the two units comes second joins the line and parses it.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_READER_STATE_H
#define DFT_READER_STATE_H

#include <dftracer/spool.h>
#include <sys/types.h>

#include "reader/row/dictionary.h"

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

/* Which units of one source have been handed out. */
typedef struct dft__walk {
  uint64_t next_start;
  uint64_t *starts; /* of the units that were handed out */
  uint64_t unit_count;
  uint64_t unit_capacity;
  uint64_t units_open;
  dft__seam *seams;
  uint64_t (*verified)[2]; /* start and end of members that contain what looked like the beginning of another */
  uint32_t verified_count;
  uint64_t wasted; /* work on damaged members; see dft__walk_after_damage */
} dft__walk;

typedef struct dft__source_state {
  char *path;
  dev_t device;
  ino_t inode; /* 0: there is no such file */
  uint32_t kind;
  uint32_t is_opened; /* size and unit of time are known */
  uint32_t is_done;
  uint64_t size;
  uint64_t unit_ns;
  uint64_t text_bytes, members, units, lines, rows, done_bytes;
  uint64_t problem_count;
  dft__problem_entry *problems;
  uint32_t problems_kept;
  uint64_t *unit_lines; /* lines in each unit */
  uint64_t unit_lines_capacity;
  dft__walk walk; /* of the cursors that read all sources together */
} dft__source_state;

#define DFT__STRINGS DFT_DICTIONARIES /* the dictionary of what SH lines define */
#define DFT__DICTIONARIES (DFT_DICTIONARIES + 1)

struct dft_reader {
  pthread_mutex_t lock;
  dft_reader_options options;
  dft__arena arena;
  dft__dictionary dictionaries[DFT__DICTIONARIES];
  dft__source_state *sources;
  uint32_t source_count;
  uint32_t source_capacity;
  uint32_t next_source; /* the source whose units are handed out now, when all are read together */
  uint64_t problem_counts[DFT_PROBLEM_KINDS];
  dft__problem_entry *path_problems; /* of paths that did not become sources */
  uint32_t path_problem_count;
};

/* A unit while a cursor reads it. */
typedef struct dft__unit {
  uint32_t source;
  uint64_t number;
  uint64_t start;
  uint64_t limit; /* where the next one begins */
  int fd;
  dft_snapshot *snapshot; /* of a spool, whose only unit is the live file followed by this */
} dft__unit;

#endif
