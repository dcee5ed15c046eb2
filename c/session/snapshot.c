/* snapshot.c - a spool as events, for readers: what recovery would write, without writing it.
 *
 * The copy is private memory, so it goes through the steps of a recovery (recover.c) as they are: batches, each with its
 * commit, until every event is handed out.
 * SPDX-License-Identifier: MIT */
#include <dftracer/spool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
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
  enum dft__life life;
  uint64_t alive_ticks; /* when it was taken, if the process is alive; else 0 */
  int is_in_batch;
  uint64_t live_bytes;
  uint32_t is_complete;
  const dft_sink *sink; /* that wrote the live output; NULL: unknown */
  void *reading;        /* the live output, as long as the sink reads it */
  char host_hash[17];
  char live_path[DFT__PATH_MAX + 512];
  dft_batch batch;
  dft__queue queue;
};

/* A lock that is free shows that the process has ended, wherever it ran. It is held here for a moment. */
static enum dft__life life_of(const char *path, const dft__identity *own) {
  dft__identity identity;
  dft__spool spool;
  enum dft__life life;
  dft_status status = dft__spool_open(&spool, path);
  if (status == DFT_EBUSY) return DFT__ALIVE; /* or it is being recovered */
  if (status != DFT_OK) return DFT__UNKNOWN;
  dft__spool_owner(&spool, &identity);
  life = dft__identity_life(&identity, own);
  if (life == DFT__UNKNOWN && dft__spool_is_let_go(&spool)) life = DFT__DEAD;
  dft__spool_close(&spool);
  return life;
}

