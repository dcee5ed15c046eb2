/* dftracer.h - the macros, functions and C++ class of codes that are annotated for DFTracer, built on dft.h.
 *
 * Recording starts with the initialise call if DFTRACER_ENABLE=1 is set. Before that call, or without the variable,
 * everything here returns at once.
 *
 *   int work(int step) {
 *     DFTRACER_C_FUNCTION_START();
 *     DFTRACER_C_FUNCTION_UPDATE_INT("step", step);
 *     if (step < 0) return -1;              // ends the region too
 *     DFTRACER_C_FUNCTION_END();
 *     return 0;
 *   }
 *   int main(void) {
 *     DFTRACER_C_INIT(NULL, NULL, NULL);    // log file, data dirs, process id; NULL: use DFTRACER_LOG_FILE, _DATA_DIR
 *     work(1);
 *     DFTRACER_C_FINI();
 *     return 0;
 *   }
 *
 * The macros register their name and category once, so they cost as much as the static sites of dft.h. A region must
 * end on the thread that began it. No function of this header is a symbol of the library, so it does not clash with a
 * program's own `finalize` or `get_time` in another file. New code may call dft.h directly. Both can be mixed.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_DFTRACER_H
#define DFTRACER_DFTRACER_H

#include <dftracer/dft.h>
#include <dftracer/names.h>

#define DF_DATA_EVENT 0
#define DF_METADATA_EVENT 1

#ifdef __cplusplus
extern "C" {
#endif

typedef const char *ConstEventNameType;
typedef unsigned long long TimeResolution;

__attribute__((unused)) static ConstEventNameType C_LOG_CATEGORY = "C_APP";

/* ---- Functions ---------------------------------------------------------------------------------------------------- */

/* Opens the trace. If log_file or data_dirs is NULL, the environment or the configuration file decides. process_id is
 * accepted for compatibility and ignored: the trace has the process id of the system. */
DFT_INLINE void initialize_no_bind(const char *log_file, const char *data_dirs, int *process_id) {
  dft_options options = {sizeof(dft_options), log_file, data_dirs};
  (void)process_id;
  dft_start(&options);
}

/* The same, and also records the I/O calls of this process on files below data_dirs, unless DFTRACER_INIT=PRELOAD or
 * DFTRACER_DISABLE_IO=1 is set. */
DFT_INLINE void initialize_main(const char *log_file, const char *data_dirs, int *process_id) {
  initialize_no_bind(log_file, data_dirs, process_id);
  dft_bind_io();
}

/* Completes the trace. Optional: the end of the process completes it as well. */
DFT_INLINE void finalize(void) {
  dft_stop();
}

/* A handle of an open region; NULL while nothing is recorded. Never dereference it: it holds a number. */
struct DFTracerData {
  void *profiler;
};

DFT_INLINE struct DFTracerData *dftracer_data(dft_region region) {
  return (struct DFTracerData *)(uintptr_t)region;
}
DFT_INLINE dft_region dftracer_region(struct DFTracerData *data) {
  return (dft_region)(uintptr_t)data;
}

DFT_INLINE struct DFTracerData *dftracer_begin(dft_site *site) {
  return dftracer_data(dft_is_open() ? dft_region_begin_site(site) : 0);
}

DFT_INLINE void dftracer_metadata(const char *key, const char *value) {
  if (dft_is_open()) dft_metadata(key, value);
}

/* With DF_METADATA_EVENT, name and cat are the key and value of a metadata record. */
DFT_INLINE struct DFTracerData *initialize_region(ConstEventNameType name, ConstEventNameType cat, int event_type) {
  if (event_type == DF_METADATA_EVENT) dftracer_metadata(name, cat);
  else if (dft_is_open()) return dftracer_data(dft_region_begin_named(name, cat));
  return NULL;
}

DFT_INLINE void finalize_region(struct DFTracerData *data) {
  dft_region_close(dftracer_region(data));
}

DFT_INLINE void finalize_region_cleanup(struct DFTracerData **data) {
  finalize_region(*data);
  *data = NULL;
}

DFT_INLINE void update_metadata_int(struct DFTracerData *data, const char *key, int64_t value) {
  if (data) dft_update_int_n(dftracer_region(data), key, key ? strlen(key) : 0, value);
}

DFT_INLINE void update_metadata_string(struct DFTracerData *data, const char *key, const char *value) {
  if (data) dft_update_string_n(dftracer_region(data), key, key ? strlen(key) : 0, value, value ? strlen(value) : 0);
}

/* The type said which arguments an aggregation used as keys. It is ignored: every argument is recorded. */
DFT_INLINE void update_metadata_int_type(struct DFTracerData *data, const char *key, int64_t value, int type) {
  (void)type;
  update_metadata_int(data, key, value);
}

