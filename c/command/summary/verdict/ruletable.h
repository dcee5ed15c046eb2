/* ruletable.h - what is worth telling about a job: one table. Each rule looks at measures (measures.h), and weighs by the time at
 * stake. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_RULETABLE_H
#define DFTRACER_RULETABLE_H

#include "measures.h"

#define CONDITIONS_MAX 5
#define STAKE_LEAST 0.01   /* of the job: below it a rule is silent */
#define STAKE_WARNING 0.10 /* of the job: as verdicts */
#define STAKE_CRITICAL 0.20
#define COUNT_MANY 1000.0 /* a limit of so many is one of habit, and not of meaning */
#define COUNT_ENOUGH 0.1  /* of it, if the stake is critical */

/* The measure is at least, or below, the limit. */
typedef struct rule_condition {
  enum measure measure;
  char sign; /* '>': at least; '<': below; 0: no condition */
  double limit;
} rule_condition;

typedef struct finding_rule {
  const char *id, *title;
  rule_condition conditions[CONDITIONS_MAX];
  enum measure stake;
  const char *evidence; /* {NAME} is a measure; what is in [] is left out if one in it is unknown */
  const char *advice;
} finding_rule;

extern const finding_rule rules[];
extern const int rule_count;

const finding_rule *rule_find(const char *id); /* NULL: there is none */
/* It only says that nothing is known of a time. */
int rule_is_of_outside(const finding_rule *rule);
/* Whether a condition holds; 0 also if the measure is not known. */
int rule_condition_holds(const rule_condition *condition, const measure_list *measures);
/* A count of a thousand does not matter much if a fifth of the job is at stake: then a tenth of it is enough. */
int rule_condition_is_enough(const rule_condition *condition, const measure_list *measures, double stake_share);
/* The limit as people read it. Returns `out`. */
const char *rule_condition_limit(char out[MEASURE_TEXT_BYTES], const rule_condition *condition);

#endif
