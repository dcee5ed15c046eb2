/* snapshot.c - a spool as events, for readers: what recovery would write, without writing it.
 *
 * The copy is private memory, so it goes through the steps of a recovery (recover.c) as they are: batches, each with its
 * commit, until every event is handed out.
 * SPDX-License-Identifier: MIT */
#include <dftracer/spool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "drain/definition.h"
#include "drain/sinkspec.h"
#include "pointer.h"
#include "recover.h"
#include "spool/clock.h"
#include "spool/commit.h"
#include "spool/leftover.h"
#include "spool/tracefolder.h"

struct dft_snapshot {
  dft__spool spool;
  int is_alive;
  int is_in_batch;
  uint64_t live_bytes;
  uint32_t is_complete;
  const dft_sink *sink; /* that wrote the live output; NULL: unknown */
  void *reading;        /* the live output, as long as the sink reads it */
  char host_hash[17];
  char live_path[DFT__PATH_MAX + 512];
  dft_batch batch;
};

static int is_alive(const dft__spool *spool, const dft__identity *own) {
  dft__identity identity;
  dft__spool_owner(spool, &identity);
  return dft__identity_life(&identity, own) == DFT__ALIVE;
}

/* The sink that wrote the live output. Reading a trace must not run code that the trace names, so a shared object is loaded only
 * if DFTRACER_SINK names it too. */
static const dft_sink *find_sink(const char *spec) {
  const char *rest = secure_getenv("DFTRACER_SINK");
  char why[512];
  if (!dft__sinkspec_is_outside(spec)) return dft__sinkspec_find(spec, why, sizeof why);
  while (rest && *rest) {
    size_t len = strcspn(rest, ",");
    if (len == strlen(spec) && memcmp(rest, spec, len) == 0) return dft__sinkspec_find(spec, why, sizeof why);
    rest += len + (rest[len] == ',');
  }
  return NULL;
}

/* Live outputs lie beside the claim; the folder may have been moved since. The name of a sink that is not known is guessed: that of
 * its file up to the first dot. */
static void find_live_path(dft_snapshot *of, const char *claim) {
  const dft__header *header = of->spool.header;
  const char *slash = strrchr(header->sink[0], '/');
  const char *file = slash ? slash + 1 : header->sink[0];
  char name[256];
  if (of->sink) snprintf(name, sizeof name, "%s", of->sink->name);
  else snprintf(name, sizeof name, "%.*s", (int)strcspn(file, ".:,;"), file);
  dft__tracefolder_live_beside(of->live_path, sizeof of->live_path, claim, header->base, 0, name);
}

dft_status dft_snapshot_open(const char *claim, dft_snapshot **result) {
  char path[DFT__PATH_MAX];
  dft__identity own;
  enum dft__claim_kind kind;
  dft_snapshot *of;
  dft_status status;
  *result = NULL;
  dft__identity_own(&own);
  kind = dft__pointer_follow(claim, &own, path, sizeof path);
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
  of->sink = find_sink(of->spool.header->sink[0]);
  find_live_path(of, claim);
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
                            .host_hash = of->host_hash,
                            .live_is_lines = of->sink && DFT__SINK_REACHES(of->sink, flags) &&
                                             (of->sink->flags & DFT_SINK_LINES) != 0};
  memcpy(facts, &all, facts->struct_size < sizeof all ? facts->struct_size : sizeof all);
}

dft_status dft_snapshot_read_live(dft_snapshot *of) {
  dft_sink_target target = {.struct_size = sizeof target,
                            .path = of->live_path,
                            .resume_bytes = of->live_bytes,
                            .options = dft__sinkspec_options(of->spool.header->sink[0])};
  if (!of->live_bytes || of->reading) return DFT_OK;
  if (!of->sink || !DFT__SINK_HAS(of->sink, read_close) || !of->sink->read_open || !of->sink->read_next)
    return DFT_ENOSINK;
  return of->sink->read_open(&target, &of->reading);
}

/* The next event of the live output: 1; 0 at its end, -1 where it is damaged. */
static int next_written(dft_snapshot *of, dft_event *event, size_t event_size) {
  int found = of->sink->read_next(of->reading, event, event_size);
  if (found > 0) return 1;
  of->sink->read_close(of->reading);
  of->reading = NULL;
  return found;
}

static void begin_batch(dft_snapshot *of) {
  uint64_t seq = dft__commit_current(&of->spool)->seq + 1;
  dft__clock_copy(&of->batch.clock, &of->spool.header->clock);
  dft__batch_begin(&of->batch, &of->spool, seq,
                   DFT__BATCH_FINAL | (of->is_alive ? 0u : DFT__BATCH_RECOVERED) | (seq == 1 ? DFT__BATCH_FIRST : 0u));
  dft__batch_claim(&of->batch, UINT64_MAX);
  dft__definition_take(&of->batch);
  of->is_in_batch = 1;
}

int dft_snapshot_next(dft_snapshot *of, dft_event *event, size_t event_size) {
  static const uint64_t bytes[DFT__SINKS_MAX];
  dft_event whole;
  int found = of->reading ? next_written(of, event, event_size) : 0;
  if (found) return found;
  while (!dft__commit_current(&of->spool)->complete) {
    if (!of->is_in_batch) begin_batch(of);
    if (dft_batch_next(&of->batch, &whole, sizeof whole)) {
      if (of->is_alive && of->batch.is_done) continue; /* the end, which is not there yet */
      memcpy(event, &whole, event_size < sizeof whole ? event_size : sizeof whole);
      return 1;
    }
    if (!of->batch.handed && !of->batch.has_more) return 0; /* damaged: it would never end */
    dft__batch_commit(&of->batch, bytes);
    dft__batch_apply(&of->batch);
    of->is_in_batch = 0;
  }
  return 0;
}

void dft_snapshot_close(dft_snapshot *of) {
  if (!of) return;
  if (of->reading) of->sink->read_close(of->reading);
  dft__spool_close(&of->spool);
  free(of);
}
