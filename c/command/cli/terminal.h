/* terminal.h - output for people: width, colour, readable numbers, wrapped text.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TERMINAL_H
#define DFTRACER_TERMINAL_H

#include <stdint.h>
#include <stdio.h>

/* In columns: the variable COLUMNS if set, else the terminal's width, else 100. */
int terminal_width(FILE *out);
/* In lines; 24 when it is unknown. */
int terminal_height(FILE *out);
/* A terminal that is not dumb, and NO_COLOR is not set. */
int terminal_has_colour(FILE *out);
/* Whether the locale is UTF-8; if not, print ASCII only. */
int terminal_has_unicode(void);

/* Prints words and breaks lines before `width`. The text starts at `column`; further lines start with `indent` spaces. */
void terminal_wrap(FILE *out, const char *text, int column, int indent, int width);

/* The plural ending of a counted word. */
static inline const char *plural(uint64_t count) {
  return count == 1 ? "" : "s";
}

static inline const char *process_word(uint64_t count) {
  return count == 1 ? "process" : "processes";
}

/* Each writes into `out` and returns it. */
#define FORMAT_BYTES 32
const char *format_count(char out[FORMAT_BYTES], uint64_t count);    /* 1,234,567 */
const char *format_bytes(char out[FORMAT_BYTES], double bytes);      /* 12.3 MiB */
const char *format_duration(char out[FORMAT_BYTES], double seconds); /* 1.25 s, 12.5 ms, 3 h 12 min */

#endif
