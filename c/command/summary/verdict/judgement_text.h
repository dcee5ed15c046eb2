/* judgement_text.h - verdict, findings and rules for people. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_JUDGEMENT_TEXT_H
#define DFTRACER_JUDGEMENT_TEXT_H

#include <stdio.h>

#include "judgement.h"

void judgement_print_verdict(FILE *out, const judgement *made);
void judgement_print_findings(FILE *out, const judgement *made, uint32_t top);
/* The table of rules, with their thresholds. */
void judgement_print_rules(FILE *out);
/* How the rule judges this job. */
void judgement_explain(FILE *out, const judgement *made, const finding_rule *rule);

#endif
