/* call.c - one intercepted call: whether it is recorded, and how it becomes an event.
 * SPDX-License-Identifier: MIT */
#include "call.h"

#include <string.h>

#include "base/aside.h"
#include "base/config.h"
#include "base/signals.h"
#include "record/emit.h"
#include "record/site.h"
#include "record/stack.h"
#include "session/session.h"
#include "spool/intern.h"

/* ---- Names of arguments ------------------------------------------------------------------------------------------- */

enum item {
#define ITEM(id, name, type) ITEM_##id,
#include "calls.inc"
};
static dft_key keys[] = {
#define ITEM(id, name, type) DFT_KEY(name),
#include "calls.inc"
};
static const uint8_t types[] = {
#define ITEM(id, name, type) type,
#include "calls.inc"
};

/* ---- The calls ---------------------------------------------------------------------------------------------------- */

#define ITEMS_MOST 4
#define ITEMS_A0 \
  0, 1, {        \
    0            \
  }
#define ITEMS_A1(a)                  \
  1, ITEM_##a != ITEM_access_mode, { \
    ITEM_##a                         \
  }
#define ITEMS_A2(a, b) \
  2, 1, {              \
    ITEM_##a, ITEM_##b \
  }
#define ITEMS_A3(a, b, c)        \
  3, 0, {                        \
    ITEM_##a, ITEM_##b, ITEM_##c \
  }
#define ITEMS_A4(a, b, c, d)               \
  4, 0, {                                  \
    ITEM_##a, ITEM_##b, ITEM_##c, ITEM_##d \
  }

static struct row {
  dft_site site;
  uint8_t count;
  uint8_t is_quick; /* its items are numbers that fit into a record of two cells */
  uint8_t items[ITEMS_MOST];
} rows[] = {
#define CALL(cat, action, type, name, params, args, subject, result, items) {DFT_SITE(#name, #cat), ITEMS_##items},
#define SPECIAL(cat, action, name, items) {DFT_SITE(#name, #cat), ITEMS_##items},
#include "calls.inc"
};

static int is_muted(const struct row *row) {
  return dft__config_number(row->site.cat[0] == 'P' ? DFT__DISABLE_POSIX : DFT__DISABLE_STDIO) != 0;
}

/* ---- Recording ---------------------------------------------------------------------------------------------------- */

/* The outcome of a call: what its event contains besides the paths. */
typedef struct result {
  int64_t ret;
  int error;
  const int64_t *values;
} result;

static uint32_t key_ref(const dft__own *own, enum item key) {
  uint64_t cache = __atomic_load_n(&keys[key].cache, __ATOMIC_RELAXED);
  uint32_t ref;
  if (DFT__LIKELY((uint32_t)(cache >> 32) == (uint32_t)own->session)) return (uint32_t)cache;
  ref = dft__key_ref(keys[key].name, strlen(keys[key].name));
  __atomic_store_n(&keys[key].cache, own->session << 32 | ref, __ATOMIC_RELAXED);
  return ref;
}

/* Writes one item of 16 bytes, unless its key could not be registered. A short text ends at its first zero. */
static inline uint64_t *put(uint64_t *out, const dft__own *own, enum item key, uint64_t value, int *has_names) {
  uint32_t ref = key_ref(own, key);
  uint32_t len = 8;
  if (DFT__UNLIKELY(!ref)) {
    *has_names = 0;
    return out;
  }
  if (DFT__UNLIKELY(types[key] == DFT_STRING)) {
    char text[8];
    memcpy(text, &value, sizeof text);
    len = (uint32_t)strnlen(text, sizeof text);
    if (!len) return out;
  }
  out[0] = ref | (uint64_t)dft__item_info(types[key], 0, len) << 32;
  out[1] = value;
  return out + 2;
}

/* The parent and level of an event that begins now. */
static inline dft__place place_now(const dft__own *own) {
  const dft__own slow = *own; /* a copy, so that the caller's stays in registers */
  return DFT__LIKELY(!DFT__GET(own->thread->depth)) ? (dft__place){0, 1} : dft__stack_place(&slow);
}

