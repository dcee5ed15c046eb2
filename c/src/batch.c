/* batch.c - a batch: events on their way from the spool to the sinks.
 *
 * Steps: the opening lines (first batch only), definitions of paths, records of the claimed chunks, and in a final batch
 * the regions that are still open and the `end`.
 * SPDX-License-Identifier: MIT */
#include "batch.h"

#include <stdio.h>

#include "clock.h"
#include "commit.h"
#include "hash.h"
#include "intern.h"

enum step { OPENING, DEFINITIONS, RECORDS, OPEN_REGIONS, END, DONE };

void dft__batch_begin(dft_batch *batch, dft__spool *spool, uint64_t seq, uint32_t flags) {
  const dft__commit *before;
  const dft__name *cwd;
  batch->spool = spool;
  batch->seq = seq;
  batch->flags = flags;
  batch->is_done = 0;
  batch->events = 0;
  batch->last_ticks = 0;
  /* A final batch is alone: the commit before it is there. */
  before = flags & DFT__BATCH_FINAL ? &spool->header->commit[(seq - 1) & 1] : NULL;
  batch->events_before = before ? before->events : 0;
  batch->is_ending = before && before->final_ticks;
  batch->final_ticks = batch->is_ending ? before->final_ticks : dft__clock_ticks();
  batch->from_page = batch->is_ending ? before->open_page : 0;
  batch->from_depth = batch->is_ending ? before->open_depth : 0;
  batch->next_id = 0;
  batch->first_id = 0;
  batch->handed = 0;
  batch->most = UINT64_MAX;
  batch->step = flags & DFT__BATCH_FIRST ? OPENING : DEFINITIONS;
  batch->line = 0;
  batch->definition = 0;
  batch->first_definition = 0;
  batch->chunk = 0;
  batch->walked = (uint64_t)batch->from_page << DFT__PAGE_LOG;
  batch->thread = NULL;
  batch->depth = 0;
  batch->chunk_count = 0;
  batch->has_more = 0;
  batch->has_held = 0;
  memset(batch->seen_paths, 0, sizeof batch->seen_paths);
  dft__hex(batch->host_hash, spool->header->host_hash);
  cwd = spool->header->metadata ? dft__name_at(spool, spool->header->cwd) : NULL;
  batch->cwd_hash = cwd ? cwd->hash : 0;
}

void dft__batch_rewind(dft_batch *batch) {
  batch->most = batch->handed;
  batch->handed = 0;
  batch->events = 0;
  batch->is_done = 0;
  batch->step = batch->flags & DFT__BATCH_FIRST ? OPENING : DEFINITIONS;
  batch->line = 0;
  batch->next_id = batch->first_id;
  batch->definition = batch->first_definition;
  batch->chunk = 0;
  batch->walked = (uint64_t)batch->from_page << DFT__PAGE_LOG;
  batch->thread = NULL;
  batch->depth = 0;
  batch->has_held = 0;
  for (uint32_t i = 0; i < batch->chunk_count; i++) batch->chunks[i].cell = batch->chunks[i].start;
  memset(batch->seen_paths, 0, sizeof batch->seen_paths);
}

/* ---- Claims ------------------------------------------------------------------------------------------------------- */

/* Whether somebody is still writing into it: a cell without a head, of a thread that is inside a call. */
static int is_unfinished(const dft__spool *spool, const dft__chunk *chunk, uint32_t gen, uint32_t end) {
  uint32_t page = DFT__GET(chunk->thread);
  const dft__thread *thread = (const dft__thread *)((const char *)dft__chunk_at(spool, page) + DFT__CELL);
  if (!page || ((uint64_t)page << DFT__PAGE_LOG) + 4096 > spool->map_bytes || !DFT__ACQUIRE(thread->busy)) return 0;
  for (uint32_t cell = DFT__GET(chunk->consumed); cell < end;) {
    uint64_t head = DFT__ACQUIRE(((const dft__record *)((const char *)chunk + (size_t)cell * DFT__CELL))->head);
    if (dft__head_gen(head) != gen || dft__head_kind(head) < DFT__KIND_COMPLETE) return 1;
    cell += dft__head_cells(head) ? dft__head_cells(head) : 1;
  }
  return 0;
}

