/* event.c - events that one call makes: instants, counters, metadata, measured and explicit-time events.
 * SPDX-License-Identifier: MIT */
#include "emit.h"
#include "site.h"
#include "stack.h"

/* Fills in label and site; zero when the category is not recorded. */
static int identify(const dft__own *own, dft__what *what, dft__label *label, const char *name, size_t name_len,
                    const char *cat, size_t cat_len) {
  uint32_t ref;
  label->name = dft__name_or_default(name, &name_len);
  label->name_len = name_len;
  label->cat = dft__name_or_default(cat, &cat_len);
  label->cat_len = cat_len;
  ref = dft__site_named(own, label->name, name_len, label->cat, cat_len);
  what->site = ref & ~DFT__SITE_MUTED;
  if (ref & DFT__SITE_MUTED) return 0;
  dft__note_annotated(own);
  return 1;
}

static void place(const dft__own *own, dft__what *what) {
  dft__place at = dft__stack_place(own);
  what->id = dft__thread_next_id(own);
  what->parent = at.parent;
  what->level = at.level;
}

void dft_instant_n(const char *name, size_t name_len, const char *cat, size_t cat_len, const dft_arg *args,
                   uint32_t count) {
  dft__own own;
  dft__what what = {.kind = DFT__KIND_COMPLETE};
  dft__label label;
  if (!dft__thread_is_recording(&own) || !identify(&own, &what, &label, name, name_len, cat, cat_len)) return;
  place(&own, &what);
  what.start = what.end = dft__clock_ticks();
  dft__emit_args(&own, &what, &label, 0, args, count);
}

void dft_counter_n(const char *name, size_t name_len, const char *cat, size_t cat_len, double value) {
  dft__own own;
  dft__what what = {.kind = DFT__KIND_COUNTER};
  dft__label label;
  dft__ready_item item;
  uint64_t bits;
  if (!dft__thread_is_recording(&own) || !identify(&own, &what, &label, name, name_len, cat, cat_len)) return;
  what.id = dft__thread_next_id(&own);
  what.start = what.end = dft__clock_ticks();
  memcpy(&bits, &value, sizeof bits);
  dft__item_number(&item, 0, label.name, label.name_len, DFT_DOUBLE, bits);
  dft__emit_items(&own, &what, &label, &item, 1);
}

void dft_metadata_n(const char *key, size_t key_len, const char *value, size_t value_len) {
  dft__own own;
  dft__ready_item items[2];
  if (!dft__thread_is_recording(&own)) return;
  dft__note_annotated(&own);
  key = dft__name_or_default(key, &key_len);
  dft__item_text(&items[0], 0, "name", 4, DFT_STRING, key, key_len);
  dft__item_text(&items[1], 0, "value", 5, DFT_STRING, value, value_len);
  dft__emit_meta(&own, "CM", items, 2);
}

void dft_record(dft_site *site, uint64_t begin_ticks, uint64_t end_ticks, const dft_arg *args, uint32_t count) {
  dft__own own;
  dft__what what = {.kind = DFT__KIND_COMPLETE, .start = begin_ticks, .end = end_ticks};
  dft__label label = {0};
  if (!site || !dft__thread_is_recording(&own)) return;
  what.site = dft__site_ref(&own, site);
  if (what.site & DFT__SITE_MUTED) return;
  if (!what.site && !identify(&own, &what, &label, site->name, site->name ? strlen(site->name) : 0, site->cat,
                              site->cat ? strlen(site->cat) : 0)) {
    return;
  }
  if (DFT__UNLIKELY(!DFT__GET(((dft__header *)own.base)->annotated)) && !dft__is_io(site->cat))
    dft__note_annotated(&own);
  if (what.end < what.start) what.end = what.start;
  place(&own, &what);
  dft__emit_args(&own, &what, &label, 0, args, count);
}

/* The level that dft_enter opened for this event, when none has taken it. */
static int take_level(const dft__own *own, dft__what *what) {
  uint32_t depth = DFT__GET(own->thread->depth);
  dft__frame *frame = &dft__frames(own)[depth ? depth - 1 : 0];
  uint32_t flags = DFT__GET(frame->flags);
  if (!depth || !(flags & DFT__FRAME_LEVEL) || flags & DFT__FRAME_TAKEN) return 0;
  DFT__SET(frame->flags, flags | DFT__FRAME_TAKEN);
  what->id = DFT__GET(frame->id);
  what->parent = DFT__GET(frame->parent);
  what->level = DFT__GET(frame->level);
  return 1;
}

void dft_log_event_n(const char *name, size_t name_len, const char *cat, size_t cat_len, uint64_t start,
                     uint64_t duration, uint32_t tid, const dft_arg *args, uint32_t count) {
  dft__own own;
  dft__what what = {.kind = DFT__KIND_TIMED, .start = start, .end = duration};
  dft__label label;
  if (!dft__thread_is_recording(&own) || !identify(&own, &what, &label, name, name_len, cat, cat_len)) return;
  if (!take_level(&own, &what)) {
    place(&own, &what);
    if (tid) {
      what.parent = 0;
      what.level = 1;
    }
  }
  dft__emit_args(&own, &what, &label, tid, args, count);
}

uint32_t dft_path(const char *path, size_t len) {
  dft__own own;
  if (!path || !len || len > DFT__NAME_MAX || !dft_is_active() || dft__thread_take(&own) != DFT__READY) return 0;
  return dft__intern_path(own.base, own.session, path, len);
}
