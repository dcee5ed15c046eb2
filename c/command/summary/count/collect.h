/* collect.h - reads traces into states. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_COLLECT_H
#define DFTRACER_COLLECT_H

#include <dftracer/reader.h>

#include "command/cli/progress.h"
#include "command/summary/state/question.h"
#include "command/summary/state/stateparts.h"

/* Reads all traces. There are no states before. `origins`, by source: what --from and --to count from; NULL: the question has
 * neither. NULL, or why it failed. */
const char *collect_traces(state_parts *parts, dft_reader *reader, const summary_question *question,
                           const int64_t *origins, progress *shown);

#endif
