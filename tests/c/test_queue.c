/* test_queue.c - the order in which batches claim chunks, and hand out the records of one.
 * SPDX-License-Identifier: MIT */
#include "drain/queue.h"

#include "drain/batch.h"
#include "session.h"
#include "spool/commit.h"

static dft__spool spool;
static dft__queue queue;
static dft_batch batch;

static void make(void) {
  CHECK_INT(dft__spool_create(&spool, "spool", 64 << 20), DFT_OK);
  spool.header->unit_ns = 1;
  spool.header->clock.knots[0].rate = UINT64_C(1) << DFT__RATE_LOG;
  spool.header->clock.count = 1;
  dft__queue_forget(&queue);
}

static dft__chunk *take(uint32_t use) {
  dft__chunk *chunk = dft__chunk_take(&spool, DFT__CHUNK_LOG_MIN, use, 0);
  CHECK(chunk);
  return chunk;
}

static void write_record(dft__chunk *chunk, uint32_t cell, uint32_t kind, uint64_t end) {
  dft__record *record = (dft__record *)chunk + cell;
  record->end = end;
  record->id = cell;
  DFT__SET(record->head, dft__head(dft__status_gen(DFT__GET(chunk->status)), kind, 1, 0));
}

/* With one record, of the thread whose state is in that chunk. */
static dft__chunk *full_chunk(const dft__chunk *state) {
  dft__chunk *chunk = take(DFT__USE_RECORDS);
  DFT__SET(chunk->thread, state ? dft__chunk_page(&spool, state) : 0);
  write_record(chunk, 1, DFT__KIND_COMPLETE, 0);
  dft__chunk_finish(&spool, chunk, 2);
  return chunk;
}

static void claim(uint32_t flags) {
  dft__batch_begin(&batch, &spool, dft__commit_current(&spool)->seq + 1, flags);
  batch.clock = spool.header->clock;
  dft__batch_claim(&batch, &queue, UINT64_MAX);
}

static const dft__chunk *claimed(uint32_t i) {
  return dft__chunk_at(&spool, batch.chunks[i].page);
}

static void commit(void) {
  static const uint64_t bytes[DFT__SINKS_MAX];
  dft__batch_commit(&batch, bytes);
  dft__batch_apply(&batch);
}

static void chunks_come_in_the_order_in_which_they_became_full(void) {
  dft__chunk *chunks[3];
  make();
  for (int i = 0; i < 3; i++) chunks[i] = take(DFT__USE_RECORDS);
  dft__chunk_finish(&spool, chunks[2], 2);
  dft__chunk_finish(&spool, chunks[0], 2);
  claim(0);
  CHECK_UINT(batch.chunk_count, 2);
  CHECK(claimed(0) == chunks[2]);
  CHECK(claimed(1) == chunks[0]);
  commit();
  claim(0);
  CHECK_UINT(batch.chunk_count, 0);
  claim(DFT__BATCH_FINAL);
  CHECK_UINT(batch.chunk_count, 1);
  CHECK(claimed(0) == chunks[1]);
}

static void what_threads_have_not_filled_comes_last(void) {
  dft__chunk *open, *full;
  make();
  open = take(DFT__USE_RECORDS);
  full = full_chunk(NULL);
  claim(DFT__BATCH_FINAL);
  CHECK_UINT(batch.chunk_count, 2);
  CHECK(claimed(0) == full);
  CHECK(claimed(1) == open);
}

/* Of more chunks than the queue has room for. */
static void the_oldest_come_first_however_many_there_are(void) {
  enum { COUNT = 9500 };
  static dft__chunk *chunks[COUNT];
  uint64_t last = 0, found = 0;
  make();
  for (int i = 0; i < COUNT; i++) chunks[i] = take(DFT__USE_RECORDS);
  for (uint32_t i = 0; i < COUNT; i++) dft__chunk_finish(&spool, chunks[i * 7919 % COUNT], 1);
  do {
    claim(DFT__BATCH_FINAL);
    for (uint32_t i = 0; i < batch.chunk_count; i++, found++) {
      CHECK(DFT__GET(claimed(i)->order) == last + 1);
      last++;
    }
    commit();
  } while (batch.has_more);
  CHECK_UINT(found, COUNT);
}

