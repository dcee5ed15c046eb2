/* dft.h - the event API of dftracer: what happened, when, on which thread.
 *
 * How it works: a call writes one binary record into the calling thread's part of the spool, a file mapped into
 * memory. A background thread turns records into trace files. A call takes no lock, makes no system call and allocates
 * nothing. When it has returned, its event survives the death of the process, whatever kills it.
 *
 * Threads   Every function may be called from any thread. All but the lifecycle calls may be called from a signal handler.
 * Errors    Recording calls return no error. They count the events that they had to drop, and the trace reports the number.
 *           Lifecycle calls return a status. Nothing here exits, aborts, prints to stdout or installs a signal handler.
 * Fork      A forked child records into a trace of its own. It ignores the ends of regions that began before the fork.
 * Strings   UTF-8. Functions ending in _n take pointer and length; these are what the library exports. The short forms
 *           take terminated strings. Texts are copied before the call returns. A dft_site or dft_key is kept by address.
 *
 *   static dft_site step = DFT_SITE("step", "solver");
 *   dft_region_begin(&step);
 *   dft_update_int("iteration", 12);
 *   advance();
 *   dft_region_end();
 *
 * Recording starts by itself at the first event when DFTRACER_ENABLE=1 is set, and is off otherwise.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_DFT_H
#define DFTRACER_DFT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DFT_API __attribute__((visibility("default")))
/* Builds with -finstrument-functions leave these out. */
#define DFT_INLINE static inline __attribute__((no_instrument_function, unused))

/* ---- Version ------------------------------------------------------------------------------------------------------ */

#define DFT_VERSION_MAJOR 5
#define DFT_VERSION_MINOR 0
#define DFT_VERSION_PATCH 0
#define DFT_VERSION "5.0.0"

/* The version of the library that is loaded, which may be newer than this header. */
DFT_API const char *dft_version(void);

/* ---- Status ------------------------------------------------------------------------------------------------------- */

/* name, value (frozen), message */
#define DFT_STATUS_LIST(X)                                   \
  X(DFT_OK, 0, "success")                                    \
  X(DFT_EDISABLED, 1, "tracing is off (DFTRACER_ENABLE)")    \
  X(DFT_EACTIVE, 2, "a trace is already open")               \
  X(DFT_EINACTIVE, 3, "no trace is open")                    \
  X(DFT_EINVAL, 4, "an argument is not valid")               \
  X(DFT_EIO, 5, "a file operation failed")                   \
  X(DFT_ENOSPC, 6, "no space left for the trace")            \
  X(DFT_ENOMEM, 7, "no memory left for the trace")           \
  X(DFT_EFORMAT, 8, "a file is not a spool of this version") \
  X(DFT_EBUSY, 9, "another process is using it")             \
  X(DFT_ENOSINK, 10, "no such sink")                         \
  X(DFT_EDROPPED, 11, "events were dropped; the trace counts them")

typedef enum dft_status {
#define DFT_STATUS_ENUM(name, value, text) name = value,
  DFT_STATUS_LIST(DFT_STATUS_ENUM)
#undef DFT_STATUS_ENUM
} dft_status;

/* The message of a status; never NULL. */
DFT_API const char *dft_status_text(dft_status status);

/* ---- Lifecycle ---------------------------------------------------------------------------------------------------- */

typedef struct dft_options {
  size_t struct_size;   /* sizeof(dft_options) */
  const char *log_file; /* NULL: DFTRACER_LOG_FILE. A name that ends in .pfw or .pfw.gz is used as it is, with .gz when
                           compressed; anything else is a prefix */
  const char *data_dir; /* NULL: DFTRACER_DATA_DIR. Folders whose I/O is recorded, separated by ':', or "all". If the
                           setting is "all", this has no effect */
} dft_options;

/* Opens a trace; options may be NULL. DFT_EACTIVE: one is open already, and continues. A new trace may follow a stopped one.
 * DFT_EDISABLED: tracing is off. That is not an error; recording calls do nothing. */
DFT_API dft_status dft_start(const dft_options *options);

/* Completes the trace and publishes its file. Safe to call twice. Returns the first error of the session, or DFT_EDROPPED
 * when events were dropped. Later events are ignored until the next dft_start. */
