/* parse.h - one line of a trace as one row. SPDX-License-Identifier: MIT */
#ifndef DFT_READER_PARSE_H
#define DFT_READER_PARSE_H

#include "parser.h"

enum { DFT__LINE_ROW = 0, DFT__LINE_NOTHING = -1, DFT__LINE_NO_MEMORY = -2 }; /* above 0: a dft_problem_kind */

/* Parses the line from `at` to `end`, which is followed by a line end or by padding. The result is a row, or nothing (a
 * bracket, a blank line), or a problem. */
int dft__parse_line(dft__parser *parser, const char *at, const char *end);

#endif