static int is_claimable(dft_batch *batch, dft__chunk *chunk, uint32_t *gen, uint32_t *end) {
  uint64_t status = DFT__ACQUIRE(chunk->status);
  uint32_t cells = dft__cells_of(chunk->size_log);
  if (DFT__GET(chunk->use) != DFT__USE_RECORDS) return 0;
  *gen = dft__status_gen(status);
  *end = cells;
  if (dft__status_state(status) == DFT__FULL) {
    if (dft__status_end(status) < cells) *end = dft__status_end(status);
    if (!(batch->flags & DFT__BATCH_FINAL) && is_unfinished(batch->spool, chunk, *gen, *end)) return 0;
  } else if (dft__status_state(status) != DFT__OPEN || !(batch->flags & DFT__BATCH_FINAL)) {
    return 0;
  }
  return DFT__GET(chunk->consumed) >= 1 && DFT__GET(chunk->consumed) <= *end;
}

/* Chunks of many threads and of one are drained in turn, because the walk goes on where the last one ended. */
uint64_t dft__batch_claim(dft_batch *batch, uint64_t cells) {
  static _Atomic uint64_t last_offset;
  uint64_t start = batch->flags & DFT__BATCH_FINAL ? 0 : atomic_load(&last_offset);
  uint64_t offset = start;
  uint64_t claimed = 0;
  int has_turned = start == 0;
  uint32_t most = dft__commit_most(batch->spool, 0);
  while (claimed < cells) {
    dft__chunk *chunk;
    uint32_t gen, end;
    if (batch->chunk_count == most) most = dft__commit_most(batch->spool, 1);
    if (batch->chunk_count == most) break;
    chunk = dft__chunk_walk(batch->spool, &offset);
    if (!chunk) {
      if (has_turned) break;
      has_turned = 1;
      offset = 0;
      continue;
    }
    if (has_turned && start && offset > start) break;
    if (!is_claimable(batch, chunk, &gen, &end) || atomic_exchange(&chunk->claim, 1)) continue;
    if (dft__status_gen(DFT__ACQUIRE(chunk->status)) != gen) { /* gone and come again in between */
      DFT__SET(chunk->claim, 0);
      continue;
    }
    batch->chunks[batch->chunk_count++] = (struct dft__claimed){
      dft__chunk_page(batch->spool, chunk), gen, DFT__GET(chunk->consumed), DFT__GET(chunk->consumed), end};
    claimed += end - DFT__GET(chunk->consumed);
  }
  batch->has_more = batch->chunk_count == most;
  atomic_store(&last_offset, offset);
  return claimed;
}

static int is_empty(const dft_batch *batch, uint32_t i) {
  const dft__chunk *chunk = dft__chunk_at(batch->spool, batch->chunks[i].page);
  return batch->chunks[i].cell >= batch->chunks[i].end && dft__status_state(DFT__GET(chunk->status)) == DFT__FULL;
}

static uint32_t page_of(const dft_batch *batch) {
  return dft__chunk_page(batch->spool, (const dft__chunk *)((const char *)batch->thread - DFT__CELL));
}

uint32_t dft__batch_consumed(const dft_batch *batch, dft__commit *commit, dft__consumed *list) {
  uint32_t count = 0;
  commit->final_ticks = batch->is_ending || batch->thread ? batch->final_ticks : 0;
  commit->open_page = batch->thread ? page_of(batch) : batch->from_page;
  commit->open_depth = batch->thread ? batch->depth - (batch->has_held ? 1 : 0) : batch->from_depth;
  for (uint32_t i = 0; i < batch->chunk_count; i++) {
    const struct dft__claimed *claimed = &batch->chunks[i];
    if (claimed->cell == claimed->start) continue;
    if (list) list[count] = (dft__consumed){claimed->page, claimed->gen, claimed->cell};
    count++;
  }
  return count;
}