int dft_spool_is_alive(const char *claim) {
  char path[DFT__PATH_MAX];
  dft__identity own;
  dft__identity_own(&own);
  switch (dft__pointer_follow(claim, &own, path, sizeof path)) {
    case DFT__CLAIM_ALIVE: return 1;
    case DFT__CLAIM_STALE: return 0;
    case DFT__CLAIM_SPOOL:
    case DFT__CLAIM_POINTER: break;
    default: return -1;
  }
  switch (life_of(path, &own)) {
    case DFT__ALIVE: return 1;
    case DFT__DEAD: return 0;
    default: return -1;
  }
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
static void find_live_path(dft_snapshot *snapshot, const char *claim) {
  const dft__header *header = snapshot->spool.header;
  const char *slash = strrchr(header->sink[0], '/');
  const char *file = slash ? slash + 1 : header->sink[0];
  char name[256];
  if (snapshot->sink) snprintf(name, sizeof name, "%s", snapshot->sink->name);
  else snprintf(name, sizeof name, "%.*s", (int)strcspn(file, ".:,;"), file);
  dft__tracefolder_live_beside(snapshot->live_path, sizeof snapshot->live_path, claim, header->base, 0, name);
}

/* Now, in ticks of the process; if that is before the last comparison of its clocks, then that. */
static uint64_t ticks_now(const dft__clock_map *map) {
  const uint32_t count = DFT__GET(map->count);
  const dft__knot *last = &map->knots[count && count <= DFT__KNOTS ? count - 1 : 0];
  struct timespec now;
  uint64_t ns;
  clock_gettime(CLOCK_REALTIME, &now);
  ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  if (!last->rate || ns <= last->ns) return last->ticks;
  return last->ticks + (uint64_t)(((dft__wide)(ns - last->ns) << DFT__RATE_LOG) / last->rate);
}

dft_status dft_snapshot_open(const char *claim, dft_snapshot **result) {
  char path[DFT__PATH_MAX];
  dft__identity own;
  enum dft__claim_kind kind;
  dft_snapshot *snapshot;
  dft_status status;
  *result = NULL;
  dft__identity_own(&own);
  kind = dft__pointer_follow(claim, &own, path, sizeof path);
  if (kind != DFT__CLAIM_SPOOL && kind != DFT__CLAIM_POINTER) return DFT_EFORMAT;
  snapshot = calloc(1, sizeof *snapshot);
  if (!snapshot) return DFT_ENOMEM;
  status = dft__spool_copy(&snapshot->spool, path);
  if (status != DFT_OK) {
    free(snapshot);
    return status;
  }
  snapshot->life = life_of(path, &own);
  if (snapshot->life == DFT__ALIVE) snapshot->alive_ticks = ticks_now(&snapshot->spool.header->clock);
  snapshot->live_bytes = dft__commit_current(&snapshot->spool)->bytes[0];
  snapshot->is_complete = dft__commit_current(&snapshot->spool)->complete;
  dft__hex(snapshot->host_hash, snapshot->spool.header->host_hash);
  snapshot->sink = find_sink(snapshot->spool.header->sink[0]);
  find_live_path(snapshot, claim);
  dft__commit_redo(&snapshot->spool);
  dft__recover_reset(&snapshot->spool);
  *result = snapshot;
  return DFT_OK;
}

void dft_snapshot_tell(const dft_snapshot *snapshot, dft_snapshot_facts *facts) {
  dft_snapshot_facts all = {.struct_size = facts->struct_size,
                            .is_alive = snapshot->life != DFT__DEAD,
                            .is_complete = snapshot->is_complete,
                            .unit_ns = snapshot->spool.header->unit_ns,
                            .live_bytes = snapshot->live_bytes,
                            .live_path = snapshot->live_path,
                            .host_hash = snapshot->host_hash,
                            .live_is_lines = snapshot->sink && DFT__SINK_REACHES(snapshot->sink, flags) &&
                                             (snapshot->sink->flags & DFT_SINK_LINES) != 0,
                            .is_unknown = snapshot->life == DFT__UNKNOWN};
  memcpy(facts, &all, facts->struct_size < sizeof all ? facts->struct_size : sizeof all);
}

dft_status dft_snapshot_read_live(dft_snapshot *snapshot) {
  dft_sink_target target = {.struct_size = sizeof target,
                            .path = snapshot->live_path,
                            .resume_bytes = snapshot->live_bytes,
                            .options = dft__sinkspec_options(snapshot->spool.header->sink[0])};
  if (!snapshot->live_bytes || snapshot->reading) return DFT_OK;
  if (!snapshot->sink || !DFT__SINK_HAS(snapshot->sink, read_close) || !snapshot->sink->read_open ||
      !snapshot->sink->read_next)
    return DFT_ENOSINK;
  return snapshot->sink->read_open(&target, &snapshot->reading);
}

/* The next event of the live output: 1; 0 at its end, -1 where it is damaged. */
static int next_written(dft_snapshot *snapshot, dft_event *event, size_t event_size) {
  int found = snapshot->sink->read_next(snapshot->reading, event, event_size);
  if (found > 0) return 1;
  snapshot->sink->read_close(snapshot->reading);
  snapshot->reading = NULL;
  return found;
}

static void begin_batch(dft_snapshot *snapshot) {
  uint64_t seq = dft__commit_current(&snapshot->spool)->seq + 1;
  dft__clock_copy(&snapshot->batch.clock, &snapshot->spool.header->clock);
  dft__batch_begin(&snapshot->batch, &snapshot->spool, seq,
                   DFT__BATCH_FINAL | (snapshot->life == DFT__DEAD ? DFT__BATCH_RECOVERED : 0u) |
                     (seq == 1 ? DFT__BATCH_FIRST : 0u));
  snapshot->batch.alive_ticks = snapshot->alive_ticks;
  dft__batch_claim(&snapshot->batch, &snapshot->queue, UINT64_MAX);
  dft__definition_take(&snapshot->batch);
  snapshot->is_in_batch = 1;
}

int dft_snapshot_next(dft_snapshot *snapshot, dft_event *event, size_t event_size) {
  static const uint64_t bytes[DFT__SINKS_MAX];
  dft_event whole;
  int found = snapshot->reading ? next_written(snapshot, event, event_size) : 0;
  if (found) return found;
  while (!dft__commit_current(&snapshot->spool)->complete) {
    if (!snapshot->is_in_batch) begin_batch(snapshot);
    if (dft_batch_next(&snapshot->batch, &whole, sizeof whole)) {
      if (snapshot->life != DFT__DEAD && snapshot->batch.is_done) continue; /* the end, which is not there yet */
      memcpy(event, &whole, event_size < sizeof whole ? event_size : sizeof whole);
      return 1;
    }
    if (!snapshot->batch.handed && !snapshot->batch.has_more) return 0; /* damaged: it would never end */
    dft__batch_commit(&snapshot->batch, bytes);
    dft__batch_apply(&snapshot->batch);
    snapshot->is_in_batch = 0;
  }
  return 0;
}

void dft_snapshot_close(dft_snapshot *snapshot) {
  if (!snapshot) return;
  if (snapshot->reading) snapshot->sink->read_close(snapshot->reading);
  dft__spool_close(&snapshot->spool);
  free(snapshot);
}
