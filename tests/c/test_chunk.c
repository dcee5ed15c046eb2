/* test_chunk.c - chunks of the spool: taken once, given back, taken again with a new generation; found by walking.
 * SPDX-License-Identifier: MIT */
#include "session.h"
#include "spool/chunk.h"

static dft__spool spool;

static void make(uint64_t limit) {
  CHECK_INT(dft__spool_create(&spool, "spool", limit), DFT_OK);
}

static dft__chunk *take(uint32_t log) {
  return dft__chunk_take(&spool, log, DFT__USE_RECORDS, 0);
}

static uint32_t gen_of(const dft__chunk *chunk) {
  return dft__status_gen(DFT__GET(chunk->status));
}

static void a_chunk_comes_open_and_empty(void) {
  make(1 << 20);
  for (uint32_t log = DFT__CHUNK_LOG_MIN; log <= 18; log++) {
    dft__chunk *chunk = take(log);
    CHECK(chunk);
    CHECK_INT(chunk->magic, DFT__CHUNK_MAGIC);
    CHECK_INT(chunk->size_log, log);
    CHECK_INT(chunk->use, DFT__USE_RECORDS);
    CHECK_INT(chunk->consumed, 1);
    CHECK_INT(chunk->claim, 0);
    CHECK_INT(dft__status_state(chunk->status), DFT__OPEN);
    CHECK(gen_of(chunk) != 0);
    CHECK_INT(((char *)chunk - spool.base) % 4096, 0);
    CHECK((char *)chunk - spool.base >= DFT__HEADER_BYTES);
    CHECK(dft__chunk_at(&spool, dft__chunk_page(&spool, chunk)) == chunk);
  }
}

/* Each byte of each chunk belongs to it alone. */
static void chunks_do_not_overlap(void) {
  enum { COUNT = 400 };
  static const uint32_t logs[] = {12, 14, 16, 12, 13, 17, 12, 15};
  dft__chunk *chunks[COUNT];
  make(64 << 20);
  for (int i = 0; i < COUNT; i++) {
    chunks[i] = take(logs[i % 8]);
    CHECK(chunks[i]);
    memset((char *)chunks[i] + DFT__CELL, i & 0xff, (1u << chunks[i]->size_log) - DFT__CELL);
  }
  for (int i = 0; i < COUNT; i++) {
    const char *bytes = (const char *)chunks[i];
    CHECK_INT(chunks[i]->size_log, logs[i % 8]);
    for (size_t at = DFT__CELL; at < 1u << chunks[i]->size_log; at += 61) CHECK_INT((unsigned char)bytes[at], i & 0xff);
  }
}

static void a_chunk_given_back_comes_again_anew(void) {
  dft__chunk *first, *second;
  uint32_t gen;
  make(1 << 20);
  first = take(16);
  gen = gen_of(first);
  DFT__SET(first->consumed, 77);
  DFT__SET(first->claim, 1);
  dft__chunk_give(&spool, first);
  CHECK_INT(dft__status_state(first->status), DFT__FREE);
  second = take(16);
  CHECK(second == first);
  CHECK(gen_of(second) != gen);
  CHECK_INT(second->consumed, 1);
  CHECK_INT(second->claim, 0);
}

static void a_generation_is_never_zero(void) {
  dft__chunk *chunk;
  make(1 << 20);
  chunk = take(16);
  DFT__SET(chunk->status, dft__status(0xffffff, DFT__OPEN, 0));
  dft__chunk_give(&spool, chunk);
  CHECK(take(16) == chunk);
  CHECK_INT(gen_of(chunk), 1);
}

static void the_limit_holds_for_records_only(void) {
  int count = 0;
  make(1 << 20);
  while (take(16)) count++;
  CHECK(count >= 15 && count <= 16);
  CHECK(!take(16));
  CHECK(dft__chunk_take(&spool, 16, DFT__USE_NAMES, 1));
  CHECK(!dft__chunk_take(&spool, 22, DFT__USE_RECORDS, 0));
  CHECK(dft__chunk_take(&spool, 22, DFT__USE_STACK, 1));
}

/* However much is asked for, the address space ends somewhere. */
static void everything_ends(void) {
  int count = 0;
  make(1 << 20);
  while (dft__chunk_take(&spool, 22, DFT__USE_STACK, 1)) count++;
  CHECK(count > 4 && count < 100);
  CHECK_INT(DFT__GET(spool.header->file_bytes) <= spool.map_bytes, 1);
}

/* ---- Walking ------------------------------------------------------------------------------------------------------ */

static int count_walked(uint32_t use) {
  uint64_t offset = 0;
  int count = 0;
  dft__chunk *chunk;
  while ((chunk = dft__chunk_walk(&spool, &offset)) != NULL) {
    CHECK(offset <= DFT__GET(spool.header->top));
    CHECK((char *)chunk + (1u << chunk->size_log) == spool.base + offset);
    count += chunk->use == use;
  }
  return count;
}