void dft__batch_apply(dft_batch *batch) {
  for (uint32_t i = 0; i < batch->chunk_count; i++) {
    dft__chunk *chunk = dft__chunk_at(batch->spool, batch->chunks[i].page);
    DFT__SET(chunk->consumed, batch->chunks[i].cell);
    if (is_empty(batch, i)) dft__chunk_give(batch->spool, chunk);
    else DFT__RELEASE(chunk->claim, 0);
  }
  batch->chunk_count = 0;
}

void dft__batch_unclaim(dft_batch *batch) {
  for (uint32_t i = 0; i < batch->chunk_count; i++) DFT__RELEASE(dft__chunk_at(batch->spool, batch->chunks[i].page)->claim, 0);
  batch->chunk_count = 0;
}

/* ---- Definitions --------------------------------------------------------------------------------------------------- */

static dft__name *path_at(const dft_batch *batch, uint32_t ref) {
  dft__name *name = (dft__name *)(uintptr_t)dft__name_at(batch->spool, ref);
  return name && name->use == DFT__NAME_PATH ? name : NULL;
}

uint64_t dft__batch_take_definitions(dft_batch *batch) {
  uint32_t ref = atomic_exchange_explicit(&batch->spool->header->pending_paths, 0, memory_order_acquire);
  uint64_t bytes = 0;
  dft__name *name;
  batch->definition = batch->first_definition = ref;
  for (; ref && (name = path_at(batch, ref)) != NULL; ref = DFT__GET(name->pending)) {
    DFT__SET(name->defined, batch->seq);
    bytes += name->len;
  }
  return bytes;
}

void dft__batch_return_definitions(dft_batch *batch) {
  uint32_t ref = batch->definition;
  dft__name *name;
  while (ref && (name = path_at(batch, ref)) != NULL) {
    uint32_t next = DFT__GET(name->pending);
    uint32_t head = DFT__GET(batch->spool->header->pending_paths);
    DFT__SET(name->defined, 0);
    do DFT__SET(name->pending, head);
    while (!atomic_compare_exchange_weak_explicit(&batch->spool->header->pending_paths, &head, ref, memory_order_release,
                                                  memory_order_relaxed));
    ref = next;
  }
  batch->definition = 0;
}

/* ---- Lines that have no record --------------------------------------------------------------------------------------- */

static uint64_t take_id(dft_batch *batch) {
  if (batch->next_id % DFT__ID_BLOCK == 0) {
    batch->next_id = atomic_fetch_add(&batch->spool->header->next_id, DFT__ID_BLOCK) + 1;
    if (!batch->first_id) batch->first_id = batch->next_id;
  }
  return batch->next_id++;
}

static void start_event(dft_batch *batch, dft_event *event, uint64_t id, const char *name, uint32_t phase) {
  uint32_t pid = batch->spool->header->pid;
  batch->value_count = 0;
  *event = (dft_event){.id = id, .parent = -1, .phase = phase, .pid = pid, .tid = pid, .name = {name, strlen(name)},
                       .cat = {"dftracer", 8}};
}

static void finish_event(dft_batch *batch, dft_event *event) {
  event->values = batch->values;
  event->value_count = batch->value_count;
}

/* A metadata line with a name and, where it has one, a value. Texts must last. */
static void metadata(dft_batch *batch, dft_event *event, uint64_t id, const char *kind, dft_text name, dft_text value) {
  start_event(batch, event, id, kind, DFT_METADATA);
  dft__add_text(batch, "name", name.text, name.len);
  if (value.len) dft__add_text(batch, "value", value.text, value.len);
  finish_event(batch, event);
}

static void named(dft_batch *batch, dft_event *event, uint64_t id, const char *kind, dft_text name) {
  metadata(batch, event, id, kind, name, (dft_text){"", 0});
}