DFT_API dft_status dft_stop(void);

/* States that no signal handler of this process records events. Then regions that end out of order, as those of interleaved
 * coroutines do, are taken off the stack. Otherwise they stay there: a thread's stack has room for 104,857 regions, and further
 * ones are dropped and counted. */
DFT_API void dft_handlers_are_silent(void);

/* While paused, the whole process records nothing new. A region that was open before is still recorded when it ends. Calls
 * nest. */
DFT_API void dft_pause(void);
DFT_API void dft_resume(void);

/* Records the POSIX and STDIO calls that this process makes on the open trace's data dirs, without a preload library. It
 * rewrites the import slots of the loaded objects; dft_unbind_io and dft_stop restore them (in a forked child they only stop
 * recording). DFT_EDISABLED, and nothing is rewritten, when no trace is open, no data dir was given, or DFTRACER_INIT or
 * DFTRACER_DISABLE_IO forbids it. */
DFT_API dft_status dft_bind_io(void);
DFT_API void dft_unbind_io(void);

/* Zero: every recording call would return at once. Below zero: not decided yet whether a trace opens. The inline functions
 * below read it; never write it. */
DFT_API extern int32_t dft_active;
DFT_INLINE int dft_is_active(void) {
  return __builtin_expect(__atomic_load_n(&dft_active, __ATOMIC_RELAXED) != 0, 1);
}

/* Nonzero while a trace is open, and in a forked child that will open its own. For callers that wait for a dft_start and do
 * not want their first event to open a trace because of the environment. */
DFT_INLINE int dft_is_open(void) {
  return __builtin_expect(__atomic_load_n(&dft_active, __ATOMIC_RELAXED) > 0, 1);
}

/* Nonzero while a trace is open, or would open at the first event, and recording is not paused. */
DFT_API int dft_is_enabled(void);

/* States that this process ends a child by a signal, on purpose. When this process completes what the child recorded, the
 * child does not count as one that died. */
DFT_API void dft_child_ends(uint32_t pid);

/* What dft_recover did. */
typedef struct dft_recovery {
  size_t struct_size; /* sizeof(dft_recovery), set by the caller */
  uint32_t published; /* traces of dead processes that were published */
  uint32_t alive;     /* spools left alone: their process is alive */
  uint32_t foreign;   /* spools left alone: of another node, boot, container or user */
  uint32_t failed;    /* spools that could not be published; they are still there */
  uint64_t events;    /* events in the published traces */
  uint32_t unknown;   /* files left alone: not spools, or spools of another version, which can recover them */
} dft_recovery;

/* Publishes what dead processes left in a trace folder; a trace's path stands for its folder. Idempotent, and safe while other
 * processes trace into it. report may be NULL. Returns DFT_OK, also when there was nothing to do, or the first error. */
DFT_API dft_status dft_recover(const char *folder, dft_recovery *report);

/* ---- Clock -------------------------------------------------------------------------------------------------------- */

/* Now, in the trace's unit (DFTRACER_TIME_METRIC, microseconds by default) since the epoch; 0 when tracing is off. */
DFT_API uint64_t dft_time(void);

/* Now, in the raw ticks that dft_record takes. */
DFT_API uint64_t dft_ticks(void);

/* The same without a call, where ticks come from the processor's time stamp counter. The counter may be read directly until
 * it shows this number; 0: never. The inline function below reads it; never write it. */
DFT_API extern uint64_t dft_tsc_until;
static inline uint64_t dft_ticks_inline(void) {
#ifdef __x86_64__
  uint64_t until = __atomic_load_n(&dft_tsc_until, __ATOMIC_RELAXED);
  if (__builtin_expect(until != 0, 1)) {
    uint64_t now = __builtin_ia32_rdtsc();
    if (__builtin_expect(now < until, 1)) return now;
  }
#endif
  return dft_ticks();
}

/* ---- Sites and keys: names registered once -------------------------------------------------------------------------- */

/* A place in the program; make it static. The library keeps its own data in `cache`. */
typedef struct dft_site {
  const char *name;
  const char *cat;
  uint64_t cache;
} dft_site;
/* clang-format off */
#define DFT_SITE(name, cat) {name, cat, 0}
/* clang-format on */