/* Zero when the call is not recorded. Its site is 0 when there was no room for it among the names. */
static int identify(const dft__own *own, enum dft__call call, dft__what *what) {
  dft__place at;
  what->site = dft__site_ref(own, &rows[call].site);
  if (DFT__UNLIKELY(what->site & DFT__SITE_MUTED)) return 0;
  at = place_now(own);
  what->id = dft__thread_next_id(own);
  what->parent = at.parent;
  what->level = at.level;
  return 1;
}

/* A cached reference without its session, which is in the upper half: 1 to INT32_MAX if it is of this session and not
 * muted. */
static inline uint64_t cached(const uint64_t *cache, uint64_t session) {
  return __atomic_load_n(cache, __ATOMIC_RELAXED) ^ session << 32;
}

#define ITEM_HEAD(ref, type) ((ref) | (uint64_t)dft__item_info(type, 0, 8) << 32)

/* Records most calls: one file, no error, at most two values, and all names known. Otherwise returns 0 and records
 * nothing. A category that is switched off never gets names. */
static inline __attribute__((always_inline)) int emit_quick(const dft__own *own, const struct row *row,
                                                            const dft__io *io, uint32_t file, int64_t ret,
                                                            const int64_t *values) {
  uint64_t site = cached(&row->site.cache, own->session);
  uint64_t fhash = cached(&keys[ITEM_fhash].cache, own->session);
  uint64_t returned = cached(&keys[ITEM_ret].cache, own->session);
  uint64_t first = row->count > 0 ? cached(&keys[row->items[0]].cache, own->session) : 1;
  uint64_t second = row->count > 1 ? cached(&keys[row->items[1]].cache, own->session) : 1;
  dft__record *record;
  dft__further *further;
  dft__place at;
  uint64_t id, *out;
  uint32_t gen, busy;
  if (((site - 1) | (fhash - 1) | (returned - 1) | (first - 1) | (second - 1)) >> 31 || !row->is_quick) return 0;
  at = place_now(own);
  id = dft__thread_next_id(own);
  busy = dft__busy_begin(own->thread);
  record = dft__reserve(own, 2, &gen);
  if (DFT__LIKELY(record != NULL)) {
    dft__what what = {
      .start = io->start, .end = io->end, .id = id, .parent = at.parent, .site = (uint32_t)site, .level = at.level};
    const uint64_t path[2] = {ITEM_HEAD(fhash, DFT_PATH), file};
    dft__record_fill(record, &what);
    memcpy(record->args, path, sizeof path);
    further = (dft__further *)(record + 1);
    out = (uint64_t *)(void *)further->args;
    if (row->count > 0) *out++ = ITEM_HEAD(first, DFT_INT), *out++ = (uint64_t)values[0];
    if (row->count > 1) *out++ = ITEM_HEAD(second, DFT_INT), *out++ = (uint64_t)values[1];
    out[0] = ITEM_HEAD(returned, DFT_INT);
    out[1] = (uint64_t)ret;
    out[2] = 0;
    DFT__SET(further->head, dft__head(gen, DFT__KIND_FURTHER, 1, 0));
    dft__record_publish(record, gen, DFT__KIND_COMPLETE, 2, 0);
  }
  dft__busy_end(own->thread, busy);
  return 1;
}

/* There was no room for a path among the names, or for the call's own: the event contains the text. */
typedef struct text_event {
  const dft__own *own;
  enum dft__call call;
  const dft__io *io;
  const result *got;
} text_event;

static void emit_texts(void *event_in_hand) {
  const text_event *event = event_in_hand;
  const dft__own *own = event->own;
  enum dft__call call = event->call;
  const dft__io *io = event->io;
  const result *got = event->got;
  const struct row *row = &rows[call];
  char texts[2][DFT__IO_PATH];
  dft_arg args[ITEMS_MOST + 4];
  uint32_t count = 0;
  dft__label label = {row->site.name, strlen(row->site.name), row->site.cat, strlen(row->site.cat)};
  dft__what what = {.kind = DFT__KIND_COMPLETE, .start = io->start, .end = io->end};
  if (!identify(own, call, &what)) return;
  for (uint32_t i = 0; i < io->subjects; i++) {
    const dft__subject *subject = &io->subject[i];
    size_t len = subject->path && subject->path[0]
                   ? dft__path_absolute(subject->fd, subject->path, texts[i], sizeof texts[i])
                   : dft__fd_text(subject->fd, texts[i], sizeof texts[i]);
    if (!len) continue;
    args[count] = (dft_arg){.key = &keys[i ? ITEM_second : ITEM_fhash], .type = DFT_PATH};
    args[count].value.s.text = texts[i];
    args[count++].value.s.len = len;
  }
  for (uint32_t i = 0; i < row->count; i++) {
    const char *text = (const char *)&got->values[i];
    args[count] = (dft_arg){.key = &keys[row->items[i]], .type = types[row->items[i]], .value.i = got->values[i]};
    if (args[count].type == DFT_STRING) {
      args[count].value.s.text = text;
      args[count].value.s.len = strnlen(text, sizeof got->values[i]);
    }
    count++;
  }
  args[count++] = (dft_arg){.key = &keys[ITEM_ret], .type = DFT_INT, .value.i = got->ret};
  if (got->error) args[count++] = (dft_arg){.key = &keys[ITEM_error], .type = DFT_INT, .value.i = got->error};
  dft__emit_args(own, &what, &label, 0, args, count);
}

