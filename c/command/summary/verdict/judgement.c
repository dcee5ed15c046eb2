/* judgement.c - the verdict and the findings of a job.
 * SPDX-License-Identifier: MIT */
#include "judgement.h"

#include "measuring.h"

int judgement_make(judgement *made, summary_answer *answer) {
  *made = (judgement){0};
  return costs_count(&made->costs, answer) && measures_take(&made->measures, answer, &made->costs) &&
         findings_make(&made->findings, &made->measures, &made->costs) &&
         verdict_make(&made->verdict, answer, &made->costs, &made->measures, &made->findings);
}

void judgement_free(judgement *made) {
  verdict_free(&made->verdict);
  findings_free(&made->findings);
  measures_free(&made->measures);
  costs_free(&made->costs);
}
