/* canonical.h - lines in our own order of keys. SPDX-License-Identifier: MIT */
#ifndef DFT_READER_CANONICAL_H
#define DFT_READER_CANONICAL_H

#include "parser.h"

/* Parses a complete event in our own order of keys into a row that is not counted yet. Returns `end`; or NULL when it is
 * another line, and then the caller has to clear the row. */
const char *dft__canonical(dft__parser *parser, const char *at, const char *end);

#endif