static void emit_texts_aside(const dft__own *own, enum dft__call call, const dft__io *io, const result *got) {
  text_event event = {own, call, io, got};
  uint64_t before = dft__signals_block();
  dft__aside_run(emit_texts, &event);
  dft__signals_restore(before);
}

/* Every other call: paths by their references, unless one of its own names has none. */
static void emit(const dft__own *own, enum dft__call call, const dft__io *io, const uint32_t refs[2],
                 const result *got) {
  const struct row *row = &rows[call];
  uint64_t items[2 * (ITEMS_MOST + 4)];
  uint64_t *out = items;
  dft__what what = {.kind = DFT__KIND_COMPLETE, .start = io->start, .end = io->end};
  uint32_t len;
  int has_names = 1;
  if (!identify(own, call, &what)) return;
  if (refs[0]) out = put(out, own, ITEM_fhash, refs[0], &has_names);
  if (refs[1]) out = put(out, own, ITEM_second, refs[1], &has_names);
  for (uint32_t i = 0; i < row->count; i++) out = put(out, own, row->items[i], (uint64_t)got->values[i], &has_names);
  out = put(out, own, ITEM_ret, (uint64_t)got->ret, &has_names);
  if (got->error) out = put(out, own, ITEM_error, (uint64_t)got->error, &has_names);
  if (DFT__UNLIKELY(!what.site || !has_names)) {
    emit_texts_aside(own, call, io, got);
    return;
  }
  len = (uint32_t)((char *)out - (char *)items);
  if (DFT__LIKELY(len <= DFT__SMALL_ARGS)) dft__emit_small(own, &what, (const uint8_t *)items, len);
  else dft__emit(own, &what, (const uint8_t *)items, len);
}

/* The entry of a path, or of the file behind a descriptor. */
static dft__fd_entry entry_judged(enum dft__wanted wanted, const char *text, size_t len) {
  dft__own own;
  uint32_t ref;
  if (wanted != DFT__WANTED) return wanted == DFT__WANTED_BELOW ? DFT__FD_OUT : DFT__FD_OUT_BELOW;
  if (dft__thread_take(&own) == DFT__OFF) return DFT__FD_IN;
  ref = dft__intern_path(own.base, own.session, text, len > DFT__NAME_MAX ? DFT__NAME_MAX : len);
  return ref ? dft__fd_entry_in(own.session, ref) : DFT__FD_IN;
}

static dft__fd_entry entry_of(const char *text, size_t len) {
  return entry_judged(len ? dft__filter_judge(text, len) : DFT__WANTED_NOT, text, len);
}

static int is_in(dft__fd_entry entry) {
  return entry >= DFT__FD_IN;
}

static void judge(const char *text, size_t len, void *entry) {
  *(dft__fd_entry *)entry = entry_of(text, len);
}

__attribute__((noinline)) static dft__fd_entry entry_of_path(int dir, const char *path) {
  dft__fd_entry entry;
  if (dir == DFT__AS_IT_IS) return entry_of(path, strnlen(path, DFT__IO_PATH));
  if (dir != AT_FDCWD && path[0] != '/') {
    const _Atomic dft__fd_entry *slot = dft__fd_slot(dir);
    if (slot && DFT__GET(*slot) == DFT__FD_OUT_BELOW && !memmem(path, strnlen(path, PATH_MAX), "..", 2))
      return DFT__FD_OUT_BELOW;
  }
  dft__path_with(dir, path, judge, &entry);
  return entry;
}

