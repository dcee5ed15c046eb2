/* endcauses.h - for whom ranks wait that are done.
 *
 * At each moment, those who are not done work, or are in communication. A rank in communication may itself wait: for a message, or
 * for the one that it sends to. So a rank causes what is waited while it is the only one that works; what is waited while several
 * work, or none, has no single cause. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_ENDCAUSES_H
#define DFTRACER_ENDCAUSES_H

#include "costs.h"

/* Zero but for costs and answer: empty. */
typedef struct end_causes {
  job_costs *costs;
  const summary_answer *answer;
  int64_t first;     /* the earliest wait */
  record_pile turns; /* when ranks begin and end to do something */
  int is_good;       /* 0: no memory, or no room for the spill */
} end_causes;

void end_causes_begin(end_causes *all, job_costs *costs, const summary_answer *answer);
/* By place in the costs; times are those of the first host. The rank has waited for this part of the time from start to until. */
void end_causes_add_wait(end_causes *all, uint32_t place, int64_t start, int64_t until, double part);
void end_causes_add_life(end_causes *all, uint32_t place, int64_t first, int64_t last);
/* After the last wait and life: adds what ranks cause to their costs, and frees all. 0: no memory, or the spill cannot be read. */
int end_causes_end(end_causes *all);

#endif
