/* parser.h - what parsing a line needs and where its row goes. Data only. SPDX-License-Identifier: MIT */
#ifndef DFT_READER_PARSER_H
#define DFT_READER_PARSER_H

#include "reader/row/columns.h"
#include "readerstate.h"

/* Keys that have a number before any trace is read, in this order from 1 on. */
#define DFT__KEY_LIST(X) X(name) X(value)
enum {
  DFT__KEY_NONE,
#define DFT__KEY_ENUM(name) DFT__KEY_##name,
  DFT__KEY_LIST(DFT__KEY_ENUM)
#undef DFT__KEY_ENUM
};

typedef struct dft__parser {
  dft__cache cache[DFT_DICTIONARIES];
  dft__dictionary *dictionaries;
  dft__columns *columns;
  uint32_t want;
  uint32_t nesting;
  uint64_t unit_ns;
  char *plain;          /* room for unescaped texts: as much as the text that is parsed */
  uint32_t is_time_cut; /* counts times that were cut */
  /* the host of the previous line, with the closing quote */
  char last_host[32];
  uint32_t last_host_len;
  uint32_t last_host_number;
  dft_cell unwanted; /* where unwanted arguments go */
} dft__parser;

#endif
