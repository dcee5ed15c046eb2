/* fill.h - the text of a unit: plain, or inflated member by member. SPDX-License-Identifier: MIT */
#ifndef DFT_READER_FILL_H
#define DFT_READER_FILL_H

#include "cursorstate.h"

/* Reads until there is text to parse, or until the unit has no more. 0: no memory. */
int dft__fill(dft_cursor *cursor);

#endif
