/* state_merge.h - adds one state to another. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_STATE_MERGE_H
#define DFTRACER_STATE_MERGE_H

#include "summarystate.h"

/* Why the two answer different questions. NULL: they do not. */
const char *state_question_refusal(const summary_state *one, const summary_state *two);
/* Why the two, which are of one run and answer the same question, cannot be merged: their times count from another start, or
 * a trace is part of both. NULL: they can. The text is valid until the next call. */
const char *state_merge_refusal(const summary_state *one, const summary_state *two);

/* Adds all of `from`, and frees it. into->is_good says whether memory sufficed. */
void state_merge(summary_state *into, summary_state *from);

#endif
