/* commit.c - records what the outputs hold, atomically: two slots, written in turn, and one number that says which is valid.
 * SPDX-License-Identifier: MIT */
#include "commit.h"

#include <stddef.h>

#include "base/hash.h"

static const dft__commit no_commit;

/* The lists of both slots; NULL when there are none, or they would lie outside the file. */
static dft__consumed *long_lists(const dft__spool *spool, uint32_t page) {
  uint64_t offset = (uint64_t)page << DFT__PAGE_LOG;
  if (offset < DFT__HEADER_BYTES || offset + (1u << DFT__LISTS_LOG) > DFT__GET(spool->header->file_bytes)) return NULL;
  return (dft__consumed *)(spool->base + offset + DFT__CELL);
}

/* NULL when there is no room for it. */
dft__consumed *dft__commit_list(const dft__spool *spool, const dft__commit *commit) {
  dft__consumed *lists;
  if (commit->count <= DFT__COMMIT_FEW) return (dft__consumed *)(uintptr_t)commit->few;
  lists = long_lists(spool, DFT__GET(spool->header->lists));
  return lists ? lists + (commit->seq & 1) * DFT__COMMIT_CHUNKS : NULL;
}

uint32_t dft__commit_most(dft__spool *spool, int more) {
  uint32_t page = DFT__GET(spool->header->lists);
  if (!long_lists(spool, page) && more) {
    dft__chunk *chunk = dft__chunk_take(spool, DFT__LISTS_LOG, DFT__USE_LISTS, 1);
    if (chunk && !atomic_compare_exchange_strong(&spool->header->lists, &page, dft__chunk_page(spool, chunk))) {
      dft__chunk_give(spool, chunk);
    }
  }
  return long_lists(spool, DFT__GET(spool->header->lists)) ? DFT__COMMIT_CHUNKS : DFT__COMMIT_FEW;
}

/* After a crash of the node parts of a commit may be missing. */
static uint64_t check_of(const dft__commit *commit, const dft__consumed *list) {
  uint64_t hash = dft__hash((const char *)commit, offsetof(dft__commit, check), 1);
  return dft__hash((const char *)list, commit->count * sizeof list[0], hash);
}

const dft__commit *dft__commit_current(const dft__spool *spool) {
  uint64_t seq = DFT__ACQUIRE(spool->header->commit_seq);
  for (int back = 0; back < 2 && seq; back++, seq--) {
    const dft__commit *commit = &spool->header->commit[seq & 1];
    const dft__consumed *list = commit->count <= DFT__COMMIT_CHUNKS ? dft__commit_list(spool, commit) : NULL;
    if (list && commit->seq == seq && commit->check == check_of(commit, list)) return commit;
  }
  return &no_commit;
}

void dft__commit_redo(dft__spool *spool) {
  const dft__commit *commit;
  const dft__consumed *list;
  if (!DFT__GET(spool->header->commit_seq)) dft__commit_restart(spool); /* whoever did so may have died */
  commit = dft__commit_current(spool);
  list = commit->count ? dft__commit_list(spool, commit) : NULL;
  for (uint32_t i = 0; i < commit->count; i++) {
    uint64_t offset = (uint64_t)list[i].page << DFT__PAGE_LOG;
    dft__chunk *chunk = dft__chunk_at(spool, list[i].page);
    if (offset < DFT__HEADER_BYTES || offset + DFT__CELL > DFT__GET(spool->header->file_bytes)) continue;
    if (DFT__GET(chunk->magic) != DFT__CHUNK_MAGIC || dft__status_gen(DFT__GET(chunk->status)) != list[i].gen) continue;
    DFT__SET(chunk->consumed, list[i].cell);
  }
}

void dft__commit_restart(dft__spool *spool) {
  atomic_store(&spool->header->commit_seq, 0);
  memset(spool->header->commit, 0, sizeof spool->header->commit);
}

dft__commit *dft__commit_begin(dft__spool *spool) {
  const dft__commit *before = dft__commit_current(spool);
  dft__commit *next = &spool->header->commit[(before->seq + 1) & 1];
  memcpy(next, before, offsetof(dft__commit, check));
  next->seq++;
  return next;
}

void dft__commit_finish(dft__spool *spool, dft__commit *commit) {
  commit->check = check_of(commit, dft__commit_list(spool, commit));
  DFT__RELEASE(spool->header->commit_seq, commit->seq);
}