/* Makes a site at run time, for languages without static structs. There is one for each name and category, valid until the
 * process ends, across traces. NULL when there is no memory. Do not call it from a signal handler. */
DFT_API dft_site *dft_site_declare_n(const char *name, size_t name_len, const char *cat, size_t cat_len);

/* The name of an argument; make it static as well. */
typedef struct dft_key {
  const char *name;
  uint64_t cache;
} dft_key;
/* clang-format off */
#define DFT_KEY(name) {name, 0}
/* clang-format on */

/* ---- Regions ------------------------------------------------------------------------------------------------------ */

/* An open region of the calling thread; 0: none. */
typedef uint64_t dft_region;

DFT_API dft_region dft_region_begin_site(dft_site *site);
DFT_API dft_region dft_region_begin_n(const char *name, size_t name_len, const char *cat, size_t cat_len);
DFT_API void dft_region_end_innermost(void);
DFT_API void dft_region_end_at(dft_region region);

/* Begins a region at a static site. Ignore the result if regions end in nesting order. */
DFT_INLINE dft_region dft_region_begin(dft_site *site) {
  return dft_is_active() ? dft_region_begin_site(site) : 0;
}

/* The same by name. */
DFT_INLINE dft_region dft_region_begin_named(const char *name, const char *cat) {
  if (!dft_is_active()) return 0;
  return dft_region_begin_n(name, name ? strlen(name) : 0, cat, cat ? strlen(cat) : 0);
}

/* Ends the innermost open region of this thread. If none is open, the end is counted and ignored. */
DFT_INLINE void dft_region_end(void) {
  if (dft_is_active()) dft_region_end_innermost();
}

/* For bindings that keep regions by their handles: counts an end that has no begin, as dft_region_end does. `site` names it in the
 * trace. Records nothing. */
DFT_API void dft_region_unmatched(dft_site *site);

/* Ends this region, wherever it is on the thread's stack. */
DFT_INLINE void dft_region_close(dft_region region) {
  if (region && dft_is_active()) dft_region_end_at(region);
}

/* ---- Arguments ---------------------------------------------------------------------------------------------------- */

/* name, value (frozen): the type of an argument */
#define DFT_TYPE_LIST(X) \
  X(DFT_INT, 1)          \
  X(DFT_UINT, 2)         \
  X(DFT_DOUBLE, 3)       \
  X(DFT_STRING, 4)       \
  X(DFT_BOOL, 5)         \
  X(DFT_PATH, 6) /* an id from dft_path(), or the text itself; the trace shows the hash of the path */

typedef enum dft_type {
#define DFT_TYPE_ENUM(name, value) name = value,
  DFT_TYPE_LIST(DFT_TYPE_ENUM)
#undef DFT_TYPE_ENUM
} dft_type;

/* One argument of an event. */
typedef struct dft_arg {
  dft_key *key; /* NULL: name and name_len count */
  const char *name;
  size_t name_len;
  uint32_t type; /* dft_type */
  uint32_t path; /* DFT_PATH: the id from dft_path(); 0: text and len below */
  union {
    int64_t i; /* DFT_INT, and DFT_BOOL as 0 or 1 */
    uint64_t u;
    double d;
    struct {
      const char *text;
      size_t len;
    } s; /* DFT_STRING, DFT_PATH */
  } value;
} dft_arg;

/* Set an argument of an open region (0: the innermost). If a key is set twice, the last value counts. Strings over 64 KiB are
 * cut between two characters, and the event reports it. */
DFT_API void dft_update_int_n(dft_region region, const char *key, size_t key_len, int64_t value);
DFT_API void dft_update_uint_n(dft_region region, const char *key, size_t key_len, uint64_t value);
DFT_API void dft_update_double_n(dft_region region, const char *key, size_t key_len, double value);
DFT_API void dft_update_bool_n(dft_region region, const char *key, size_t key_len, int value);
DFT_API void dft_update_string_n(dft_region region, const char *key, size_t key_len, const char *text, size_t len);
/* The same with any type, and a registered key where there is one: for hot loops. */
DFT_API void dft_update_arg(dft_region region, const dft_arg *arg);

