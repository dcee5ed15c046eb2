/* log.h - messages of the library: at most one line on stderr for each kind of problem.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_LOG_H
#define DFT_LOG_H

/* Kinds of messages. Each is printed once a process; a forked child starts anew. */
enum dft__log_kind {
  DFT__LOG_START,   /* the trace could not be opened */
  DFT__LOG_SINK,    /* output could not be written */
  DFT__LOG_SPACE,   /* events were dropped */
  DFT__LOG_PUBLISH, /* the file could not get its name */
  DFT__LOG_RECOVER,
  DFT__LOG_UNMATCHED, /* regions were ended that nobody began, at level WARN */
  DFT__LOG_TAKEN,     /* another process published the trace so far, at level WARN */
  DFT__LOG_MPI,       /* the MPI library is not known */
  DFT__LOG_IGNORED,   /* variables are set that have no effect */
  DFT__LOG_INFO,      /* what was written where, at level INFO */
  DFT__LOG_KINDS,
};

enum dft__log_level { DFT__LOG_ERROR, DFT__LOG_WARN, DFT__LOG_LEVEL_INFO, DFT__LOG_DEBUG };

/* Messages above this level are left out. */
void dft__log_set_level(int level);

/* Prints "dftracer: " and the line, if this is the first of its kind, the level allows it, and stderr is still the file
 * that the program started with. A thread without that stderr (see dft__log_defer) leaves it for dft__log_flush. */
__attribute__((format(printf, 3, 4))) void dft__log(enum dft__log_kind kind, int level, const char *format, ...);

/* As dft__log, once for each of 64 settings. */
__attribute__((format(printf, 2, 3))) void dft__log_config(unsigned setting, const char *format, ...);

/* The calling thread has a descriptor table of its own: its messages wait. */
void dft__log_defer(void);
void dft__log_flush(void);

/* In a forked child: every kind may be printed again. */
void dft__log_reset(void);

#endif
