/* cursor.h - one thread's place in the traces. SPDX-License-Identifier: MIT */
#ifndef DFT_READER_CURSOR_H
#define DFT_READER_CURSOR_H

#include "reader_internal.h"

#define DFT__INPUT_BYTES (128u << 10)
#define DFT__TEXT_BYTES (2u << 20) /* text that is gathered before it is parsed */
#define DFT__MEMBERS_KNOWN 32u

/* Bytes with padding of zeros behind them. */
typedef struct dft__buffer {
  char *bytes;
  size_t len;
  size_t capacity;
} dft__buffer;

struct dft_cursor {
  dft_reader *reader;
  dft__walk *walk; /* of the source at hand */
  dft__walk own_walk;
  uint32_t own_source; /* DFT_ALL: takes units of all */
  dft__unit unit;
  int has_unit;

  /* Input: a window of the file. */
  uint8_t *input;
  size_t input_at, input_len;
  uint64_t input_offset; /* in the file, of input[input_at] */
  void *fast_state;
  void *zlib_state;
  int is_in_member;
  int is_live_gzip;      /* of a spool: how its live file is written */
  uint64_t member;       /* where it begins */
  uint64_t member_bytes; /* of text so far */
  struct {
    uint64_t stream;
    uint64_t member;
  } members[DFT__MEMBERS_KNOWN]; /* which member a place of the unit's text is of; the latest ones */
  uint32_t members_known;

  /* Text: what is behind `text_at` was not parsed yet. */
  dft__buffer text;
  size_t text_at;
  uint64_t stream;  /* place of text.bytes[0] in the unit's text */
  uint64_t skipped; /* bytes that were left out of the line at text_at, because it is beyond the limit anyway */
  uint64_t
    damaged_from;    /* lines of a damaged member are not complained about one by one: from here in the unit's text */
  int is_input_over; /* the unit has no more text */
  int is_head_open;  /* the unit's first line end was not met yet */
  int is_broken;     /* the text ends in damage: its last line will not be continued */
  dft__buffer front; /* the unit's first line, put together at a seam */
  dft__buffer joint; /* lines put together at its end */
  size_t joint_at;
  uint64_t joint_byte; /* where in the file its first line begins */
  size_t torn_from;    /* in joint: lines from here on had no end */
  int is_finished;     /* the unit's last line is in joint, or with others */
  dft__buffer plain;

  uint64_t lines, unit_rows, unit_members, unit_text;
  dft__columns columns;
  dft__parser parser;
  dft_rows rows;
};

int dft__buffer_reserve(dft__buffer *buffer, size_t capacity); /* 0: no memory */

/* ---- fill.c ---- */
/* Reads on until there is text to parse, or the unit's is all there. 0: no memory. */
int dft__fill(dft_cursor *cursor);

/* ---- lines.c ---- */
/* Parses the text that is there, until the batch is full. 0: no memory. */
int dft__lines_parse(dft_cursor *cursor);
int dft__lines_parse_joint(dft_cursor *cursor);
/* One line; the row comes from this place of the file, and a bad line is reported as this kind, or not at all for 0. */
int dft__lines_parse_one(dft_cursor *cursor, const char *at, const char *end, uint64_t byte, uint32_t bad_kind);

/* ---- ends.c ---- */
/* What stands before the unit's first line end, up to `end`. 0: no memory. */
int dft__ends_head(dft_cursor *cursor, const char *end);
/* All is parsed but the unit's last line, and lines that other units left at its ends: they go to `joint`. */
int dft__ends_finish(dft_cursor *cursor);
/* Counts what the unit held. */
void dft__ends_close(dft_cursor *cursor);

/* Where in the file a place of the unit's text is: the byte itself, or the beginning of its gzip member. */
uint64_t dft__cursor_place(const dft_cursor *cursor, uint64_t stream);
void dft__cursor_complain(dft_cursor *cursor, uint32_t kind, uint64_t byte, uint64_t line_in_unit, const char *detail,
                          size_t len);

#endif
