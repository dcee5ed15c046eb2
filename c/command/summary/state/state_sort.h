/* state_sort.h - an order that depends on nothing but the content of a state. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_STATE_SORT_H
#define DFTRACER_STATE_SORT_H

#include "summarystate.h"

/* Sorts all lists. Then nothing can be added. state->is_good says whether memory sufficed. */
void state_sort(summary_state *state);

#endif