/* A spool of 5.0 has no numbers. */
static void chunks_without_a_number_come_as_they_lie(void) {
  const dft__chunk *first, *second;
  dft__chunk *old[2];
  make();
  for (int i = 0; i < 2; i++) old[i] = take(DFT__USE_RECORDS);
  for (int i = 1; i >= 0; i--) {
    dft__chunk_finish(&spool, old[i], 2);
    DFT__SET(old[i]->order, 0);
  }
  spool.header->last_order = 0;
  claim(0);
  CHECK_UINT(batch.chunk_count, 2);
  first = claimed(0);
  second = claimed(1);
  CHECK(first < second);
}

/* It interrupted a call, and filled chunks meanwhile. */
static void a_chunk_waits_for_an_older_one_that_is_being_written(void) {
  dft__chunk *state, *others, *older, *newer;
  dft__thread *thread;
  make();
  state = take(DFT__USE_THREAD);
  thread = (dft__thread *)((char *)state + DFT__CELL);
  older = full_chunk(state);
  newer = full_chunk(state);
  others = full_chunk(NULL);
  DFT__SET(((dft__record *)older + 1)->head, 0);
  DFT__SET(thread->busy, 1);
  claim(0);
  CHECK_UINT(batch.chunk_count, 1);
  CHECK(claimed(0) == others);
  commit();
  write_record(older, 1, DFT__KIND_COMPLETE, 0);
  claim(0);
  CHECK_UINT(batch.chunk_count, 2);
  CHECK(claimed(0) == older);
  CHECK(claimed(1) == newer);
}

static void it_does_not_wait_when_room_is_short(void) {
  dft__chunk *state, *older, *newer;
  make();
  state = take(DFT__USE_THREAD);
  older = full_chunk(state);
  newer = full_chunk(state);
  DFT__SET(((dft__record *)older + 1)->head, 0);
  DFT__SET(((dft__thread *)((char *)state + DFT__CELL))->busy, 1);
  claim(DFT__BATCH_PRESSED);
  CHECK_UINT(batch.chunk_count, 1);
  CHECK(claimed(0) == newer);
}

/* And metadata stays before the event that it was recorded for. */
static void records_of_a_chunk_come_by_their_ends(void) {
  static const uint64_t expected[] = {1, 4, 3, 2, 5, 6};
  dft__chunk *chunk;
  dft_event next;
  make();
  chunk = take(DFT__USE_RECORDS);
  write_record(chunk, 1, DFT__KIND_COMPLETE, 10);
  write_record(chunk, 2, DFT__KIND_COMPLETE, 40);
  write_record(chunk, 3, DFT__KIND_COUNTER, 30);
  write_record(chunk, 4, DFT__KIND_COMPLETE, 20);
  write_record(chunk, 5, DFT__KIND_META, 0);
  write_record(chunk, 6, DFT__KIND_COMPLETE, 50);
  dft__chunk_finish(&spool, chunk, 7);
  claim(0);
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < 6; i++) {
      CHECK(dft_batch_next(&batch, &next, sizeof next));
      CHECK_UINT(next.id, expected[i]);
    }
    CHECK(!dft_batch_next(&batch, &next, sizeof next));
    dft__batch_rewind(&batch); /* for a second sink */
  }
}

int main(void) {
  RUN(chunks_come_in_the_order_in_which_they_became_full);
  RUN(what_threads_have_not_filled_comes_last);
  RUN(the_oldest_come_first_however_many_there_are);
  RUN(chunks_without_a_number_come_as_they_lie);
  RUN(a_chunk_waits_for_an_older_one_that_is_being_written);
  RUN(it_does_not_wait_when_room_is_short);
  RUN(records_of_a_chunk_come_by_their_ends);
  return failed_cases;
}
