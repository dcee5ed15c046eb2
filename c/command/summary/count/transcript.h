/* transcript.h - writes what the workers counted into states, one for each part: numbers of the reader become texts.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TRANSCRIPT_H
#define DFTRACER_TRANSCRIPT_H

#include "analysis.h"
#include "command/summary/state/stateparts.h"

/* Moves everything into states, of which there are none before. parts->is_good says whether memory sufficed. */
void transcript_write(state_parts *parts, analysis *shared);

#endif
