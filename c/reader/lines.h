/* lines.h - from text to rows. SPDX-License-Identifier: MIT */
#ifndef DFT_READER_LINES_H
#define DFT_READER_LINES_H

#include "cursorstate.h"

/* Parse the text that is there, or the lines of `joint`, until the batch is full. 0: no memory. */
int dft__lines_parse(dft_cursor *cursor);
int dft__lines_parse_joint(dft_cursor *cursor);

#endif
