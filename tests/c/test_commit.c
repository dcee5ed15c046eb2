/* test_commit.c - commits: what they say is found again, and what a death kept from being done after one is done later.
 * SPDX-License-Identifier: MIT */
#include "spool/commit.h"

#include "drain/batch.h"
#include "session.h"

enum { CHUNKS = 40 };

static dft__spool spool;
static dft_batch batch;
static dft__chunk *chunks[CHUNKS];

/* A batch that has handed out the first cells of so many chunks; its process dies before it can mark them. */
static void commit_first_cells(uint32_t count) {
  const uint64_t bytes[DFT__SINKS_MAX] = {100, 200};
  CHECK_INT(dft__spool_create(&spool, "commit.spool", 8 << 20), DFT_OK);
  CHECK(dft__commit_most(&spool, count > DFT__COMMIT_FEW) >= count);
  for (uint32_t i = 0; i < count; i++) {
    chunks[i] = dft__chunk_take(&spool, DFT__CHUNK_LOG_MIN, DFT__USE_RECORDS, 0);
    CHECK(chunks[i]);
    batch.chunks[i] = (struct dft__claimed){.page = dft__chunk_page(&spool, chunks[i]),
                                            .gen = dft__status_gen(DFT__GET(chunks[i]->status)),
                                            .start = 1,
                                            .end = 2 + i};
  }
  batch.spool = &spool;
  batch.chunk_count = count;
  batch.events = 7;
  dft__batch_commit(&batch, bytes);
}

static void check_redo(uint32_t count) {
  const dft__commit *commit;
  commit_first_cells(count);
  commit = dft__commit_current(&spool);
  CHECK_UINT(commit->seq, 1);
  CHECK_UINT(commit->events, 7);
  CHECK_UINT(commit->bytes[1], 200);
  CHECK_UINT(commit->count, count);
  for (uint32_t i = 0; i < count; i++) CHECK_UINT(DFT__GET(chunks[i]->consumed), 1);
  dft__commit_redo(&spool);
  for (uint32_t i = 0; i < count; i++) CHECK_UINT(DFT__GET(chunks[i]->consumed), 2 + i);
}

static void a_few_chunks_are_marked_later(void) {
  check_redo(DFT__COMMIT_FEW);
}

static void many_chunks_are_marked_later(void) {
  check_redo(CHUNKS);
}

/* It was marked, given back and taken again before the death: what it holds now is not written yet. */
static void a_chunk_that_is_used_again_is_left_alone(void) {
  commit_first_cells(2);
  dft__chunk_give(&spool, chunks[0]);
  CHECK(dft__chunk_take(&spool, DFT__CHUNK_LOG_MIN, DFT__USE_RECORDS, 0) == chunks[0]);
  dft__commit_redo(&spool);
  CHECK_UINT(DFT__GET(chunks[0]->consumed), 1);
  CHECK_UINT(DFT__GET(chunks[1]->consumed), 3);
}

/* After a crash of the node. */
static void a_damaged_commit_gives_way_to_the_one_before(void) {
  const uint64_t bytes[DFT__SINKS_MAX] = {300};
  commit_first_cells(2);
  dft__batch_commit(&batch, bytes);
  CHECK_UINT(dft__commit_current(&spool)->seq, 2);
  spool.header->commit[0].bytes[0]++;
  CHECK_UINT(dft__commit_current(&spool)->seq, 1);
  CHECK_UINT(dft__commit_current(&spool)->bytes[0], 100);
}

static void lists_outside_of_the_file_are_made_anew(void) {
  commit_first_cells(CHUNKS);
  DFT__SET(spool.header->lists, UINT32_MAX);
  CHECK_UINT(dft__commit_current(&spool)->seq, 0);
  CHECK_UINT(dft__commit_most(&spool, 0), DFT__COMMIT_FEW);
  CHECK_UINT(dft__commit_most(&spool, 1), DFT__COMMIT_CHUNKS);
}

int main(void) {
  RUN(a_few_chunks_are_marked_later);
  RUN(many_chunks_are_marked_later);
  RUN(a_chunk_that_is_used_again_is_left_alone);
  RUN(a_damaged_commit_gives_way_to_the_one_before);
  RUN(lists_outside_of_the_file_are_made_anew);
  return failed_cases;
}
