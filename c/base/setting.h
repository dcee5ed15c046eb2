/* setting.h - the one table of settings. It makes the parser, the documentation, the command's output and the header
 * dftracer/names.h (cmake/names.cmake): a setting is one row.
 *
 * A setting is an environment variable, DFTRACER_ and its id.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_SETTING_H
#define DFT_SETTING_H

#include <stdint.h>

/* id, kind, default, what is allowed (CHOICE: the words, in any case), what it does */
#define DFT__SETTING_LIST(X)                                                                                           \
  X(ENABLE, SWITCH, "0", "",                                                                                           \
    "record events; 0: every call returns at once. Read when a trace opens; Python reads it at the import, too")       \
  X(CONFIGURATION, TEXT, "", "a file", "read settings from this YAML file; the environment takes precedence")          \
  X(INIT, CHOICE, "FUNCTION", "FUNCTION PRELOAD HYBRID",                                                               \
    "how I/O calls are intercepted: in place by the program's own initialise call, by the preload library, or both")   \
  X(LOG_FILE, TEXT, "./trace", "a path",                                                                               \
    "where the trace is written: a name that ends in .pfw or .pfw.gz is used as it is (with .gz when compressed), "    \
    "anything else is a prefix")                                                                                       \
  X(DATA_DIR, TEXT, "", "folders separated by ':', or all", "folders whose I/O calls are recorded")                    \
  X(EXCLUDE_DIR, TEXT, "/proc:/sys:/dev", "folders separated by ':'",                                                  \
    "folders whose I/O calls are not recorded; where folders are nested, the innermost one decides")                   \
  X(INC_METADATA, SWITCH, "1", "",                                                                                     \
    "write the command line, executable, working directory and other facts about the process")                         \
  X(COMMAND_LINE, SWITCH, "1", "",                                                                                     \
    "write the command line's arguments, which may contain secrets; 0: write the program's name only")                 \
  X(TRACE_COMPRESSION, SWITCH, "1", "", "compress the trace (.pfw.gz); 0: plain text (.pfw)")                          \
  X(COMPRESSION_LEVEL, NUMBER, "0", "0 to 9",                                                                          \
    "1 is fastest, 9 is smallest; 0: the compression library's recommended level")                                     \
  X(SINK, TEXT, "jsonl", "names or paths of sinks, separated by ','",                                                  \
    "what writes the trace: jsonl, hdf5, hdf5:layout=table, null; /path/x.so is an external sink")                     \
  X(CATEGORIES, TEXT, "", "names separated by ','", "record only events of these categories; empty: all")              \
  X(CLOCK, CHOICE, "auto", "auto tsc monotonic",                                                                       \
    "where times come from; auto: the processor's time stamp counter if the kernel uses it as its clock source, else " \
    "CLOCK_MONOTONIC; tsc: the counter even if only the processor reports it as invariant")                            \
  X(TIME_METRIC, CHOICE, "US", "US NS MS SEC", "unit of times in the trace; most tools assume US")                     \
  X(RANK, NUMBER, "-1", "-1 to 2147483647", "rank of this process; -1: read it from the launcher's variables")         \
  X(PARENT, NUMBER, "0", "0 to 2147483647",                                                                            \
    "set by a traced Python program for its children: its process id. Their traces are named after its own")           \
  X(RUN, TEXT, "", "a file",                                                                                           \
    "set by dftracer run: the file where processes note the folder of a trace that the program itself names")          \
  X(RUN_ID, TEXT, "", "a text",                                                                                        \
    "what the trace calls the run that this process belongs to; empty: found out. dftracer run sets it")               \
  X(DISABLE_IO, SWITCH, "0", "", "do not record POSIX, STDIO and MPI calls")                                           \
  X(DISABLE_POSIX, SWITCH, "0", "", "do not record POSIX calls")                                                       \
  X(DISABLE_STDIO, SWITCH, "0", "", "do not record STDIO calls")                                                       \
  X(DISABLE_MPI, SWITCH, "0", "", "do not record MPI and MPI-IO calls")                                                \
  X(DISABLE_TIDS, SWITCH, "0", "", "write the process id instead of thread ids")                                       \
  X(SET_CORE_AFFINITY, SWITCH, "0", "", "write the cores that this process may use, as a PR record")                   \
  X(FRAMEWORKS, TEXT, "", "all, none, or names separated by ','",                                                      \
    "Python: frameworks that are recorded without a line changed: torch, accelerate, lightning, transformers, keras, " \
    "deepspeed; empty: all, but none in a program that annotates itself")                                              \
  X(SPOOL_DIR, TEXT, "", "a folder",                                                                                   \
    "where events wait until they are written; empty: .dftracer beside the trace, or /dev/shm if that is not a local " \
    "file system")                                                                                                     \
  X(SPOOL_LIMIT, BYTES, "64M", "1M to 16G", "maximum size of the spool of one process")                                \
  X(ON_FULL, CHOICE, "assist", "assist drop wait",                                                                     \
    "what a thread does when the spool is full: help to write, drop the event and count it, or wait for the "          \
    "background "                                                                                                      \
    "thread, which then does all other work, too")                                                                     \
  X(LOG_LEVEL, CHOICE, "ERROR", "ERROR WARN INFO DEBUG", "which messages the library prints on stderr")

enum dft__setting {
#define DFT__SETTING_ENUM(id, kind, initial, allowed, summary) DFT__##id,
  DFT__SETTING_LIST(DFT__SETTING_ENUM)
#undef DFT__SETTING_ENUM
    DFT__SETTING_COUNT,
};

enum dft__setting_kind {
  DFT__SETTING_SWITCH,
  DFT__SETTING_NUMBER,
  DFT__SETTING_BYTES,
  DFT__SETTING_CHOICE,
  DFT__SETTING_TEXT,
};

typedef struct dft__setting_row {
  const char *name;
  enum dft__setting_kind kind;
  const char *initial;
  const char *allowed;
  const char *summary;
} dft__setting_row;

extern const dft__setting_row dft__settings[DFT__SETTING_COUNT];

/* The setting of this name, without DFTRACER_ and in any case; -1 when there is none. */
int dft__setting_find(const char *name);

/* Reads a switch; zero when the text is not one. */
int dft__setting_switch(const char *text, int64_t *number);

/* What a text means for a setting; zero when it is not allowed. *number: 0 or 1 for a SWITCH, the value for NUMBER and BYTES,
 * the place of the word in the list, from 0, for a CHOICE. *shown, *len: how the value is shown, for a CHOICE in the spelling
 * of the list. */
int dft__setting_parse(enum dft__setting setting, const char *text, int64_t *number, const char **shown, int *len);

#endif
