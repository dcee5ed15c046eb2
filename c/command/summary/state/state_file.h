/* state_file.h - a state as a file: docs/summary-state.md. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_STATE_FILE_H
#define DFTRACER_STATE_FILE_H

#include "command/trace/outfile.h"
#include "stateparts.h"

#define STATE_SUFFIX ".dfs"

/* Whether a file begins as a state does. */
int state_is(const char *path);

/* Writes settled parts. out->error and parts->is_good say whether it went well. */
void state_save(outfile *out, state_parts *parts);
/* Reads parts; there are none before. Returns NULL, or why it cannot be read; the text is valid until the next call. */
const char *state_load(state_parts *parts, const char *path);

#endif