static dft_text hash_text(dft_batch *batch, uint32_t slot, uint32_t ref) {
  const dft__name *name = dft__name_at(batch->spool, ref);
  dft__hex(batch->path_hash[slot], name ? name->hash : 0);
  return (dft_text){batch->path_hash[slot], 16};
}

static dft_text formatted(dft_batch *batch, const char *format, int32_t number) {
  int len = snprintf(batch->text, sizeof batch->text, format, number);
  return (dft_text){batch->text, len > 0 ? (size_t)len : 0};
}

/* A rank says more than the name a launcher gave the thread. */
static void main_thread_name(dft_batch *batch, dft_event *event, uint64_t id) {
  const dft__header *header = batch->spool->header;
  int32_t rank = DFT__GET(header->rank);
  dft_text name = dft__text_at(batch->spool, DFT__GET(header->main_name));
  if (rank >= 0) name = formatted(batch, "Rank %d", rank);
  else if (!name.len) name = formatted(batch, "%d", (int32_t)header->pid);
  named(batch, event, id, "thread_name", name);
}

/* Seconds since the epoch as a date. The library's own function reads time zones from files and takes locks. */
static size_t put_date(char *text, size_t size, uint64_t seconds) {
  uint64_t days = seconds / 86400;
  uint64_t second = seconds % 86400;
  /* Years begin in March here, so that the day that is not always there comes last. */
  uint64_t shifted = days + 719468;
  uint64_t era = shifted / 146097;
  uint64_t day_of_era = shifted % 146097;
  uint64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  uint64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  uint64_t month_from_march = (5 * day_of_year + 2) / 153;
  uint64_t day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
  uint64_t month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
  uint64_t year = year_of_era + era * 400 + (month <= 2);
  return (size_t)snprintf(text, size, "%04u-%02u-%02uT%02u:%02u:%02uZ", (unsigned)year, (unsigned)month, (unsigned)day,
                          (unsigned)(second / 3600), (unsigned)(second / 60 % 60), (unsigned)(second % 60));
}

static void start_line(dft_batch *batch, dft_event *event, uint64_t id) {
  const dft__header *header = batch->spool->header;
  uint64_t seconds = (header->opened_ticks + (uint64_t)header->epoch_offset_ns) / 1000000000u;
  start_event(batch, event, id, "start", DFT_COMPLETE);
  event->start = dft__time_of(header, header->opened_ticks);
  if (header->metadata) {
    dft_text command = hash_text(batch, 0, header->command);
    dft_text executable = hash_text(batch, 1, header->executable);
    dft_text cwd = hash_text(batch, 2, header->cwd);
    dft__add_text(batch, "cmd_hash", command.text, command.len);
    dft__add_text(batch, "exec_hash", executable.text, executable.len);
    dft__add_text(batch, "cwd", cwd.text, cwd.len);
    dft__add_text(batch, "version", DFT_VERSION, sizeof DFT_VERSION - 1);
    dft__add_text(batch, "date", batch->text, put_date(batch->text, sizeof batch->text, seconds));
    dft__add_number(batch, "ppid", DFT_INT, header->ppid);
  }
  finish_event(batch, event);
}

