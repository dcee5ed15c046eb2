/* config.h - the one table of settings: it parses, checks, documents and prints itself.
 *
 * A setting is an environment variable. Order: default < configuration file < environment < arguments of dft_start. A
 * wrong value gets one message, and what comes before it in this order is used.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_CONFIG_H
#define DFT_CONFIG_H

#include <dftracer/dft.h>

/* id, kind, default, what is allowed (CHOICE: the words, first letter case does not matter), what it does */
#define DFT__SETTING_LIST(X)                                                                                           \
  X(ENABLE, SWITCH, "0", "", "record events; without it every call returns at once")                                   \
  X(CONFIGURATION, TEXT, "", "a file", "settings from this YAML file; the environment comes before it")                \
  X(INIT, CHOICE, "FUNCTION", "FUNCTION PRELOAD HYBRID",                                                               \
    "how I/O calls are bound: in place by the program's own "                                                          \
    "initialise call, by the preload library, or both")                                                                \
  X(LOG_FILE, TEXT, "./trace", "a path",                                                                               \
    "where the trace goes: a name ending in .pfw or .pfw.gz is used as it is (with .gz when compressed), "             \
    "anything else is a prefix")                                                                                       \
  X(DATA_DIR, TEXT, "", "folders with ':' between them, or all", "whose I/O calls are recorded")                       \
  X(EXCLUDE_DIR, TEXT, "/proc:/sys:/dev", "folders with ':' between them",                                             \
    "whose I/O calls are not recorded; of folders inside each other the innermost decides")                            \
  X(INC_METADATA, SWITCH, "1", "", "write command line, executable, working directory and facts of the process")       \
  X(COMMAND_LINE, SWITCH, "1", "", "write the command line's arguments, which may hold secrets; 0: the program alone") \
  X(TRACE_COMPRESSION, SWITCH, "1", "", "compress the trace (.pfw.gz); 0: plain text (.pfw)")                          \
  X(COMPRESSION_LEVEL, NUMBER, "0", "0 to 9", "1 is fast, 9 is small; 0: the best bargain of the library in use")      \
  X(SINK, TEXT, "jsonl", "names or paths of sinks, ',' between them",                                                  \
    "what writes the trace: jsonl, hdf5, hdf5:layout=table, null; /path/x.so is a sink from outside")                  \
  X(CATEGORIES, TEXT, "", "names, ',' between them", "record events of these categories only; empty: all")             \
  X(CLOCK, CHOICE, "auto", "auto tsc monotonic",                                                                       \
    "what times are read from: the processor's time stamp counter where the kernel itself relies on it, else "         \
    "CLOCK_MONOTONIC; tsc: also where only the processor vouches for it")                                              \
  X(TIME_METRIC, CHOICE, "US", "US NS MS SEC", "unit of times in the trace; most tools take every number as US")       \
  X(RANK, NUMBER, "-1", "-1 to 2147483647", "rank of this process; -1: what the launcher's variables say")             \
  X(PARENT, NUMBER, "0", "0 to 2147483647",                                                                            \
    "set for children by a traced Python program: its process id. Their traces are named after its own")               \
  X(RUN, TEXT, "", "a file",                                                                                           \
    "set by dftracer run: where processes note the folder of a trace that the program itself names")                   \
  X(DISABLE_IO, SWITCH, "0", "", "record no POSIX and STDIO calls")                                                    \
  X(DISABLE_POSIX, SWITCH, "0", "", "record no POSIX calls")                                                           \
  X(DISABLE_STDIO, SWITCH, "0", "", "record no STDIO calls")                                                           \
  X(DISABLE_TIDS, SWITCH, "0", "", "write the process id in place of thread ids")                                      \
  X(SET_CORE_AFFINITY, SWITCH, "0", "", "write the cores that this process may use, as a PR record")                   \
  X(SPOOL_DIR, TEXT, "", "a folder",                                                                                   \
    "where events wait until they are written; empty: .dftracer beside the trace, or "                                 \
    "/dev/shm when that is no local file system")                                                                      \
  X(SPOOL_LIMIT, BYTES, "64M", "1M to 16G", "how much may wait")                                                       \
  X(ON_FULL, CHOICE, "assist", "assist drop",                                                                          \
    "what a thread does when the spool is full: help writing, or drop the "                                            \
    "event and count it")                                                                                              \
  X(LOG_LEVEL, CHOICE, "ERROR", "ERROR WARN INFO DEBUG", "what the library tells on stderr")

enum dft__setting {
#define DFT__SETTING_ENUM(id, kind, initial, allowed, summary) DFT__##id,
  DFT__SETTING_LIST(DFT__SETTING_ENUM)
#undef DFT__SETTING_ENUM
    DFT__SETTING_COUNT,
};

/* Reads the environment, without effect when the process runs with raised privileges. */
void dft__config_read(void);

/* Overrides one value, as an argument of dft_start does. Zero when the value is not allowed, and then nothing changes. */
int dft__config_set(enum dft__setting setting, const char *text);

/* The setting of this name, without DFTRACER_ and in any case; -1 when there is none. */
int dft__config_find(const char *name);

/* Reads a switch; zero when it is none. */
int dft__config_switch(const char *text, int64_t *number);

/* SWITCH: 0 or 1; NUMBER, BYTES: the value; CHOICE: the place of the word in the list, from 0. */
int64_t dft__config_number(enum dft__setting setting);

/* Tells whether all settings are the same in another image of this process. */
uint64_t dft__config_hash(void);

/* The value as text; CHOICE in the spelling of the list. */
const char *dft__config_text(enum dft__setting setting);

#endif
