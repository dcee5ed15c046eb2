/* ending.c - how a trace ends: what it holds, what it lost, what tracing cost, and regions without a begin or an end.
 * SPDX-License-Identifier: MIT */
#include "ending.h"

#include <stdio.h>

#include "bookkeeping.h"
#include "decode.h"
#include "openregion.h"
#include "spool/clock.h"

/* What tracing cost. Of a process that did not live to write its own end, nobody knows all of it. */
static void add_costs(dft_batch *batch) {
  const dft__header *header = batch->spool->header;
  uint64_t ended = DFT__GET(header->ended_ticks);
  if (batch->flags & DFT__BATCH_RECOVERED || !ended) return;
  if (!batch->finish_ns) {
    uint64_t begun_ns = dft__epoch_ns(&batch->clock, ended);
    uint64_t now_ns = dft__epoch_ns(&batch->clock, dft__clock_idle_ticks());
    batch->finish_ns = now_ns > begun_ns ? now_ns - begun_ns : 1;
  }
  dft__add_number(batch, "finish_ns", DFT_INT, batch->finish_ns);
  dft__add_number(batch, "drain_cpu_ns", DFT_INT, DFT__GET(header->drain_cpu_ns));
  dft__add_number(batch, "assist_ns", DFT_INT, DFT__GET(header->assist_ns));
}

/* `NAME (CAT); NAME (CAT)`; what does not fit is left out. */
static void add_sites(dft_batch *batch, const char *key, const _Atomic uint32_t sites[DFT__SITES_NAMED], char *text,
                      size_t size) {
  size_t len = 0;
  for (int i = 0; i < DFT__SITES_NAMED && DFT__GET(sites[i]); i++) {
    dft_event site = {.name = {"no region", 9}, .cat = {"dftracer", 8}};
    if (DFT__GET(sites[i]) != DFT__SITE_NONE) dft__decode_site(batch, DFT__GET(sites[i]), &site);
    if (len + site.name.len + site.cat.len + sizeof ";  ()" > size) continue;
    len += (size_t)snprintf(text + len, size - len, "%s%.*s (%.*s)", len ? "; " : "", (int)site.name.len,
                            site.name.text, (int)site.cat.len, site.cat.text);
  }
  if (len) dft__add_text(batch, key, text, len);
}

/* Ends without a begin, and begins without an end. */
static void add_imbalance(dft_batch *batch) {
  const dft__header *header = batch->spool->header;
  uint64_t unmatched = DFT__GET(header->unmatched), open;
  _Atomic uint32_t sites[DFT__SITES_NAMED];
  open = dft__open_region_count(batch, sites);
  if (unmatched) dft__add_number(batch, "unmatched_ends", DFT_INT, unmatched);
  if (unmatched) add_sites(batch, "unmatched_sites", header->unmatched_sites, batch->related[0], DFT__RELATED_BYTES);
  if (open) dft__add_number(batch, "open_regions", DFT_INT, open);
  if (open) add_sites(batch, "open_sites", sites, batch->related[1], DFT__RELATED_BYTES);
}

void dft__ending_event(dft_batch *batch, dft_event *event) {
  const dft__header *header = batch->spool->header;
  uint64_t dropped = DFT__GET(header->dropped);
  uint32_t facts = DFT__GET(header->facts_used);
  dft__bookkeeping_event(batch, event, dft__bookkeeping_id(batch), "end", DFT_COMPLETE);
  event->start = dft__batch_time(batch, batch->final_ticks);
  if (header->metadata) {
    uint32_t half = facts >= DFT__FACTS_BYTES;
    uint32_t used = facts % DFT__FACTS_BYTES;
    dft__add_number(batch, "num_events", DFT_INT, batch->events_before + batch->events);
    if (facts < 2 * DFT__FACTS_BYTES) dft__decode_items(batch, header->facts[half], used, event);
    add_costs(batch);
    add_imbalance(batch);
  }
  if (dropped) {
    dft__add_number(batch, "num_dropped", DFT_INT, dropped);
    dft__add_number(batch, "dropped_first", DFT_INT, (uint64_t)dft__batch_time(batch, DFT__GET(header->dropped_first)));
    dft__add_number(batch, "dropped_last", DFT_INT, (uint64_t)dft__batch_time(batch, DFT__GET(header->dropped_last)));
  }
  if (batch->flags & DFT__BATCH_RECOVERED) dft__add_number(batch, "recovered", DFT_INT, 1);
  dft__bookkeeping_finish(batch, event);
  batch->is_done = 1;
}
