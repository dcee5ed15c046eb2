/* state_file.h - a state as a file: docs/summary-state.md. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_STATE_FILE_H
#define DFTRACER_STATE_FILE_H

#include "command/trace/outfile.h"
#include "summarystate.h"

#define STATE_SUFFIX ".dfs"

/* Whether a file begins as a state does. */
int state_is(const char *path);

/* Writes a sorted state. out->error and state->is_good say whether it went well. */
void state_save(outfile *out, summary_state *state);
/* Reads a state that must be initialised. Returns NULL, or why it cannot be read; the text is valid until the next call. */
const char *state_load(summary_state *state, const char *path);

#endif
