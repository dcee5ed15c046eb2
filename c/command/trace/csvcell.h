/* csvcell.h - a text as a cell of a CSV file, by RFC 4180. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_CSVCELL_H
#define DFTRACER_CSVCELL_H

#include <dftracer/reader.h>

/* The room that a cell needs at most: two quotes, an apostrophe, and escapes. */
#define CSV_CELL_ROOM(len) (6 * (len) + 3)

/* Writes the cell and returns its length. A text that a spreadsheet would take for a formula gets an apostrophe in front.
 * Characters that a terminal obeys are escaped, except for line ends and tabs, which quotes keep together. */
size_t csv_cell(char *out, dft_text text);

#endif
