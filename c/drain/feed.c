/* feed.c - hands out the events of a batch, step by step (enum dft__batch_step).
 * SPDX-License-Identifier: MIT */
#include "feed.h"

#include "bookkeeping.h"
#include "decode.h"
#include "definition.h"
#include "openregion.h"

/* ---- Records ------------------------------------------------------------------------------------------------------ */

static int next_record(dft_batch *batch, dft_event *event) {
  if (batch->has_held) {
    if (dft__definition_of_text(batch, event)) return 1;
    batch->has_held = 0;
    *event = batch->held;
    batch->events += event->phase == DFT_COMPLETE;
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
        batch->events -= event->phase == DFT_COMPLETE; /* not yet */
        return dft__definition_of_text(batch, event);
      }
    }
  }
  return 0;
}

/* ---- Steps -------------------------------------------------------------------------------------------------------- */

static int next_event(dft_batch *batch, dft_event *event) {
  int is_final = batch->flags & DFT__BATCH_FINAL && !batch->has_more;
  if (batch->step == DFT__STEP_OPENING) {
    if (dft__bookkeeping_opening(batch, event)) return 1;
    batch->step = DFT__STEP_DEFINITIONS;
  }
  if (batch->step == DFT__STEP_DEFINITIONS) {
    if (dft__definition_next(batch, event)) return 1;
    batch->step = DFT__STEP_RECORDS;
  }
  if (batch->step == DFT__STEP_RECORDS) {
    if (next_record(batch, event)) return 1;
    batch->step = is_final ? DFT__STEP_OPEN_REGIONS : DFT__STEP_DONE;
    if (batch->flags & DFT__BATCH_RECOVERED && !batch->is_ending)
      batch->final_ticks = dft__open_region_last_sign(batch);
  }
  if (batch->step == DFT__STEP_OPEN_REGIONS) {
    if (dft__open_region_next(batch, event)) return 1;
    batch->step = DFT__STEP_END;
  }
  if (batch->step == DFT__STEP_END) {
    batch->step = DFT__STEP_DONE;
    dft__bookkeeping_end(batch, event);
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
  return batch->flags & DFT__BATCH_FIRST && !batch->piece;
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
  uint32_t end = dft__cells_of(DFT__GET(chunk->size_log));
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

int dft__feed_has_events(dft__spool *spool) {
  uint64_t offset = 0;
  dft__chunk *chunk;
  while ((chunk = dft__chunk_walk(spool, &offset)) != NULL) {
    if (holds_event(spool, chunk)) return 1;
  }
  return dft__open_region_any(spool);
}