__attribute__((noinline)) static dft__fd_entry entry_of_fd(int fd) {
  dft__fd_entry entry;
  dft__path_with(fd, NULL, judge, &entry);
  return entry;
}

int dft__io_fd_slow(dft__subject *subject, int fd) {
  _Atomic dft__fd_entry *slot = dft__fd_slot(fd);
  dft__fd_entry seen, known;
  int saved = errno;
  subject->path = NULL;
  subject->fd = fd;
  if (fd < 0) return 0;
  seen = slot ? DFT__GET(*slot) : DFT__FD_UNKNOWN;
  if (seen == DFT__FD_OUT || seen == DFT__FD_OUT_BELOW) return 0;
  subject->entry = seen;
  if (is_in(seen) && (uint32_t)(seen >> 32) == (uint32_t)dft__self.session) return 1;
  known = entry_of_fd(fd);
  /* A file that was recorded once stays recorded, whatever its name is now. */
  if (!is_in(known) && is_in(seen)) known = DFT__FD_IN;
  if (slot && atomic_compare_exchange_strong(slot, &seen, known) && known >= DFT__FD_FIRST_REF) dft__fd_reach(fd);
  subject->entry = known;
  errno = saved;
  return is_in(known);
}

int dft__io_two_fds(dft__io *io, int from, int to) {
  int is_wanted;
  if (!dft__io_is_on()) return 0;
  io->subjects = 2;
  is_wanted = dft__io_fd_slow(&io->subject[0], from);
  return dft__io_fd_slow(&io->subject[1], to) || is_wanted;
}

static void measure(const char *text, size_t len, void *bytes) {
  (void)text;
  *(size_t *)bytes = len + 16; /* while it is read, it may end in " (deleted)" */
}

size_t dft__io_text_bytes(const dft__io *io) {
  int saved = errno;
  size_t bytes;
  dft__path_with(io->subject[0].fd, NULL, measure, &bytes);
  errno = saved;
  return bytes;
}

void dft__io_keep_text(dft__io *io, char *text, size_t room) {
  int saved = errno;
  size_t len = dft__fd_text(io->subject[0].fd, text, room);
  text[len] = '\0';
  io->subject[0].path = text;
  io->subject[0].fd = DFT__AS_IT_IS;
  errno = saved;
}

__attribute__((noinline)) static dft__fd_entry end_slow(enum dft__call call, const dft__io *io, const result *got) {
  dft__own own;
  dft__fd_entry entries[2] = {DFT__FD_UNKNOWN, DFT__FD_UNKNOWN};
  uint32_t refs[2] = {0, 0};
  int is_kept = io->subjects == 1 && io->subject[0].fd == DFT__AS_IT_IS; /* of a file that was recorded before */
  int is_wanted = !io->subjects || is_kept, needs_text = 0;
  if (got->error == EFAULT) return DFT__FD_UNKNOWN; /* the path may be the bad pointer */
  for (uint32_t i = 0; i < io->subjects; i++) {
    const dft__subject *subject = &io->subject[i];
    if (got->error && io->subjects == 2 && subject->path && !dft__path_is_readable(subject->path))
      return DFT__FD_UNKNOWN; /* of a single path this is known by now */
    if (subject->path && subject->path[0]) entries[i] = entry_of_path(subject->fd, subject->path);
    else if (subject->path || (uint32_t)(subject->entry >> 32) != (uint32_t)dft__self.session)
      entries[i] = is_in(subject->entry) || subject->path ? entry_of_fd(subject->fd) : subject->entry;
    else entries[i] = subject->entry;
    is_wanted |= is_in(entries[i]) || (!subject->path && is_in(subject->entry));
  }
  if (!is_wanted || is_muted(&rows[call]) || dft__thread_take_event(&own) != DFT__READY) return entries[0];
  for (uint32_t i = 0; i < io->subjects; i++) {
    if ((uint32_t)(entries[i] >> 32) == (uint32_t)own.session) refs[i] = (uint32_t)entries[i];
    else needs_text = 1;
  }
  if (needs_text) emit_texts_aside(&own, call, io, got);
  else emit(&own, call, io, refs, got);
  return entries[0];
}

