/* transcript.h - writes what the workers counted into a state: numbers of the reader become texts.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TRANSCRIPT_H
#define DFTRACER_TRANSCRIPT_H

#include "analysis.h"
#include "command/summary/state/summarystate.h"

/* Moves everything into the state, which must be new. state->is_good says whether memory sufficed. */
void transcript_write(summary_state *state, analysis *shared, tally *counts);

#endif
