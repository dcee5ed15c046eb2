/* ignored.h - variables of the original that scripts set and that have no effect here.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_IGNORED_H
#define DFT_IGNORED_H

/* variable, its key in a configuration file, the value that would have changed the trace (NULL: none), what to do instead */
#define DFT__IGNORED_LIST(X)                                                                                  \
  X("WRITE_BUFFER_SIZE", "internal.write_buffer_size", NULL, "")                                              \
  X("BIND_SIGNALS", "internal.bind_signals", NULL, "")                                                        \
  X("ERROR", "internal.throw_error", NULL, "")                                                                \
  X("GOTCHA_PRIORITY", "gotcha.priority", NULL, "")                                                           \
  X("LIBUV_THREADS", "tracer.libuv_threads", NULL, "")                                                        \
  X("TRACE_INTERVAL_MS", "features.interval", NULL, "")                                                       \
  X("ENABLE_AGGREGATION", "features.aggregation.enable", "1", "every event is recorded")                      \
  X("AGGREGATION_TYPE", "features.aggregation.type", NULL, "")                                                \
  X("AGGREGATION_FILE", "features.aggregation.file", NULL, "")                                                \
  X("TRACE_ALL_FILES", "internal.trace_all_files", "1", "DFTRACER_DATA_DIR=all records the I/O of all files") \
  X("TRACE_TIDS", "features.trace_tids", "0", "DFTRACER_DISABLE_TIDS=1 leaves out thread ids")

/* Nonzero when a configuration file's key is one of these; remembers its value for dft__ignored_report. */
int dft__ignored_key(const char *path, const char *text);

/* Reports once those, in the environment and in the file, that would have changed the trace. */
void dft__ignored_report(void);

#endif
