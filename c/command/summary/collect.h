/* collect.h - reads traces into a state. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_COLLECT_H
#define DFTRACER_COLLECT_H

#include <dftracer/reader.h>

#include "command/cli/progress.h"
#include "command/summary/state/summarystate.h"

/* Reads all traces and adds them to the state, which must be new. NULL, or why it failed. */
const char *collect_traces(summary_state *state, dft_reader *reader, const summary_question *question, progress *shown);

#endif
