/* findings.h - the rules that apply to a job, those with most time at stake first, but last those that only say that nothing is
 * known of a time. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_FINDINGS_H
#define DFTRACER_FINDINGS_H

#include "costs.h"
#include "ruletable.h"

typedef struct finding {
  const finding_rule *rule;
  double stake_ns, share;  /* of the job */
  char *evidence, *advice; /* allocated; printable */
} finding;

typedef struct finding_list {
  finding *list;
  int count;
} finding_list;

/* 0: no memory. */
int findings_make(finding_list *found, const measure_list *measures, const job_costs *costs);
void findings_free(finding_list *found);
/* The text with the values of the measures that it names (ruletable.h). Allocated; NULL: no memory. */
char *finding_fill(const char *text, const measure_list *measures);
/* critical, warning or info, by the share of the job. */
const char *severity_of(double share);

#endif