DFT_INLINE void dft_update_int(const char *key, int64_t value) {
  if (dft_is_active()) dft_update_int_n(0, key, key ? strlen(key) : 0, value);
}
DFT_INLINE void dft_update_uint(const char *key, uint64_t value) {
  if (dft_is_active()) dft_update_uint_n(0, key, key ? strlen(key) : 0, value);
}
DFT_INLINE void dft_update_double(const char *key, double value) {
  if (dft_is_active()) dft_update_double_n(0, key, key ? strlen(key) : 0, value);
}
DFT_INLINE void dft_update_bool(const char *key, int value) {
  if (dft_is_active()) dft_update_bool_n(0, key, key ? strlen(key) : 0, value);
}
DFT_INLINE void dft_update_string(const char *key, const char *text) {
  if (dft_is_active()) dft_update_string_n(0, key, key ? strlen(key) : 0, text, text ? strlen(text) : 0);
}

/* A measured interval, to be recorded later or not at all. */
typedef struct dft_span {
  size_t struct_size; /* sizeof(dft_span), set by the caller */
  uint64_t begin_ticks;
  uint64_t end_ticks;
  uint64_t id; /* 0: there is nothing to record */
  uint64_t parent;
  uint64_t session;
  uint32_t site;
  uint32_t level;
  uint32_t lane; /* a track of its own, where it overlaps other events of its thread; 0: the thread's track */
  const dft_site
    *named; /* dft_span_record takes the name from here when there was no room for it among the trace's names.
                            dft_span_begin sets it, after dft_region_take the caller may */
} dft_span;

/* Begins an interval that is not a region: events inside it belong to the region around it. */
DFT_API void dft_span_begin(dft_site *site, dft_span *span);
/* Ends it, on the same thread. If it overlaps regions, or other events according to the caller, it goes onto a lane. With
 * `overlaps`, another thread may end it, and the event belongs to that thread. */
DFT_API void dft_span_end(dft_span *span, int overlaps);
/* Ends this region now without recording it; its arguments are discarded. */
DFT_API void dft_region_take(dft_region region, dft_span *span);
/* Records it with these arguments. Call it on the thread that ended it. */
DFT_API void dft_span_record(const dft_span *span, const dft_arg *args, uint32_t count);

/* The id of a path, for DFT_PATH arguments of many events. 0: there is no room for more ids; pass the text instead. Valid
 * until the trace is stopped, and not in a forked child. */
DFT_API uint32_t dft_path(const char *path, size_t len);

/* ---- Other events ------------------------------------------------------------------------------------------------- */

/* A point in time. */
DFT_API void dft_instant_n(const char *name, size_t name_len, const char *cat, size_t cat_len, const dft_arg *args,
                           uint32_t count);

/* A value that changes over time; viewers show a curve. */
DFT_API void dft_counter_n(const char *name, size_t name_len, const char *cat, size_t cat_len, double value);

/* A fact about the program: one metadata record. */
DFT_API void dft_metadata_n(const char *key, size_t key_len, const char *value, size_t value_len);

/* A complete event that the caller measured with dft_ticks(). It nests below the thread's open regions. */
DFT_API void dft_record(dft_site *site, uint64_t begin_ticks, uint64_t end_ticks, const dft_arg *args, uint32_t count);

/* A complete event with the caller's own times, in the trace's unit since the epoch, written unchanged. With tid 0 it belongs
 * to the calling thread, below its open regions. With another tid it has no parent, because what was open on that thread at
 * that time is unknown. Directly after dft_enter it becomes the event of that level. */
DFT_API void dft_log_event_n(const char *name, size_t name_len, const char *cat, size_t cat_len, uint64_t start,
                             uint64_t duration, uint32_t tid, const dft_arg *args, uint32_t count);

/* Push and pop a level of this thread's stack without an event. dft_enter returns the depth before the push, from 0. */
DFT_API int32_t dft_enter(void);
DFT_API void dft_exit(void);