__attribute__((noinline)) static dft__fd_entry end_other(enum dft__call call, const dft__io *io, int64_t ret, int error,
                                                         const int64_t *values) {
  int saved = errno;
  result got = {ret, error, values};
  dft__fd_entry entry = end_slow(call, io, &got);
  errno = saved;
  return entry;
}

static inline __attribute__((always_inline)) dft__fd_entry end_known(enum dft__call call, const dft__io *io,
                                                                     int64_t ret, int error, const int64_t *values,
                                                                     dft__fd_entry entry) {
  dft__own own;
  if (DFT__LIKELY(!error && dft__own_copy(&own) && (uint32_t)(entry >> 32) == (uint32_t)own.session &&
                  emit_quick(&own, &rows[call], io, (uint32_t)entry, ret, values)))
    return entry;
  return end_other(call, io, ret, error, values);
}

static inline dft__fd_entry entry_seen(const dft__subject *subject, size_t seen) {
  if (DFT__LIKELY(seen < PATH_MAX && dft__path_is_plain(subject->path, seen))) return entry_of(subject->path, seen);
  return entry_of_path(subject->fd, subject->path);
}

dft__fd_entry dft__io_end_seen(enum dft__call call, dft__io *io, int64_t ret, int error, const int64_t *values,
                               size_t seen) {
  const dft__subject *subject = &io->subject[0];
  dft__fd_entry entry;
  int saved;
  io->end = dft__clock_ticks();
  if (DFT__UNLIKELY(!*subject->path)) return end_other(call, io, ret, error, values);
  saved = errno;
  entry = entry_seen(subject, seen);
  errno = saved;
  return is_in(entry) ? end_known(call, io, ret, error, values, entry) : entry;
}

dft__fd_entry dft__io_end_unread(enum dft__call call, dft__io *io, int64_t ret, int error, const int64_t *values) {
  dft__subject *subject = &io->subject[0];
  size_t seen;
  if (!subject->path) { /* the call works on the descriptor itself, or has failed */
    dft__io_fd_slow(subject, subject->fd);
    return dft__io_end(call, io, ret, error, values);
  }
  if (error == EFAULT || !dft__path_is_readable(subject->path)) return DFT__FD_UNKNOWN;
  seen = dft__filter_look(subject->path);
  return seen ? dft__io_end_seen(call, io, ret, error, values, seen) : DFT__FD_OUT_BELOW;
}

dft__fd_entry dft__io_end(enum dft__call call, dft__io *io, int64_t ret, int error, const int64_t *values) {
  io->end = dft__clock_ticks();
  if (DFT__UNLIKELY(io->subjects != 1 || io->subject[0].path)) return end_other(call, io, ret, error, values);
  return end_known(call, io, ret, error, values, io->subject[0].entry);
}

/* ---- exec --------------------------------------------------------------------------------------------------------- */

static void add_path(const char *text, size_t len, void *region) {
  dft_arg arg = {.key = &keys[ITEM_fhash], .type = DFT_PATH};
  if (!len) return;
  arg.value.s.text = text;
  arg.value.s.len = len;
  arg.path = dft_path(text, len);
  dft_update_arg(*(const dft_region *)region, &arg);
}

static dft_region begin_exec(enum dft__call call, const char *path) {
  dft_region region;
  if (is_muted(&rows[call])) return 0;
  region = dft_region_begin_site(&rows[call].site);
  if (region && path && dft__path_is_readable(path) && *path) dft__path_with(AT_FDCWD, path, add_path, &region);
  return region;
}

dft_region dft__io_exec_begin(enum dft__call call, const char *path) {
  dft__own own;
  return dft__io_is_on() && dft__own_copy(&own) ? begin_exec(call, path) : 0;
}

void dft__io_exec_end(enum dft__call call, const char *path, dft_region region) {
  int saved = errno;
  dft_arg arg = {.key = &keys[ITEM_ret], .type = DFT_INT, .value.i = -1};
  if (!region && (!dft__io_is_on() || !(region = begin_exec(call, path)))) return;
  dft_update_arg(region, &arg);
  arg.key = &keys[ITEM_error];
  arg.value.i = saved;
  dft_update_arg(region, &arg);
  dft_region_end_at(region);
  errno = saved;
}