static void a_walk_finds_every_chunk_once(void) {
  make(16 << 20);
  CHECK_INT(count_walked(DFT__USE_THREAD), 0);
  for (int i = 0; i < 100; i++) CHECK(dft__chunk_take(&spool, 12 + (uint32_t)i % 7, DFT__USE_THREAD, 0));
  CHECK_INT(count_walked(DFT__USE_THREAD), 100);
}

/* Death between carving and the header: the bytes are zero. Small ones have their headers before they are taken. */
static void a_chunk_half_made_hides_no_other(void) {
  dft__chunk *chunks[20];
  make(16 << 20);
  for (int i = 0; i < 20; i++) chunks[i] = dft__chunk_take(&spool, i % 3 ? 16 : 12, DFT__USE_THREAD, 0);
  for (int i = 1; i < 20; i += 3) memset(chunks[i], 0, DFT__CELL);
  CHECK_INT(count_walked(DFT__USE_THREAD), 13);
}

static void a_chunk_that_makes_no_sense_is_passed_over(void) {
  static const uint32_t wrong[] = {0, 11, DFT__CHUNK_LOG_MAX + 1, 31, 32, 63, UINT32_MAX};
  dft__chunk *chunks[4];
  make(16 << 20);
  for (int i = 0; i < 4; i++) chunks[i] = dft__chunk_take(&spool, 16, DFT__USE_THREAD, 0);
  for (int i = 0; i < 4; i++) CHECK(dft__chunk_take(&spool, 22, DFT__USE_RECORDS, 1)); /* room behind it */
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    chunks[1]->size_log = wrong[i];
    CHECK_INT(count_walked(DFT__USE_THREAD), 3);
  }
}

static void a_chunk_that_reaches_beyond_the_file_is_passed_over(void) {
  dft__chunk *chunks[3];
  make(16 << 20);
  for (int i = 0; i < 3; i++) chunks[i] = dft__chunk_take(&spool, 16, DFT__USE_THREAD, 0);
  chunks[2]->size_log = DFT__CHUNK_LOG_MAX;
  CHECK_INT(count_walked(DFT__USE_THREAD), 2);
}

static void a_walk_stays_inside_whatever_the_header_says(void) {
  make(1 << 20);
  for (int i = 0; i < 5; i++) take(16);
  DFT__SET(spool.header->top, UINT64_MAX & ~UINT64_C(4095));
  CHECK_INT(count_walked(DFT__USE_RECORDS), 5);
  DFT__SET(spool.header->top, 0);
  CHECK_INT(count_walked(DFT__USE_RECORDS), 0);
}

/* ---- Threads ------------------------------------------------------------------------------------------------------ */

enum { THREADS = 8, TURNS = FEWER(30000, 4000) };
static _Atomic uint32_t owner[1 << 16]; /* by page */

static void hold(dft__chunk *chunk, uint32_t own) {
  uint32_t nobody = 0;
  CHECK(atomic_compare_exchange_strong(&owner[dft__chunk_page(&spool, chunk)], &nobody, own));
  memset((char *)chunk + DFT__CELL, (int)own, 128);
}

static void let_go(dft__chunk *chunk, uint32_t own) {
  for (int i = 0; i < 128; i++) CHECK_INT(((unsigned char *)chunk)[DFT__CELL + i], own);
  CHECK_INT(atomic_exchange(&owner[dft__chunk_page(&spool, chunk)], 0), own);
  dft__chunk_give(&spool, chunk);
}

static void *take_and_give(void *number) {
  uint32_t own = (uint32_t)(uintptr_t)number + 1, random = own;
  dft__chunk *held[8] = {NULL};
  for (int i = 0; i < TURNS; i++) {
    uint32_t slot;
    random = random * 1103515245u + 12345u;
    slot = random >> 16 & 7;
    if (held[slot]) {
      let_go(held[slot], own);
      held[slot] = NULL;
    } else if ((held[slot] = take(slot & 1 ? 12 : 14 + (slot & 2))) != NULL) {
      hold(held[slot], own);
    }
  }
  for (int i = 0; i < 8; i++) {
    if (held[i]) let_go(held[i], own);
  }
  return NULL;
}

static void no_chunk_has_two_owners(void) {
  make(64 << 20);
  on_threads(THREADS, take_and_give);
  CHECK(DFT__GET(spool.header->top) < 32 << 20); /* what was given back is used again */
}

int main(void) {
  RUN(a_chunk_comes_open_and_empty);
  RUN(chunks_do_not_overlap);
  RUN(a_chunk_given_back_comes_again_anew);
  RUN(a_generation_is_never_zero);
  RUN(the_limit_holds_for_records_only);
  RUN(everything_ends);
  RUN(a_walk_finds_every_chunk_once);
  RUN(a_chunk_half_made_hides_no_other);
  RUN(a_chunk_that_makes_no_sense_is_passed_over);
  RUN(a_chunk_that_reaches_beyond_the_file_is_passed_over);
  RUN(a_walk_stays_inside_whatever_the_header_says);
  RUN(no_chunk_has_two_owners);
  return failed_cases;
}
