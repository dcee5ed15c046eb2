/* cursorstate.h - one thread's place in the traces. Data only. SPDX-License-Identifier: MIT */
#ifndef DFT_READER_CURSOR_STATE_H
#define DFT_READER_CURSOR_STATE_H

#include "parser.h"
#include "reader/row/buffer.h"
#include "readerstate.h"

#define DFT__INPUT_BYTES (128u << 10)
#define DFT__TEXT_BYTES (2u << 20) /* text that is gathered before it is parsed */
#define DFT__MEMBERS_KNOWN 32u

struct dft_cursor {
  dft_reader *reader;
  dft__walk *walk; /* of the source that is being read */
  dft__walk own_walk;
  uint32_t own_source; /* DFT_ALL: takes units of all sources */
  int is_again;        /* its source was read before: nothing is counted twice */
  dft__unit unit;
  int has_unit;

  /* Input: a window of the file. */
  uint8_t *input;
  size_t input_at, input_len;
  uint64_t input_offset; /* in the file, of input[input_at] */
  void *fast_state;
  void *zlib_state;
  int is_in_member;
  int is_live_gzip;      /* of a spool: whether its live file is compressed */
  uint64_t member;       /* where it begins */
  uint64_t member_bytes; /* text inflated so far */
  struct {
    uint64_t stream;
    uint64_t member;
  } members[DFT__MEMBERS_KNOWN]; /* the latest ones: which member begins at which place of the unit's text */
  uint32_t members_known;

  /* Text: what follows `text_at` was not parsed yet. */
  dft__buffer text;
  size_t text_at;
  uint64_t stream;  /* place of text.bytes[0] in the unit's text */
  uint64_t skipped; /* bytes left out of the line at text_at, because it exceeds the limit anyway */
  /* Bad lines of a damaged member are not reported one by one: from this place of the unit's text on. */
  uint64_t damaged_from;
  int is_input_over; /* the unit has no more text */
  int is_head_open;  /* the unit's first line end was not seen yet */
  int is_broken;     /* the text ends in damage: its last line will not be continued */
  dft__buffer front; /* the unit's first line, joined at a seam */
  dft__buffer joint; /* lines joined at the unit's end */
  size_t joint_at;
  uint64_t joint_byte; /* where in the file its first line begins */
  size_t torn_from;    /* in joint: lines from here on had no end */
  int is_finished;     /* the unit's last line is in joint, or in a seam */
  dft__buffer plain;   /* unescaped texts */

  uint64_t lines, unit_rows, unit_members, unit_text;
  dft__columns columns;
  dft__parser parser;
  dft_rows rows;
};

#endif
