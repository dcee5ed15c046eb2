/* parse.h - one line of a trace as one row. SPDX-License-Identifier: MIT */
#ifndef DFT_READER_PARSE_H
#define DFT_READER_PARSE_H

#include "columns.h"
#include "dictionary.h"

/* Keys that have a number before any trace is read, in this order from 1 on. */
#define DFT__KEY_LIST(X) X(name) X(value)
enum {
  DFT__KEY_NONE,
#define DFT__KEY_ENUM(name) DFT__KEY_##name,
  DFT__KEY_LIST(DFT__KEY_ENUM)
#undef DFT__KEY_ENUM
};

#define DFT__STRINGS DFT_DICTIONARIES /* the dictionary of what SH lines define */
#define DFT__DICTIONARIES (DFT_DICTIONARIES + 1)

typedef struct dft__parser {
  dft__cache cache[DFT_DICTIONARIES];
  dft__dictionary *dictionaries;
  dft__columns *columns;
  uint32_t want;
  uint32_t nesting;
  uint64_t unit_ns;
  char *plain;          /* room for unescaped texts: as long as the text that is parsed */
  uint32_t is_time_cut; /* counts times that were cut to 64 bits */
  /* the host of the line before, and the quote behind it */
  char last_host[32];
  uint32_t last_host_len;
  uint32_t last_host_number;
  dft_cell unwanted; /* where an argument goes that nobody asked for */
} dft__parser;

enum { DFT__LINE_ROW = 0, DFT__LINE_NOTHING = -1, DFT__LINE_NO_MEMORY = -2 }; /* above 0: a dft_problem_kind */

/* A complete event in our own order of keys, as a row that is not counted yet: returns `end`, or NULL when it is another
 * line, and then the row has to be cleared. */
const char *dft__canonical(dft__parser *parser, const char *at, const char *end);

/* Parses the line from `at` to `end`, where the line end, or padding, stands. A row is added, or nothing at all (a bracket,
 * a blank line), or the line is bad. */
int dft__parse_line(dft__parser *parser, const char *at, const char *end);

#endif
