/* processcounts.c - what one process did.
 * SPDX-License-Identifier: MIT */
#include "processcounts.h"

#include <stdlib.h>

int process_counts_settle(process_counts *counts) {
  return spanset_settle(&counts->compute) && spanset_settle(&counts->fetch) && spanset_settle(&counts->data) &&
         spanset_settle(&counts->evaluation) && spanset_settle(&counts->starts) && spanset_settle(&counts->pauses) &&
         spanset_settle(&counts->reads) && spanset_settle(&counts->writes);
}

void process_counts_clear(process_counts *counts) {
  histogram_free(&counts->io.sizes);
  spanset_free(&counts->compute);
  spanset_free(&counts->fetch);
  spanset_free(&counts->data);
  spanset_free(&counts->evaluation);
  spanset_free(&counts->starts);
  spanset_free(&counts->pauses);
  spanset_free(&counts->reads);
  spanset_free(&counts->writes);
  comm_counts_free(&counts->comm);
  region_stats_free(&counts->regions);
  if (counts->steps) histogram_free(&counts->steps->durations);
  free(counts->steps);
  for (int i = 0; i < GRAIN_KINDS; i++) record_pile_free(&counts->grains[i]);
  pursuits_free(&counts->pursuits);
  *counts = (process_counts){0};
}
