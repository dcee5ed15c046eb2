/* verdict_words.h - the sentences of a verdict. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_VERDICT_WORDS_H
#define DFTRACER_VERDICT_WORDS_H

#include "verdict.h"

/* Sets text, evidence and next. 0: no memory. */
int verdict_say(job_verdict *verdict, const summary_answer *answer, const job_costs *costs,
                const measure_list *measures, const finding_list *found);

#endif
