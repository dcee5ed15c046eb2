/* location.h - where in the file a piece of text is, and what is wrong there. SPDX-License-Identifier: MIT */
#ifndef DFT_READER_LOCATION_H
#define DFT_READER_LOCATION_H

#include "cursorstate.h"

/* Where a place of the unit's text is in the file: the byte itself, or the beginning of its gzip member. */
uint64_t dft__location_in_file(const dft_cursor *cursor, uint64_t stream);
/* Reports a problem of the cursor's unit. line_in_unit: UINT64_MAX for none. Takes the lock. */
void dft__location_complain(dft_cursor *cursor, uint32_t kind, uint64_t byte, uint64_t line_in_unit, const char *detail,
                            size_t len);

#endif
