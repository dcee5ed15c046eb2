/* snapshot.c - a spool as events, for readers: what recovery would write, without writing it.
 *
 * The copy is private memory, so the steps of a recovery (recover.c) are taken on it as they are: batches, each with its
 * commit, until everything is told. SPDX-License-Identifier: MIT */
#include <dftracer/spool.h>
#include <stdio.h>
#include <stdlib.h>

#include "drain/batch.h"
#include "place.h"
#include "recover.h"
#include "spool/clock.h"
#include "spool/commit.h"
#include "spool/leftover.h"

struct dft_snapshot {
  dft__spool spool;
  int is_alive;
  int is_in_batch;
  uint64_t live_bytes;
  uint32_t is_complete;
  char host_hash[17];
  char live_path[DFT__PATH_MAX + 512];
  dft_batch batch;
};

static int is_alive(const dft__spool *spool, const dft__identity *own) {
  dft__identity identity;
  dft__spool_owner(spool, &identity);
  return dft__identity_life(&identity, own) == DFT__ALIVE;
}

/* Live files lie beside the claim; the folder may have been moved since. */
static void find_live_file(dft_snapshot *of, const char *claim) {
  const dft__header *header = of->spool.header;
  const char *slash = strrchr(claim, '/');
  const char *name = strrchr(header->sink[0], '/');
  size_t sink_len;
  name = name ? name + 1 : header->sink[0];
  sink_len = strcspn(name, ".:,;");
  snprintf(of->live_path, sizeof of->live_path, "%.*s%s.0-%.*s", slash ? (int)(slash - claim) + 1 : 0, claim,
           header->base, (int)sink_len, name);
}

dft_status dft_snapshot_open(const char *claim, dft_snapshot **result) {
  char path[DFT__PATH_MAX];
  dft__identity own;
  enum dft__claim_kind kind;
  dft_snapshot *of;
  dft_status status;
  *result = NULL;
  dft__identity_own(&own);
  kind = dft__place_follow(claim, &own, path, sizeof path);
  if (kind != DFT__CLAIM_SPOOL && kind != DFT__CLAIM_POINTER) return DFT_EFORMAT;
  of = calloc(1, sizeof *of);
  if (!of) return DFT_ENOMEM;
  status = dft__spool_copy(&of->spool, path);
  if (status != DFT_OK) {
    free(of);
    return status;
  }
  of->is_alive = is_alive(&of->spool, &own);
  of->live_bytes = dft__commit_current(&of->spool)->bytes[0];
  of->is_complete = dft__commit_current(&of->spool)->complete;
  dft__hex(of->host_hash, of->spool.header->host_hash);
  find_live_file(of, claim);
  dft__commit_redo(&of->spool);
  dft__recover_reset(&of->spool);
  *result = of;
  return DFT_OK;
}

void dft_snapshot_tell(const dft_snapshot *of, dft_snapshot_facts *facts) {
  dft_snapshot_facts all = {.struct_size = facts->struct_size,
                            .is_alive = (uint32_t)of->is_alive,
                            .is_complete = of->is_complete,
                            .unit_ns = of->spool.header->unit_ns,
                            .live_bytes = of->live_bytes,
                            .live_path = of->live_path,
                            .host_hash = of->host_hash};
  memcpy(facts, &all, facts->struct_size < sizeof all ? facts->struct_size : sizeof all);
}

static void begin_batch(dft_snapshot *of) {
  uint64_t seq = dft__commit_current(&of->spool)->seq + 1;
  dft__clock_copy(&of->batch.clock, &of->spool.header->clock);
  dft__batch_begin(&of->batch, &of->spool, seq,
                   DFT__BATCH_FINAL | (of->is_alive ? 0u : DFT__BATCH_RECOVERED) | (seq == 1 ? DFT__BATCH_FIRST : 0u));
  dft__batch_claim(&of->batch, UINT64_MAX);
  dft__batch_take_definitions(&of->batch);
  of->is_in_batch = 1;
}

int dft_snapshot_next(dft_snapshot *of, dft_event *event, size_t event_size) {
  static const uint64_t bytes[DFT__SINKS_MAX];
  dft_event whole;
  while (!dft__commit_current(&of->spool)->complete) {
    if (!of->is_in_batch) begin_batch(of);
    if (dft_batch_next(&of->batch, &whole, sizeof whole)) {
      if (of->is_alive && of->batch.is_done) continue; /* the end, which is not there yet */
      memcpy(event, &whole, event_size < sizeof whole ? event_size : sizeof whole);
      return 1;
    }
    if (!of->batch.handed && !of->batch.has_more) return 0; /* damage: it would go on for ever */
    dft__batch_commit(&of->batch, bytes);
    dft__batch_apply(&of->batch);
    of->is_in_batch = 0;
  }
  return 0;
}

void dft_snapshot_close(dft_snapshot *of) {
  if (!of) return;
  dft__spool_close(&of->spool);
  free(of);
}
