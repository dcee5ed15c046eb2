/* unpublished.h - what a process has not published yet, as one unit. SPDX-License-Identifier: MIT */
#ifndef DFT_READER_UNPUBLISHED_H
#define DFT_READER_UNPUBLISHED_H

#include "readerstate.h"

/* Opens the live file and a snapshot of the spool. 0: it cannot be read, and a problem says why. The caller holds the
 * lock. */
int dft__spool_take(dft_reader *reader, uint32_t index, dft__unit *unit);
/* Writes lines of the live output and then of the snapshot, as long as there is room. Sets *is_over after the last line, and
 * *is_damaged where the live output could not be read to its end. Returns the bytes written. */
size_t dft__spool_lines(dft__unit *unit, char *out, size_t room, int *is_over, int *is_damaged);

#endif