/* The opening lines in their order; those that do not apply are passed over. Zero at the end. */
static int next_opening(dft_batch *batch, dft_event *event) {
  const dft__header *header = batch->spool->header;
  const dft__spool *spool = batch->spool;
  const int32_t rank = DFT__GET(header->rank);
  for (;;) {
    uint64_t id = header->first_id + ++batch->line;
    switch (batch->line) {
      case 1:
        metadata(batch, event, id, "HH", (dft_text){header->host, strlen(header->host)}, (dft_text){batch->host_hash, 16});
        return 1;
      case 2: main_thread_name(batch, event, id); return 1;
      case 3:
        metadata(batch, event, id, "CM", (dft_text){"time_metric", 11}, (dft_text){header->unit, strlen(header->unit)});
        return 1;
      case 4:
        if (!header->metadata) break;
        metadata(batch, event, id, "FH", dft__text_at(spool, header->cwd), hash_text(batch, 0, header->cwd));
        return 1;
      case 5:
        if (!header->metadata) break;
        metadata(batch, event, id, "SH", dft__text_at(spool, header->command), hash_text(batch, 0, header->command));
        return 1;
      case 6:
        if (!header->metadata) break;
        metadata(batch, event, id, "SH", dft__text_at(spool, header->executable), hash_text(batch, 0, header->executable));
        return 1;
      case 7: start_line(batch, event, id); return 1;
      case 8:
        if (rank < 0) break;
        metadata(batch, event, id, "PR", (dft_text){"rank", 4}, formatted(batch, "%d", rank));
        return 1;
      case 9:
        if (rank < 0) break;
        named(batch, event, id, "process_name", formatted(batch, "Rank %d", rank));
        return 1;
      case 10:
        if (!header->affinity) break;
        metadata(batch, event, id, "PR", (dft_text){"core_affinity", 13}, dft__text_at(spool, header->affinity));
        return 1;
      default: return 0;
    }
  }
}

static int next_definition(dft_batch *batch, dft_event *event) {
  while (batch->definition) {
    dft__name *name = path_at(batch, batch->definition);
    if (!name) {
      batch->definition = 0;
      break;
    }
    batch->definition = DFT__GET(name->pending);
    if (DFT__GET(name->is_dead) || name->hash == batch->cwd_hash) continue;
    dft__hex(batch->path_hash[0], name->hash);
    metadata(batch, event, take_id(batch), "FH", (dft_text){name->text, name->len}, (dft_text){batch->path_hash[0], 16});
    return 1;
  }
  return 0;
}

/* Paths that came as text: their definitions go first. The event in hand waits, so its values stay untouched. */
static int next_undefined(dft_batch *batch, dft_event *event) {
  dft_text path;
  if (!batch->undefined_count) return 0;
  path = batch->undefined[--batch->undefined_count];
  for (uint32_t i = 0; i < 2; i++) batch->own_values[i] = (dft_value){.type = DFT_STRING};
  *event = (dft_event){.id = take_id(batch), .parent = -1, .phase = DFT_METADATA, .pid = batch->spool->header->pid,
                       .tid = batch->spool->header->pid, .name = {"FH", 2}, .cat = {"dftracer", 8}, .value_count = 2,
                       .values = batch->own_values};
  batch->own_values[0].key = (dft_text){"name", 4};
  batch->own_values[0].value.s = path;
  batch->own_values[1].key = (dft_text){"value", 5};
  batch->own_values[1].value.s = (dft_text){batch->text, 16};
  dft__hex(batch->text, dft__hash(path.text, path.len, 0));
  return 1;
}

/* ---- Records ------------------------------------------------------------------------------------------------------ */

static int next_record(dft_batch *batch, dft_event *event) {
  if (batch->has_held) {
    if (next_undefined(batch, event)) return 1;
    batch->has_held = 0;
    *event = batch->held;
    batch->events++;
    batch->chunks[batch->chunk].cell += batch->held_cells;
    return 1;
  }
  for (; batch->chunk < batch->chunk_count; batch->chunk++) {
    struct dft__claimed *claimed = &batch->chunks[batch->chunk];
    const dft__chunk *chunk = dft__chunk_at(batch->spool, claimed->page);
    while (claimed->cell < claimed->end) {
      uint32_t cells;
      if (!dft__decode_record(batch, chunk, claimed->cell, claimed->end, claimed->gen, event, &cells)) {
        claimed->cell++;
      } else if (DFT__LIKELY(!batch->undefined_count)) {
        claimed->cell += cells;
        return 1;
      } else {
        batch->held = *event;
        batch->held_cells = cells;
        batch->has_held = 1;
        batch->events--; /* not yet */
        return next_undefined(batch, event);
      }
    }
  }
  return 0;
}

