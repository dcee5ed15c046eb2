/* ends.h - the two ends of a unit: lines that begin in one unit and end in another. SPDX-License-Identifier: MIT */
#ifndef DFT_READER_ENDS_H
#define DFT_READER_ENDS_H

#include "cursorstate.h"

enum dft__head {
  DFT__HEAD_NO_MEMORY,
  DFT__HEAD_LEFT,     /* for the unit before: its text is passed over */
  DFT__HEAD_COMPLETE, /* it is a line of its own, still to be parsed */
  DFT__HEAD_JOINED,   /* it is in `front`, together with what the unit before left */
};

/* The text before the unit's first line end, which is at `end`. For JOINED, *byte is where the line begins in the file. */
enum dft__head dft__ends_head(dft_cursor *cursor, const char *end, uint64_t *byte);
/* All is parsed but the unit's last line, and lines that other units left at its ends: they go to `joint`. 0: no memory. */
int dft__ends_finish(dft_cursor *cursor);
/* Adds what the unit held to the counts of its source. */
void dft__ends_close(dft_cursor *cursor);

#endif