DFT_INLINE void update_metadata_string_type(struct DFTracerData *data, const char *key, const char *value, int type) {
  (void)type;
  update_metadata_string(data, key, value);
}

/* Facts about the process. They are in the `end` event of its trace. */
DFT_INLINE void set_app_metadata_int(const char *key, int64_t value) {
  if (dft_is_open()) dft_app_metadata_int(key, value);
}

DFT_INLINE void set_app_metadata_string(const char *key, const char *value) {
  if (dft_is_open()) dft_app_metadata_string(key, value);
}

DFT_INLINE void mark_used(const char *name) {
  if (dft_is_open()) dft_mark_used(name);
}

DFT_INLINE TimeResolution dftracer_get_time(void) {
  return dft_is_open() ? dft_time() : 0;
}

DFT_INLINE void dftracer_log_event(const char *name, const char *cat, TimeResolution start, TimeResolution duration) {
  if (dft_is_open()) dft_log_event(name, cat, start, duration);
}

/* The time now, in the trace's unit since the epoch, and an event with times of the caller. If a C file has functions
 * of its own with these names, define DFTRACER_NO_SHORT_NAMES. In C++ the program's own functions are preferred. */
#if !defined(__cplusplus) && !defined(DFTRACER_NO_SHORT_NAMES)
DFT_INLINE TimeResolution get_time(void) {
  return dftracer_get_time();
}
DFT_INLINE void log_event(const char *name, const char *cat, TimeResolution start, TimeResolution duration) {
  dftracer_log_event(name, cat, start, duration);
}
#endif

#ifdef __cplusplus
}
#endif

/* ---- C macros ----------------------------------------------------------------------------------------------------- */

/* Most end in a semicolon, because some codes call them without one. */
#define DFTRACER_C_INIT(log_file, data_dirs, process_id) \
  (initialize_main(log_file, data_dirs, process_id), mark_used("C_APP"));
#define DFTRACER_C_INIT_NO_BIND(log_file, data_dirs, process_id) \
  (initialize_no_bind(log_file, data_dirs, process_id), mark_used("C_APP"));
#define DFTRACER_C_FINI() finalize()

/* Ends the region of a variable when it goes out of scope. */
#define DFTRACER_C_REGION_CLEANUP __attribute__((cleanup(finalize_region_cleanup)))

#define DFTRACER_C_BEGIN(id, text)                              \
  static dft_site dftracer_site_##id = DFT_SITE(text, "C_APP"); \
  struct DFTracerData *data_##id DFTRACER_C_REGION_CLEANUP = dftracer_begin(&dftracer_site_##id);

#define DFTRACER_C_FUNCTION_START() DFTRACER_C_BEGIN(fn, __func__)
#define DFTRACER_C_FUNCTION_END() DFTRACER_C_REGION_END(fn)
#define DFTRACER_C_FUNCTION_UPDATE_INT(key, val) update_metadata_int(data_fn, key, val);
#define DFTRACER_C_FUNCTION_UPDATE_STR(key, val) update_metadata_string(data_fn, key, val);
#define DFTRACER_C_FUNCTION_UPDATE_INT_TYPE(key, val, type) update_metadata_int_type(data_fn, key, val, type);
#define DFTRACER_C_FUNCTION_UPDATE_STR_TYPE(key, val, type) update_metadata_string_type(data_fn, key, val, type);

#define DFTRACER_C_REGION_START(name) DFTRACER_C_BEGIN(name, #name)
#define DFTRACER_C_REGION_END(name) finalize_region_cleanup(&data_##name);
#define DFTRACER_C_REGION_UPDATE_INT(name, key, val) update_metadata_int(data_##name, key, val);
#define DFTRACER_C_REGION_UPDATE_STR(name, key, val) update_metadata_string(data_##name, key, val);
#define DFTRACER_C_REGION_UPDATE_INT_TYPE(name, key, val, type) update_metadata_int_type(data_##name, key, val, type);
#define DFTRACER_C_REGION_UPDATE_STR_TYPE(name, key, val, type) \
  update_metadata_string_type(data_##name, key, val, type);

#define DFTRACER_C_METADATA(name, key, val) dftracer_metadata(key, val);
#define DFTRACER_C_APP_METADATA_INT(key, val) set_app_metadata_int(key, val);
#define DFTRACER_C_APP_METADATA_STR(key, val) set_app_metadata_string(key, val);
#define DFTRACER_C_MARK_USED(name) mark_used(name);

#ifdef __cplusplus
#include <dftracer/dftracer.hpp>
#endif
#endif