/* ---- Open regions -------------------------------------------------------------------------------------------------- */

/* An area of a thread lies wholly in the file, or does not count. */
static uint8_t *checked_area(const dft__spool *spool, uint64_t area, uint64_t bytes) {
  uint64_t offset = dft__area_offset(area);
  return offset >= DFT__HEADER_BYTES && offset + bytes <= DFT__GET(spool->header->file_bytes) &&
             offset + bytes <= spool->map_bytes && offset % 8 == 0
           ? (uint8_t *)spool->base + offset
           : NULL;
}

static void decode_frame_args(dft_batch *batch, const dft__frame *frame, uint32_t next_args, dft_event *event) {
  uint64_t area = DFT__GET(batch->thread->args);
  uint32_t from = DFT__GET(frame->args);
  const uint8_t *args = checked_area(batch->spool, area, dft__area_room(area));
  if (args && from <= next_args && next_args <= dft__area_room(area) && from % 8 == 0) {
    dft__decode_items(batch, args + from, next_args - from, event);
  }
}

static int decode_frame(dft_batch *batch, const dft__frame *frame, uint32_t next_args, dft_event *event) {
  const dft__header *header = batch->spool->header;
  const dft__name *site = dft__name_at(batch->spool, DFT__GET(frame->site));
  uint64_t id = DFT__ACQUIRE(frame->id);
  uint64_t parent = DFT__GET(frame->parent);
  uint32_t flags = DFT__GET(frame->flags);
  if (!id || flags & (DFT__FRAME_MUTED | DFT__FRAME_LEVEL)) return 0;
  batch->value_count = batch->path_count = batch->undefined_count = 0;
  batch->lost = flags >> DFT__FRAME_LOSS_SHIFT;
  *event = (dft_event){.id = id, .parent = parent ? (int64_t)parent : -1, .start = dft__time_of(header, DFT__GET(frame->start)),
                       .level = DFT__GET(frame->level), .phase = DFT_COMPLETE, .pid = header->pid,
                       .tid = batch->thread->tid};
  if (site && site->use == DFT__NAME_SITE) {
    event->name = (dft_text){site->text, site->len};
    event->cat = dft__text_at(batch->spool, site->cat);
    event->site_index = site->index;
  }
  event->duration = dft__time_of(header, batch->final_ticks) - event->start;
  if (event->duration < 0) event->duration = 0;
  if (flags & DFT__FRAME_CROSSED) {
    event->tid = DFT__LANE_TID + 1 + (uint32_t)(atomic_fetch_add(&batch->spool->header->next_lane, 1) & 0xffff);
  }
  decode_frame_args(batch, frame, next_args, event);
  if (batch->lost) dft__add_number(batch, "args_lost", DFT_INT, batch->lost);
  dft__add_number(batch, "open", DFT_INT, 1);
  if (header->hide_tids) event->tid = header->pid;
  finish_event(batch, event);
  return 1;
}

/* The frames of one thread, the outermost first. */
static int next_frame(dft_batch *batch, dft_event *event) {
  uint32_t depth = DFT__GET(batch->thread->depth);
  uint64_t area = DFT__GET(batch->thread->frames);
  const dft__frame *frames;
  if (depth > dft__area_room(area)) depth = dft__area_room(area);
  frames = (const dft__frame *)checked_area(batch->spool, area, (uint64_t)depth * sizeof *frames);
  while (frames && batch->depth < depth) {
    const dft__frame *frame = &frames[batch->depth++];
    uint32_t next_args = batch->depth < depth ? DFT__GET(frame[1].args) : DFT__GET(batch->thread->args_used);
    if (decode_frame(batch, frame, next_args, event)) return 1;
  }
  return 0;
}