DFT_INLINE void dft_instant(const char *name, const char *cat) {
  if (dft_is_active()) dft_instant_n(name, name ? strlen(name) : 0, cat, cat ? strlen(cat) : 0, NULL, 0);
}
DFT_INLINE void dft_counter(const char *name, const char *cat, double value) {
  if (dft_is_active()) dft_counter_n(name, name ? strlen(name) : 0, cat, cat ? strlen(cat) : 0, value);
}
DFT_INLINE void dft_metadata(const char *key, const char *value) {
  if (dft_is_active()) dft_metadata_n(key, key ? strlen(key) : 0, value, value ? strlen(value) : 0);
}
DFT_INLINE void dft_log_event(const char *name, const char *cat, uint64_t start, uint64_t duration) {
  if (dft_is_active())
    dft_log_event_n(name, name ? strlen(name) : 0, cat, cat ? strlen(cat) : 0, start, duration, 0, NULL, 0);
}

/* ---- Facts about the process ---------------------------------------------------------------------------------------- */

/* Written into the trace's `end` event as app.KEY and used.NAME. The last value of a key counts. */
DFT_API void dft_app_metadata_int_n(const char *key, size_t key_len, int64_t value);
DFT_API void dft_app_metadata_string_n(const char *key, size_t key_len, const char *text, size_t len);
DFT_API void dft_mark_used_n(const char *name, size_t name_len);

/* Sets the rank and the number of processes of the job, if the environment does not have them. */
DFT_API void dft_set_rank(int32_t rank, int32_t size);
/* The rank and the number of processes, found or set; -1: unknown. */
DFT_API int32_t dft_rank(void);
DFT_API int32_t dft_size(void);

/* Names the calling thread in the trace. */
DFT_API void dft_thread_name_n(const char *name, size_t name_len);

DFT_INLINE void dft_app_metadata_int(const char *key, int64_t value) {
  if (dft_is_active()) dft_app_metadata_int_n(key, key ? strlen(key) : 0, value);
}
DFT_INLINE void dft_app_metadata_string(const char *key, const char *text) {
  if (dft_is_active()) dft_app_metadata_string_n(key, key ? strlen(key) : 0, text, text ? strlen(text) : 0);
}
DFT_INLINE void dft_mark_used(const char *name) {
  if (dft_is_active()) dft_mark_used_n(name, name ? strlen(name) : 0);
}
DFT_INLINE void dft_thread_name(const char *name) {
  if (dft_is_active()) dft_thread_name_n(name, name ? strlen(name) : 0);
}

/* ---- Entities: things that events use and make ---------------------------------------------------------------------- */

/* store: 0 memory, 1 GPU memory, 2 local disk, 3 parallel file system, 4 burst buffer, 5 object store, 6 database,
 * 7 network, 8 other. Returns the id, a pure function of type and key; 0 when tracing is off. */
DFT_API uint64_t dft_entity_declare_n(const char *type, size_t type_len, const char *key, size_t key_len, int32_t store,
                                      const char *uri, size_t uri_len);
/* role: 0 unknown, 1 input, 2 output, 3 intermediate, 4 parameter, 5 reference. */
DFT_API void dft_entity_type_n(const char *type, size_t type_len, int32_t role, const char *description,
                               size_t description_len);
/* relation from 16 on: 16 derived from, 17 revision of, 18 contains, 19 part of, 20 specialization of, 21 alternate of,
 * 22 depends on. Others, and ids of 0, are ignored. */
DFT_API void dft_entity_relate(int32_t relation, uint64_t subject, uint64_t object);
/* Adds an entity to an open region (0: the innermost). relation: 0 used, 1 generated, 2 invalidated, 3 updated. */
DFT_API void dft_region_relate(dft_region region, int32_t relation, uint64_t entity);

/* ---- Questions ---------------------------------------------------------------------------------------------------- */

/* Copies the value of a DFTRACER_* setting as text, cut to size and always terminated. Returns its full length; 0: there is no
 * such setting. */
DFT_API size_t dft_config_get(const char *name, char *value, size_t size);

/* One row of the table of settings. Texts live as long as the library. */
typedef struct dft_setting {
  size_t struct_size;  /* sizeof(dft_setting), set by the caller */
  const char *name;    /* of the environment variable */
  const char *initial; /* the default */
  const char *allowed;
  const char *summary;
} dft_setting;

/* Row `index`, from 0; zero when there is none. */
DFT_API int dft_config_describe(uint32_t index, dft_setting *setting);

/* Events dropped for lack of space since the start of the trace; after dft_stop, of the trace that it completed. */
DFT_API uint64_t dft_dropped(void);

#ifdef __cplusplus
}
#endif
#endif
