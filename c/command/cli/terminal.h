/* terminal.h - what the reader's eyes get: width, colour, numbers as people read them, wrapped text.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TERMINAL_H
#define DFTRACER_TERMINAL_H

#include <stdint.h>
#include <stdio.h>

/* Columns: COLUMNS where it is set, else the terminal's, else 100. */
int terminal_width(FILE *out);
/* Lines of the terminal; 24 when that is not known. */
int terminal_height(FILE *out);
/* A terminal that is not dumb, and neither NO_COLOR is set. */
int terminal_has_colour(FILE *out);
/* The locale and the terminal show characters such as U+2588; if not, keep to ASCII. */
int terminal_has_unicode(void);

/* Prints words, breaking lines before `width`; further lines start with `indent` spaces. `column` is where it starts. */
void terminal_wrap(FILE *out, const char *text, int column, int indent, int width);

/* The end of a word that is counted. */
static inline const char *plural(uint64_t count) {
  return count == 1 ? "" : "s";
}

/* Each writes into `out` and returns it. */
#define FORMAT_BYTES 32
const char *format_count(char out[FORMAT_BYTES], uint64_t count);    /* 1,234,567 */
const char *format_bytes(char out[FORMAT_BYTES], double bytes);      /* 12.3 MiB */
const char *format_duration(char out[FORMAT_BYTES], double seconds); /* 1.25 s, 12.5 ms, 3 h 12 min */

#endif