static dft__thread *next_thread(const dft__spool *spool, uint64_t *walked) {
  dft__chunk *chunk;
  while ((chunk = dft__chunk_walk(spool, walked)) != NULL) {
    if (DFT__ACQUIRE(chunk->use) == DFT__USE_THREAD && dft__status_state(DFT__ACQUIRE(chunk->status)) == DFT__OPEN) {
      return (dft__thread *)((char *)chunk + DFT__CELL);
    }
  }
  return NULL;
}

static int next_open_region(dft_batch *batch, dft_event *event) {
  for (;;) {
    if (batch->thread && next_frame(batch, event)) return 1;
    batch->thread = next_thread(batch->spool, &batch->walked);
    if (!batch->thread) return 0;
    batch->depth = page_of(batch) == batch->from_page ? batch->from_depth : 0;
  }
}

/* The same, behind the definitions of paths that came as text. */
static int next_open_event(dft_batch *batch, dft_event *event) {
  if (batch->has_held) {
    if (next_undefined(batch, event)) return 1;
    batch->has_held = 0;
    *event = batch->held;
    batch->events++;
    return 1;
  }
  if (!next_open_region(batch, event)) return 0;
  if (!batch->undefined_count) {
    batch->events++;
    return 1;
  }
  batch->held = *event;
  batch->has_held = 1;
  return next_undefined(batch, event);
}

/* Nobody knows when a dead process died; its last sign of life stands for it. */
static uint64_t last_sign(const dft_batch *batch) {
  const dft__header *header = batch->spool->header;
  uint64_t ticks = batch->last_ticks > header->opened_ticks ? batch->last_ticks : header->opened_ticks;
  uint64_t walked = 0;
  const dft__thread *thread;
  if (DFT__GET(header->dropped_last) > ticks) ticks = DFT__GET(header->dropped_last);
  if (header->commit[(batch->seq - 1) & 1].last_ticks > ticks) ticks = header->commit[(batch->seq - 1) & 1].last_ticks;
  while ((thread = next_thread(batch->spool, &walked)) != NULL) {
    uint64_t area = DFT__GET(thread->frames);
    uint32_t depth = DFT__GET(thread->depth) < dft__area_room(area) ? DFT__GET(thread->depth) : dft__area_room(area);
    const dft__frame *frames = (const dft__frame *)checked_area(batch->spool, area, (uint64_t)depth * sizeof *frames);
    for (uint32_t i = 0; frames && i < depth; i++) {
      if (DFT__GET(frames[i].id) && DFT__GET(frames[i].start) > ticks) ticks = DFT__GET(frames[i].start);
    }
  }
  return ticks;
}

/* ---- The end ------------------------------------------------------------------------------------------------------ */

static void end_line(dft_batch *batch, dft_event *event) {
  const dft__header *header = batch->spool->header;
  uint64_t dropped = DFT__GET(header->dropped);
  uint32_t facts = DFT__GET(header->facts_used);
  start_event(batch, event, take_id(batch), "end", DFT_COMPLETE);
  event->start = dft__time_of(header, batch->final_ticks);
  if (header->metadata) {
    uint32_t half = facts >= DFT__FACTS_BYTES;
    uint32_t used = facts % DFT__FACTS_BYTES;
    dft__add_number(batch, "num_events", DFT_INT, batch->events_before + batch->events);
    if (facts < 2 * DFT__FACTS_BYTES) dft__decode_items(batch, header->facts[half], used, event);
  }
  if (dropped) {
    dft__add_number(batch, "num_dropped", DFT_INT, dropped);
    dft__add_number(batch, "dropped_first", DFT_INT, (uint64_t)dft__time_of(header, DFT__GET(header->dropped_first)));
    dft__add_number(batch, "dropped_last", DFT_INT, (uint64_t)dft__time_of(header, DFT__GET(header->dropped_last)));
  }
  if (batch->flags & DFT__BATCH_RECOVERED) dft__add_number(batch, "recovered", DFT_INT, 1);
  finish_event(batch, event);
  batch->is_done = 1;
}

