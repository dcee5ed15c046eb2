/* test_taking.c - what a recovery takes from a process that may be alive, and what it leaves to it.
 * SPDX-License-Identifier: MIT */
#include "session/taking.h"

#include "record/thread.h"
#include "session.h"
#include "spool/commit.h"
#include "spool/ownership.h"

static dft__spool spool, copy;

static void make(void) {
  dft__header *header;
  CHECK_INT(dft__spool_create(&spool, "spool", 1 << 20), DFT_OK);
  header = spool.header;
  strcpy(header->folder, "/folder");
  strcpy(header->stem, "trace");
  strcpy(header->base, "trace");
  strcpy(header->sink[0], "jsonl");
  header->sink_count = 1;
  header->unit_ns = 1;
  DFT__SET(header->clock.count, 1);
  dft__spool_announce(&spool);
}

static dft__chunk *take(uint32_t use) {
  dft__chunk *chunk = dft__chunk_take(&spool, DFT__CHUNK_LOG_MIN, use, 0);
  CHECK(chunk);
  return chunk;
}

static void write_record(dft__chunk *chunk, uint32_t cell) {
  dft__record *record = (dft__record *)chunk + cell;
  DFT__RELEASE(record->head, dft__head(dft__status_gen(DFT__GET(chunk->status)), DFT__KIND_COMPLETE, 1, 0));
}

/* A thread that has reserved the cells before `cell`. */
static void attach(dft__chunk *chunk, dft__chunk *state, uint32_t cell, int is_busy) {
  dft__thread *thread = (dft__thread *)((char *)state + DFT__CELL);
  DFT__SET(chunk->thread, dft__chunk_page(&spool, state));
  DFT__SET(thread->cursor, dft__cursor(dft__chunk_page(&spool, chunk), DFT__CHUNK_LOG_MIN, cell));
  DFT__SET(thread->busy, (uint32_t)is_busy);
}

static void take_all(void) {
  CHECK_INT(dft__taking_begin(&spool, &copy), DFT_OK);
  dft__taking_complete(&spool, &copy);
  dft__taking_drop(&copy);
  dft__taking_end(&spool, 1);
}

static void what_is_written_is_taken(void) {
  dft__chunk *state, *chunk;
  make();
  state = take(DFT__USE_THREAD);
  chunk = take(DFT__USE_RECORDS);
  attach(chunk, state, 3, 0);
  write_record(chunk, 1);
  write_record(chunk, 2);
  take_all();
  CHECK_UINT(DFT__GET(chunk->consumed), 3);
}

/* It was given up: a handler jumped away. */
static void a_cell_that_nobody_writes_is_passed_over(void) {
  dft__chunk *state, *chunk;
  make();
  state = take(DFT__USE_THREAD);
  chunk = take(DFT__USE_RECORDS);
  attach(chunk, state, 4, 0);
  write_record(chunk, 1);
  write_record(chunk, 3);
  take_all();
  CHECK_UINT(DFT__GET(chunk->consumed), 4);
}

/* A thread was stopped between taking a chunk and noting that it writes there. Nothing that it will write is taken. */
static void a_chunk_that_has_no_writer_yet_is_left(void) {
  dft__chunk *chunk;
  make();
  chunk = take(DFT__USE_RECORDS);
  take_all();
  CHECK_UINT(DFT__GET(chunk->consumed), 1);
}

/* Threads were stopped: one between taking a chunk, which still names the thread that had it before, and noting that it writes
 * there; another one in the middle of a record. */
static void what_stopped_threads_will_write_is_left(void) {
  dft__chunk *state, *taken, *written;
  make();
  state = take(DFT__USE_THREAD);
  taken = take(DFT__USE_RECORDS);
  written = take(DFT__USE_RECORDS);
  attach(taken, state, 1, 0);
  attach(written, state, 4, 1);
  write_record(written, 1);
  write_record(written, 3);
  take_all();
  CHECK_UINT(DFT__GET(taken->consumed), 1);
  CHECK_UINT(DFT__GET(written->consumed), 2);
}

/* The process was stopped in the middle of an append until a recovery had taken its trace: it must not commit. */
static void who_was_stopped_while_it_appended_has_lost_the_spool(void) {
  make();
  CHECK(dft__ownership_enter(&spool, 0));
  take_all();
  CHECK(!dft__ownership_keep(&spool));
  dft__ownership_leave(&spool);
  CHECK(dft__ownership_enter(&spool, 1));
  CHECK(dft__ownership_keep(&spool));
}

int main(void) {
  RUN(what_is_written_is_taken);
  RUN(a_cell_that_nobody_writes_is_passed_over);
  RUN(a_chunk_that_has_no_writer_yet_is_left);
  RUN(what_stopped_threads_will_write_is_left);
  RUN(who_was_stopped_while_it_appended_has_lost_the_spool);
  return failed_cases;
}
