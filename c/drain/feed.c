/* feed.c - hands out the events of a batch, step by step (enum dft__batch_step).
 * SPDX-License-Identifier: MIT */
#include "feed.h"

#include "bookkeeping.h"
#include "decode.h"
#include "definition.h"
#include "ending.h"
#include "openregion.h"

/* ---- Records ------------------------------------------------------------------------------------------------------ */

/* Sorts the records of a chunk by their ends. A signal handler that recorded between the end of an event and its record came
 * first, and spans are recorded some time after their end. Records without ticks stay before the one that follows them: a lane's
 * name, for example. */
static uint32_t sort_records(dft_batch *batch, const struct dft__claimed *claimed) {
  const char *chunk = (const char *)dft__chunk_at(batch->spool, claimed->page);
  uint32_t count = 0, keyed = 0;
  for (uint32_t cell = claimed->start; cell < claimed->end && count < DFT__BATCH_RECORDS;) {
    const dft__record *record = (const dft__record *)(chunk + (size_t)cell * DFT__CELL);
    uint64_t head = DFT__ACQUIRE(record->head);
    if (dft__head_gen(head) != claimed->gen || dft__head_kind(head) < DFT__KIND_COMPLETE || !dft__head_cells(head)) {
      cell++;
      continue;
    }
    batch->records[count++] = (dft__ordered){.key = UINT64_MAX, .at = cell};
    if (dft__kind_has_ticks(dft__head_kind(head))) {
      while (keyed < count) batch->records[keyed++].key = record->end;
    }
    cell += dft__head_cells(head);
  }
  dft__order_sort(batch->records, count);
  return count;
}

/* Decodes the next record of a claimed chunk; zero at its end. */
static int next_of_chunk(dft_batch *batch, const struct dft__claimed *claimed, dft_event *event) {
  const dft__chunk *chunk = dft__chunk_at(batch->spool, claimed->page);
  uint32_t cells;
  if (!batch->cell) {
    batch->record_count = claimed->is_sorted ? 0 : sort_records(batch, claimed);
    batch->cell = batch->record_count ? 1 : claimed->start;
  }
  while (batch->record_count && batch->cell <= batch->record_count) {
    uint32_t cell = batch->records[batch->cell++ - 1].at;
    if (dft__decode_record(batch, chunk, cell, claimed->end, claimed->gen, event, &cells)) return 1;
  }
  while (!batch->record_count && batch->cell < claimed->end) {
    int is_record = dft__decode_record(batch, chunk, batch->cell, claimed->end, claimed->gen, event, &cells);
    batch->cell += cells;
    if (is_record) return 1;
  }
  return 0;
}

static int next_record(dft_batch *batch, dft_event *event) {
  if (batch->has_held) {
    if (dft__definition_of_text(batch, event)) return 1;
    batch->has_held = 0;
    *event = batch->held;
    return 1;
  }
  for (; batch->chunk < batch->chunk_count; batch->chunk++, batch->cell = 0) {
    if (!next_of_chunk(batch, &batch->chunks[batch->chunk], event)) continue;
    if (DFT__LIKELY(!batch->undefined_count)) return 1;
    batch->held = *event;
    batch->has_held = 1;
    return dft__definition_of_text(batch, event);
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
    if (is_final && !batch->is_ending) batch->final_ticks = dft__open_region_last_sign(batch);
  }
  if (batch->step == DFT__STEP_OPEN_REGIONS) {
    if (dft__open_region_next(batch, event)) return 1;
    batch->step = DFT__STEP_END;
  }
  if (batch->step == DFT__STEP_END) {
    batch->step = DFT__STEP_DONE;
    dft__ending_event(batch, event);
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

int dft__feed_is_over(const dft_batch *batch) {
  return batch->step == DFT__STEP_DONE || batch->handed >= batch->most;
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