static int next_event(dft_batch *batch, dft_event *event) {
  int is_final = batch->flags & DFT__BATCH_FINAL && !batch->has_more;
  if (batch->step == OPENING) {
    if (next_opening(batch, event)) return 1;
    batch->step = DEFINITIONS;
  }
  if (batch->step == DEFINITIONS) {
    if (next_definition(batch, event)) return 1;
    batch->step = RECORDS;
  }
  if (batch->step == RECORDS) {
    if (next_record(batch, event)) return 1;
    batch->step = is_final ? OPEN_REGIONS : DONE;
    if (batch->flags & DFT__BATCH_RECOVERED && !batch->is_ending) batch->final_ticks = last_sign(batch);
  }
  if (batch->step == OPEN_REGIONS) {
    if (next_open_event(batch, event)) return 1;
    batch->step = END;
  }
  if (batch->step == END) {
    batch->step = DONE;
    end_line(batch, event);
    return 1;
  }
  return 0;
}

/* ---- For sinks ---------------------------------------------------------------------------------------------------- */

int dft_batch_next(dft_batch *batch, dft_event *event, size_t event_size) {
  dft_event whole;
  dft_event *into = event_size == sizeof whole ? event : &whole;
  if (batch->handed >= batch->most || !next_event(batch, into)) return 0;
  batch->handed++;
  if (into != event) memcpy(event, &whole, event_size < sizeof whole ? event_size : sizeof whole);
  return 1;
}

int dft_batch_is_first(const dft_batch *batch) {
  return (batch->flags & DFT__BATCH_FIRST) != 0;
}

int dft_batch_is_last(const dft_batch *batch) {
  return (int)batch->is_done;
}

const char *dft_batch_host_hash(const dft_batch *batch) {
  return batch->host_hash;
}

/* ---- Is there anything? -------------------------------------------------------------------------------------------- */

static int holds_event(const dft__spool *spool, const dft__chunk *chunk) {
  uint64_t status = DFT__ACQUIRE(chunk->status);
  uint32_t end = dft__cells_of(chunk->size_log);
  if (DFT__GET(chunk->use) != DFT__USE_RECORDS || dft__status_state(status) == DFT__FREE) return 0;
  for (uint32_t cell = DFT__GET(chunk->consumed); cell && cell < end; cell++) {
    const dft__record *record = (const dft__record *)((const char *)chunk + (size_t)cell * DFT__CELL);
    uint64_t head = DFT__ACQUIRE(record->head);
    dft_text name;
    if (dft__head_gen(head) != dft__status_gen(status) || dft__head_kind(head) < DFT__KIND_COMPLETE) continue;
    name = dft__text_at(spool, record->site);
    if (dft__head_kind(head) != DFT__KIND_META || name.len != 11 || memcmp(name.text, "thread_name", 11) != 0) return 1;
  }
  return 0;
}

static int holds_open_region(const dft__spool *spool, const dft__thread *thread) {
  uint64_t area = DFT__GET(thread->frames);
  uint32_t depth = DFT__GET(thread->depth) < dft__area_room(area) ? DFT__GET(thread->depth) : dft__area_room(area);
  const dft__frame *frames = (const dft__frame *)checked_area(spool, area, (uint64_t)depth * sizeof *frames);
  for (uint32_t i = 0; frames && i < depth; i++) {
    if (DFT__GET(frames[i].id) && !(DFT__GET(frames[i].flags) & (DFT__FRAME_MUTED | DFT__FRAME_LEVEL))) return 1;
  }
  return 0;
}

int dft__batch_has_events(dft__spool *spool) {
  uint64_t offset = 0;
  dft__chunk *chunk;
  dft__thread *thread;
  while ((chunk = dft__chunk_walk(spool, &offset)) != NULL) {
    if (holds_event(spool, chunk)) return 1;
  }
  offset = 0;
  while ((thread = next_thread(spool, &offset)) != NULL) {
    if (holds_open_region(spool, thread)) return 1;
  }
  return 0;
}
